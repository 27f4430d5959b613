// `minnow bake`: what it writes, by its own words; what it refuses. Compilers and linkers see it in tests/bake/run.sh.
#include <sys/resource.h>

#include <filesystem>

#include "tests/tools/child.hpp"
#include "tools/bake/baked.hpp"

namespace minnow {
namespace {

using minnow::test::ModelFile;
using minnow::test::Outcome;
using minnow::test::run_program;
using minnow::test::TemporaryFolder;

std::string text_of(const ModelFile& model) {
  return {reinterpret_cast<const char*>(model.bytes.data()), model.bytes.size()};
}

// What a C compiler makes of the string literals in a source file: its octal escapes read back.
std::string literal_of(const std::string& source) {
  std::string out;
  std::size_t at = source.find("+ 1] =\n");
  REQUIRE(at != std::string::npos);
  for (at += 7; source[at] == '"'; at += 2) {
    for (++at; source[at] != '"'; ++at) {
      if (source[at] != '\\') {
        CHECK(source[at] != '?');
        out += source[at];
        continue;
      }
      unsigned value = 0;
      int digits = 0;
      for (; digits < 3 && source[at + 1] >= '0' && source[at + 1] <= '7'; ++digits) {
        value = value * 8 + static_cast<unsigned>(source[++at] - '0');
      }
      CHECK(digits > 0);
      out += static_cast<char>(value);
    }
  }
  CHECK(source[at] == ';');
  return out;
}

std::uint64_t field(const std::string& bytes, std::size_t at, unsigned width) {
  std::uint64_t value = 0;
  for (unsigned i = width; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

}  // namespace

TEST_CASE("bake: C source holds the bytes") {
  const ModelFile model;
  const Outcome o = run_program({"bake", model.path, "--c", model.folder / "out.c"});
  CHECK(o.status == 0);
  CHECK(o.out.empty());
  CHECK(o.one_line_with("out.c: small and small_size, "));
  const std::string source = model.folder.read("out.c");
  CHECK(literal_of(source) == text_of(model));
  CHECK(source.find("const unsigned char small[" + std::to_string(model.bytes.size()) + " + 1] =") !=
        std::string::npos);
  CHECK(source.find("const size_t small_size = " + std::to_string(model.bytes.size()) + ";") != std::string::npos);
  CHECK(source.find("from small.minnow") != std::string::npos);
}

TEST_CASE("bake: every byte, in front of every other, survives C's escapes") {
  std::vector<std::byte> all;
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) all.insert(all.end(), {static_cast<std::byte>(a), static_cast<std::byte>(b)});
  }
  const TemporaryFolder folder;
  bake::BakedModel model;
  model.bytes = {all.data(), all.size()};
  model.name = "m";
  {
    convert::OutputFile out(folder / "m.c");
    bake::write_c(model, &out);
    out.commit();
  }
  CHECK(literal_of(folder.read("m.c")) == std::string(reinterpret_cast<const char*>(all.data()), all.size()));
}

TEST_CASE("bake: an object file of each target holds the bytes on a boundary of 64") {
  const ModelFile model;
  for (const bake::Target& target : bake::targets()) {
    CAPTURE(std::string(target.name));
    const Outcome o =
        run_program({"bake", model.path, "--object", model.folder / "m.o", "--target", target.name, "--name", "abc"});
    CHECK(o.status == 0);
    CHECK(o.one_line_with(target.name));
    const std::string object = model.folder.read("m.o");
    const std::size_t at = object.find(text_of(model));
    REQUIRE(at != std::string::npos);
    CHECK(at % 64 == 0);
    const std::size_t after = (at + model.bytes.size() + 7) / 8 * 8;
    CHECK(field(object, after, target.is_64_bit ? 8 : 4) == model.bytes.size());
    CHECK(object.find(std::string("abc\0", 4)) != std::string::npos);
    CHECK(object.find(std::string("abc_size\0", 9)) != std::string::npos);
    const bool elf = target.format == bake::Target::Format::elf;
    CHECK(elf == (object.find(".note.GNU-stack") != std::string::npos));
    CHECK(elf == (object.substr(0, 4) == "\x7f"
                                         "ELF"));
  }
}

TEST_CASE("bake: an ELF object leaves control-flow protection on where the machine has one") {
  const struct {
    const char* target;
    std::string property;  // GNU_PROPERTY_*_FEATURE_1_AND of four bytes, and all features that need nothing of data
  } cases[] = {{"x86_64-elf", {"\2\0\0\xc0\4\0\0\0\3\0\0\0\0\0\0\0", 16}},
               {"i686-elf", {"\2\0\0\xc0\4\0\0\0\3\0\0\0", 12}},
               {"aarch64-elf", {"\0\0\0\xc0\4\0\0\0\7\0\0\0\0\0\0\0", 16}}};
  const ModelFile model;
  for (const auto& c : cases) {
    CAPTURE(std::string(c.target));
    REQUIRE(run_program({"bake", model.path, "--object", model.folder / "m.o", "--target", c.target}).status == 0);
    const std::string object = model.folder.read("m.o");
    const std::string note = std::string("\4\0\0\0", 4) + static_cast<char>(c.property.size()) +
                             std::string("\0\0\0\5\0\0\0GNU\0", 11) + c.property;
    CHECK(object.find(note) % 8 == 0);
    CHECK(object.find(note) != std::string::npos);
  }
}

TEST_CASE("bake: names") {
  CHECK(bake::identifier_from("shakespeare-char.minnow") == "shakespeare_char");
  CHECK(bake::identifier_from("a.b.c") == "a_b");
  CHECK(bake::identifier_from("noending") == "noending");
  CHECK(bake::identifier_from("124M.minnow") == "model_124M");
  CHECK(bake::identifier_from("int.minnow") == "model_int");
  CHECK(bake::identifier_from("--__x - y__.minnow") == "x_y");
  CHECK(bake::identifier_from(".minnow") == "model");
  CHECK(bake::identifier_from("\xc3\xa9.minnow") == "model");
  for (const char* good : {"a", "gpt2_124M", "Model", "A1"}) CHECK(bake::name_fault(good) == nullptr);
  for (const char* bad : {"", "1a", "a-b", "a b", "_a", "a__b", "a_", "class", "restrict", "main", "\xc3\xa9", "a;"}) {
    CAPTURE(std::string(bad));
    CHECK(bake::name_fault(bad) != nullptr);
  }
  CHECK(bake::name_fault(bake::identifier_from(std::string(255, 'n'))) == nullptr);
  for (const char* taken : {"minnow", "minnow_version", "minnow_mine", "MINNOW_ALIGN", "std", "malloc", "free",
                            "printf", "memcpy", "index", "EOF", "yn"}) {
    CAPTURE(std::string(taken));
    CHECK(bake::name_fault(taken) != nullptr);
    CHECK(bake::identifier_from(std::string(taken) + ".minnow") == "model_" + std::string(taken));
  }
  for (const char* near : {"minnows", "my_minnow", "mallo", "alloc", "printf2"})
    CHECK(bake::name_fault(near) == nullptr);
}

TEST_CASE("bake: what was misused is told in one line, and nothing is written") {
  const ModelFile model;
  const std::string out = model.folder / "out";
  const struct {
    std::vector<std::string> arguments;
    const char* text;
  } cases[] = {
      {{"bake"}, "MODEL is missing"},
      {{"bake", model.path}, "expected one of --c OUT.c and --object OUT.o"},
      {{"bake", model.path, "--c", out, "--object", out}, "expected one of --c OUT.c and --object OUT.o"},
      {{"bake", model.path, "--c", ""}, "--c: found '', expected a file's name"},
      {{"bake", model.path, "--object=-"}, "--object: found '-', expected a file's name"},
      {{"bake", model.path, "-c", out}, "unknown option '-c'"},
      {{"bake", model.path, "--c", out, "--name", "a b"}, "--name: found 'a b', expected a name"},
      {{"bake", model.path, "--c", out, "--name", ""}, "--name: found ''"},
      {{"bake", model.path, "--c", out, "--name", "int"}, "--name: found 'int', which C or C++ keeps"},
      {{"bake", model.path, "--c", out, "--name", "minnow_x"},
       "which is for the names of minnow's library; expected "
       "another name, such as model_minnow_x"},
      {{"bake", model.path, "--c", out, "--name", "malloc"},
       "which the C library has already; expected another name, "
       "such as model_malloc"},
      {{"bake", model.path, "--c", out, "--target", "arm-elf"}, "--target: C source is for every machine"},
      {{"bake", model.path, "--object", out, "--target", "vax"}, "expected one of x86_64-elf, i686-elf"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const Outcome o = run_program(c.arguments);
    CAPTURE(o.err);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK(o.one_line_with(c.text));
    CHECK(model.folder.names() == std::vector<std::string>{"small.minnow"});
  }
}

TEST_CASE("bake: a model that is none, or damaged anywhere, is refused") {
  const ModelFile model;
  const std::string whole = text_of(model);
  const auto damaged_at = [&](std::size_t at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 16);
    return bytes;
  };
  const struct {
    std::string bytes;
    const char* text;
  } cases[] = {{"", "the file is empty"},
               {"words\n", "not a model"},
               {whole.substr(0, whole.size() - 1), "corrupt"},
               {damaged_at(110), "corrupt"},
               {damaged_at(whole.size() - 200), "corrupt"}};
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const TemporaryFolder folder;
    for (const char* form : {"--c", "--object"}) {
      const Outcome o = run_program({"bake", folder.write("m", c.bytes), form, folder / "out"});
      CAPTURE(o.err);
      CHECK(o.status == 1);
      CHECK(o.one_line_with(c.text));
      CHECK(folder.names() == std::vector<std::string>{"m"});
    }
  }
  CHECK(run_program({"bake", model.folder / "none", "--c", model.folder / "out"}).one_line_with("No such file"));
}

TEST_CASE("bake: places where nothing can be written") {
  const ModelFile model;
  const std::string before = text_of(model);
  std::filesystem::create_symlink("small.minnow", model.folder / "link");
  for (const std::string& out : {model.path, model.folder / "link", model.folder.path() + "/./small.minnow"}) {
    const Outcome o = run_program({"bake", model.path, "--object", out});
    CHECK(o.status == 1);
    CHECK(o.one_line_with("is the model itself"));
  }
  CHECK(model.folder.read("small.minnow") == before);
  std::filesystem::remove(model.folder / "link");
  CHECK(run_program({"bake", model.path, "--c", model.folder.path()}).one_line_with("this is a folder"));
  CHECK(run_program({"bake", model.path, "--c", "/dev/full"}).one_line_with("a pipe or a device"));
  CHECK(run_program({"bake", model.path, "--c", model.folder / "none/out"}).one_line_with("cannot be created"));
  CHECK(model.folder.names() == std::vector<std::string>{"small.minnow"});
}

TEST_CASE("bake: what was there is replaced") {
  const ModelFile model;
  model.folder.write("out.c", "old");
  CHECK(run_program({"bake", model.path, "--c", model.folder / "out.c"}).status == 0);
  CHECK(literal_of(model.folder.read("out.c")) == text_of(model));
}

}  // namespace minnow
