// A model as a relocatable object file, written field by field, so that no assembler or linker of the target is needed.
// ELF: System V gABI; COFF: Microsoft's PE format; Mach-O: Apple's loader.h.
#include <vector>

#include "tools/bake/baked.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::bake {
namespace {

using convert::ByteSink;

constexpr std::size_t kPiece = std::size_t{1} << 20;  // so many bytes are written at once
constexpr unsigned kAlignPower = 6;
static_assert(kAlign == 1u << kAlignPower);

std::uint64_t align_up(std::uint64_t n, std::uint64_t to) { return (n + to - 1) / to * to; }

// Little-endian fields, appended.
class Fields {
 public:
  Fields& number(std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> 8 * i & 0xff);
    return *this;
  }
  Fields& u8(std::uint64_t value) { return number(value, 1); }
  Fields& u16(std::uint64_t value) { return number(value, 2); }
  Fields& u32(std::uint64_t value) { return number(value, 4); }
  Fields& u64(std::uint64_t value) { return number(value, 8); }
  // `width` bytes of it, zeros behind it.
  Fields& text(std::string_view text, std::size_t width) {
    bytes_ += text;
    return zeros(width - text.size());
  }
  Fields& zeros(std::size_t count) {
    bytes_.append(count, '\0');
    return *this;
  }
  Fields& pad_to(std::size_t size) { return zeros(size - bytes_.size()); }
  std::size_t size() const { return bytes_.size(); }
  void write(ByteSink* out) const { out->append(bytes_.data(), bytes_.size()); }

 private:
  std::string bytes_;
};

// The one section that matters: the model, and behind it NAME_size.
struct Contents {
  explicit Contents(const BakedModel& model, bool is_64_bit)
      : size_bytes(is_64_bit ? 8 : 4), size_at(align_up(model.bytes.size(), 8)), bytes(size_at + size_bytes) {}

  unsigned size_bytes;
  std::uint64_t size_at;
  std::uint64_t bytes;
};

void write_contents(const BakedModel& model, const Contents& contents, ByteSink* out) {
  for (std::size_t at = 0; at < model.bytes.size(); at += kPiece) {
    const std::size_t left = model.bytes.size() - at;
    out->append(model.bytes.data() + at, left < kPiece ? left : kPiece);
  }
  Fields end;
  end.zeros(static_cast<std::size_t>(contents.size_at - model.bytes.size()));
  end.number(model.bytes.size(), contents.size_bytes).write(out);
}

void require_at_most(std::uint64_t bytes, std::uint64_t limit, const Target& target) {
  if (bytes <= limit) return;
  convert::refuse("a model of ", bytes, " bytes does not fit an object file for ", target.name, "; expected at most ",
                  limit, "; load it from a file");
}

// ---- ELF ----

// Section names, each at a known place of .shstrtab.
constexpr char kNames[] = "\0.rodata\0.note.GNU-stack\0.symtab\0.strtab\0.note.gnu.property\0.shstrtab";
constexpr std::string_view kSectionNames(kNames, sizeof kNames);

// Control-flow protections that code must be compiled for: the linker leaves them on in a program only if each of its
// objects says that it is. Where no code is, that is true of all of them.
struct Protections {
  std::uint32_t property;  // GNU_PROPERTY_*_FEATURE_1_AND; 0: the machine has none
  std::uint32_t features;
};

Protections protections_of(std::uint32_t machine) {
  constexpr std::uint32_t kX86 = 62, kX86_32 = 3, kAarch64 = 183;
  if (machine == kX86 || machine == kX86_32) return {0xc0000002, 1 | 2};  // IBT, SHSTK
  if (machine == kAarch64) return {0xc0000000, 1 | 2 | 4};                // BTI, PAC, GCS
  return {0, 0};
}

struct Section {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint32_t align = 0;
  std::uint32_t entry_bytes = 0;
};

class ElfWriter {
 public:
  ElfWriter(const BakedModel& model, const Target& target)
      : model_(model), target_(target), word_(target.is_64_bit ? 8 : 4), contents_(model, target.is_64_bit) {}

  void write(ByteSink* out) {
    if (!target_.is_64_bit) require_at_most(contents_.bytes, 0x7fffffff, target_);
    const std::uint64_t rodata_at = kAlign;
    Fields symbols, strings, section_names;
    const Fields properties = property_note();
    add_symbols(&symbols, &strings);
    section_names.text(kSectionNames, kSectionNames.size());

    const std::uint64_t properties_at = align_up(rodata_at + contents_.bytes, 8);
    const std::uint64_t symbols_at = align_up(properties_at + properties.size(), 8);
    const std::uint64_t strings_at = symbols_at + symbols.size();
    const std::uint64_t names_at = strings_at + strings.size();
    const std::uint64_t sections_at = align_up(names_at + section_names.size(), 8);
    const std::uint32_t symbol_bytes = target_.is_64_bit ? 24 : 16;
    std::vector<Section> sections = {
        {},
        {".rodata", kProgbits, kAllocated, rodata_at, contents_.bytes, 0, 0, kAlign, 0},
        {".note.GNU-stack", kProgbits, 0, symbols_at, 0, 0, 0, 1, 0},
        {".symtab", kSymbolTable, 0, symbols_at, symbols.size(), 4, 1, 8, symbol_bytes},
        {".strtab", kStringTable, 0, strings_at, strings.size(), 0, 0, 1, 0},
    };
    if (properties.size() != 0) {
      sections.push_back({".note.gnu.property", kNote, kAllocated, properties_at, properties.size(), 0, 0, word_, 0});
    }
    sections.push_back({".shstrtab", kStringTable, 0, names_at, section_names.size(), 0, 0, 1, 0});

    header(sections_at, sections.size()).pad_to(kAlign).write(out);
    write_contents(model_, contents_, out);
    Fields().zeros(static_cast<std::size_t>(properties_at - rodata_at - contents_.bytes)).write(out);
    properties.write(out);
    Fields().zeros(static_cast<std::size_t>(symbols_at - properties_at - properties.size())).write(out);
    symbols.write(out);
    strings.write(out);
    section_names.write(out);
    Fields table;
    table.zeros(static_cast<std::size_t>(sections_at - names_at - section_names.size()));
    for (const Section& section : sections) add_section(section, &table);
    table.write(out);
  }

 private:
  static constexpr std::uint32_t kProgbits = 1, kSymbolTable = 2, kStringTable = 3, kNote = 7;  // sh_type
  static constexpr std::uint32_t kAllocated = 2;                                                // SHF_ALLOC
  static constexpr std::uint32_t kGlobalObject = 1 << 4 | 1;  // STB_GLOBAL, STT_OBJECT

  Fields header(std::uint64_t sections_at, std::size_t section_count) const {
    Fields out;
    out.text(
           "\x7f"
           "ELF",
           4)
        .u8(target_.is_64_bit ? 2 : 1)
        .u8(1)
        .u8(1)
        .zeros(9);                           // little-endian, version 1, no ABI
    out.u16(1).u16(target_.machine).u32(1);  // relocatable
    out.number(0, word_).number(0, word_).number(sections_at, word_);
    out.u32(target_.flags).u16(target_.is_64_bit ? 64 : 52).u16(0).u16(0);
    out.u16(target_.is_64_bit ? 64 : 40).u16(section_count).u16(section_count - 1);
    return out;
  }

  // A note of the type NT_GNU_PROPERTY_TYPE_0 with one property; empty: none for this machine.
  Fields property_note() const {
    constexpr std::uint32_t kType = 5, kPropertyHead = 8, kFeatureBytes = 4;
    const Protections protections = protections_of(target_.machine);
    Fields out;
    if (protections.property == 0) return out;
    const std::uint64_t description_bytes = align_up(kPropertyHead + kFeatureBytes, word_);
    out.u32(4).u32(description_bytes).u32(kType).text("GNU", 4);
    const std::size_t at = out.size();
    out.u32(protections.property).u32(kFeatureBytes).u32(protections.features);
    out.pad_to(at + static_cast<std::size_t>(description_bytes));
    return out;
  }

  void add_symbols(Fields* symbols, Fields* strings) const {
    strings->u8(0);
    add_symbol(0, 0, 0, 0, 0, symbols);
    add_symbol(strings->size(), 0, model_.bytes.size(), kGlobalObject, 1, symbols);
    strings->text(model_.name, model_.name.size() + 1);
    add_symbol(strings->size(), contents_.size_at, word_, kGlobalObject, 1, symbols);
    strings->text(model_.name + "_size", model_.name.size() + 6);
  }

  void add_symbol(std::uint64_t name, std::uint64_t value, std::uint64_t bytes, std::uint32_t info,
                  std::uint32_t section, Fields* out) const {
    if (target_.is_64_bit) {
      out->u32(name).u8(info).u8(0).u16(section).u64(value).u64(bytes);
    } else {
      out->u32(name).u32(value).u32(bytes).u8(info).u8(0).u16(section);
    }
  }

  void add_section(const Section& s, Fields* out) const {
    const std::string named = std::string(s.name) + '\0';
    out->u32(s.name.empty() ? 0 : kSectionNames.find(named)).u32(s.type);
    out->number(s.flags, word_).number(0, word_).number(s.offset, word_).number(s.bytes, word_);
    out->u32(s.link).u32(s.info).number(s.align, word_).number(s.entry_bytes, word_);
  }

  const BakedModel& model_;
  const Target& target_;
  unsigned word_;
  Contents contents_;
};

// ---- COFF ----

void write_coff(const BakedModel& model, const Target& target, ByteSink* out) {
  constexpr std::uint32_t kHeaders = 128;  // 20 of the file, 40 of the section, and zeros
  constexpr std::uint32_t kReadOnlyData = 0x40000040, kAligned = (kAlignPower + 1) << 20;
  const Contents contents(model, target.is_64_bit);
  require_at_most(contents.bytes, 0xffffffff - 2 * kHeaders, target);
  const bool is_x86_32 = !target.is_64_bit;
  const std::string underscore = is_x86_32 ? "_" : "";
  const std::string names[] = {underscore + model.name, underscore + model.name + "_size"};
  const std::uint64_t values[] = {0, contents.size_at};

  Fields symbols, strings;
  std::uint64_t string_bytes = 4;
  for (unsigned i = 0; i < 2; ++i) {
    // A name in the table of strings, section 1, no type, external.
    symbols.u32(0).u32(string_bytes).u32(values[i]).u16(1).u16(0).u8(2).u8(0);
    strings.text(names[i], names[i].size() + 1);
    string_bytes += names[i].size() + 1;
  }
  // Nothing here handles exceptions: what linkers want to read on 32 bits.
  if (is_x86_32) symbols.text("@feat.00", 8).u32(1).u16(0xffff).u16(0).u8(3).u8(0);
  Fields head;
  head.u16(target.machine).u16(1).u32(0).u32(kHeaders + contents.bytes).u32(is_x86_32 ? 3 : 2).u16(0).u16(0);
  head.text(".rdata", 8).u32(0).u32(0).u32(contents.bytes).u32(kHeaders).u32(0).u32(0).u16(0).u16(0);
  head.u32(kReadOnlyData | kAligned).pad_to(kHeaders).write(out);
  write_contents(model, contents, out);
  symbols.u32(string_bytes).write(out);
  strings.write(out);
}

// ---- Mach-O ----

void write_macho(const BakedModel& model, const Target& target, ByteSink* out) {
  constexpr std::uint32_t kHeaders = 320;  // 32 of the file, 152, 24 and 24 of the commands, and zeros
  constexpr std::uint32_t kArm64 = 0x0100000c;
  const Contents contents(model, true);
  require_at_most(contents.bytes, 0x7fffffff, target);
  const std::uint64_t symbols_at = kHeaders + contents.bytes;
  const std::string names[] = {"_" + model.name, "_" + model.name + "_size"};

  Fields symbols, strings;
  strings.u8(0);
  for (unsigned i = 0; i < 2; ++i) {
    symbols.u32(strings.size()).u8(0x0f).u8(1).u16(0).u64(i == 0 ? 0 : contents.size_at);  // defined, external
    strings.text(names[i], names[i].size() + 1);
  }
  Fields head;
  head.u32(0xfeedfacf).u32(target.machine).u32(target.flags).u32(1).u32(3).u32(152 + 24 + 24).u32(0).u32(0);
  head.u32(0x19).u32(152).text("", 16).u64(0).u64(contents.bytes).u64(kHeaders).u64(contents.bytes);  // LC_SEGMENT_64
  head.u32(7).u32(7).u32(1).u32(0);
  head.text("__const", 16).text("__TEXT", 16).u64(0).u64(contents.bytes).u32(kHeaders).u32(kAlignPower);
  head.u32(0).u32(0).u32(0).u32(0).u32(0).u32(0);
  head.u32(0x32).u32(24).u32(1).u32(target.machine == kArm64 ? 0x000b0000 : 0x000a0d00);  // LC_BUILD_VERSION: macOS
  head.u32(0).u32(0);
  head.u32(0x2).u32(24).u32(symbols_at).u32(2).u32(symbols_at + symbols.size()).u32(strings.size());  // LC_SYMTAB
  head.pad_to(kHeaders).write(out);
  write_contents(model, contents, out);
  symbols.write(out);
  strings.write(out);
}

const Target* find_target(std::string_view name) {
  for (const Target& target : targets()) {
    if (name == target.name) return &target;
  }
  return nullptr;
}

}  // namespace

const std::vector<Target>& targets() {
  using Format = Target::Format;
  static const std::vector<Target> all = {
      {"x86_64-elf", Format::elf, true, 62, 0},
      {"i686-elf", Format::elf, false, 3, 0},
      {"aarch64-elf", Format::elf, true, 183, 0},
      {"arm-elf", Format::elf, false, 40, 0x05000000},  // EABI version 5
      {"riscv64-elf", Format::elf, true, 243, 4},       // floats in double registers, as on Linux
      {"riscv32-elf", Format::elf, false, 243, 0},      // no such registers
      {"x86_64-coff", Format::coff, true, 0x8664, 0},
      {"i686-coff", Format::coff, false, 0x14c, 0},
      {"aarch64-coff", Format::coff, true, 0xaa64, 0},
      {"x86_64-macho", Format::macho, true, 0x01000007, 3},
      {"arm64-macho", Format::macho, true, 0x0100000c, 0},
  };
  return all;
}

const Target* own_target() {
#if defined(__APPLE__)
  constexpr const char* kFormat = "macho";
#elif defined(_WIN32)
  constexpr const char* kFormat = "coff";
#else
  constexpr const char* kFormat = "elf";
#endif
#if defined(__x86_64__)
  constexpr const char* kMachine = "x86_64";
#elif defined(__i386__)
  constexpr const char* kMachine = "i686";
#elif defined(__aarch64__) && defined(__APPLE__)
  constexpr const char* kMachine = "arm64";
#elif defined(__aarch64__)
  constexpr const char* kMachine = "aarch64";
#elif defined(__arm__)
  constexpr const char* kMachine = "arm";
#elif defined(__riscv) && __riscv_xlen == 64
  constexpr const char* kMachine = "riscv64";
#else
  constexpr const char* kMachine = "";
#endif
  return find_target(convert::concat(kMachine, "-", kFormat));
}

void write_object(const BakedModel& model, const Target& target, ByteSink* out) {
  switch (target.format) {
    case Target::Format::elf:
      ElfWriter(model, target).write(out);
      break;
    case Target::Format::coff:
      write_coff(model, target, out);
      break;
    case Target::Format::macho:
      write_macho(model, target, out);
      break;
  }
}

}  // namespace minnow::bake
