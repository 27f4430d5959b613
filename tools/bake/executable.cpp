#include "tools/bake/executable.hpp"

#include <cstdint>

namespace minnow::bake {
namespace {

// Fields of an untrusted file; beyond its end everything is 0.
class Bytes {
 public:
  explicit Bytes(std::string_view file) : file_(file) {}
  std::uint64_t number(std::uint64_t at, unsigned width) const {
    std::uint64_t value = 0;
    if (at > file_.size() || width > file_.size() - at) return 0;
    for (unsigned i = width; i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(file_[static_cast<std::size_t>(at) + i]);
    }
    return value;
  }
  bool begins(std::string_view text) const { return file_.substr(0, text.size()) == text; }

 private:
  std::string_view file_;
};

std::string name_of(std::uint64_t machine, const char* format) {
  const struct {
    std::uint64_t machine;
    const char* name;
  } known[] = {{62, "x86_64"},         {3, "i686"},          {183, "aarch64"}, {40, "arm"},
               {243, "riscv"},         {0x8664, "x86_64"},   {0x14c, "i686"},  {0xaa64, "aarch64"},
               {0x01000007, "x86_64"}, {0x0100000c, "arm64"}};
  for (const auto& each : known) {
    if (machine == each.machine) return std::string(each.name) + " " + format;
  }
  return format;
}

Executable elf(const Bytes& file) {
  Executable out;
  constexpr std::uint64_t kFixed = 2, kMovable = 3;  // ET_EXEC, ET_DYN
  const bool is_64_bit = file.number(4, 1) == 2;
  const bool is_little = file.number(5, 1) == 1;
  const std::uint64_t type = file.number(16, 2);
  if (!is_little || (type != kFixed && type != kMovable)) return out;
  out.format = Executable::Format::elf;
  out.description = name_of(file.number(18, 2), "ELF");
  // A program that names an interpreter is linked dynamically.
  const std::uint64_t at = is_64_bit ? file.number(32, 8) : file.number(28, 4);
  const std::uint64_t entry_bytes = file.number(is_64_bit ? 54 : 42, 2);
  const std::uint64_t count = file.number(is_64_bit ? 56 : 44, 2);
  constexpr std::uint64_t kInterpreter = 3;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (file.number(at + i * entry_bytes, 4) == kInterpreter) out.needs_libraries = true;
  }
  return out;
}

Executable pe(const Bytes& file) {
  Executable out;
  const std::uint64_t at = file.number(0x3c, 4);
  constexpr std::uint64_t kExecutable = 0x0002, kLibrary = 0x2000;
  const std::uint64_t flags = file.number(at + 22, 2);
  if (file.number(at, 4) != 0x4550 || (flags & kExecutable) == 0 || (flags & kLibrary) != 0) return out;
  out.format = Executable::Format::pe;
  out.description = name_of(file.number(at + 4, 2), "Windows");
  return out;
}

Executable macho(const Bytes& file) {
  Executable out;
  if (file.number(12, 4) != 2) return out;  // MH_EXECUTE
  out.format = Executable::Format::macho;
  out.description = name_of(file.number(4, 4), "macOS");
  return out;
}

}  // namespace

Executable describe_executable(std::string_view file) {
  const Bytes bytes(file);
  if (bytes.begins("\x7f"
                   "ELF"))
    return elf(bytes);
  if (bytes.begins("MZ")) return pe(bytes);
  if (bytes.begins("\xcf\xfa\xed\xfe")) return macho(bytes);
  return {};
}

}  // namespace minnow::bake
