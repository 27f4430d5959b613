// `minnow bundle`: what it refuses, each in one line and with nothing written; which files are programs.
#include <filesystem>

#include "tests/tools/child.hpp"
#include "tools/bake/carried.hpp"
#include "tools/bake/executable.hpp"

namespace minnow {
namespace {

using minnow::test::ModelFile;
using minnow::test::Outcome;
using minnow::test::run_other;
using minnow::test::run_program;
using minnow::test::TemporaryFolder;

void put(std::uint64_t value, unsigned width, std::size_t at, std::string* bytes) {
  for (unsigned i = 0; i < width; ++i) (*bytes)[at + i] = static_cast<char>(value >> 8 * i & 0xff);
}

// Headers of programs that do nothing, 512 bytes each.
std::string elf(unsigned word, unsigned type, unsigned machine) {
  std::string out(512, '\0');
  out.replace(0, 7,
              std::string("\x7f"
                          "ELF") +
                  static_cast<char>(word / 4) + "\1\1");
  put(type, 2, 16, &out);
  put(machine, 2, 18, &out);
  return out;
}
std::string pe(unsigned machine, unsigned flags) {
  std::string out(512, '\0');
  out.replace(0, 2, "MZ");
  put(128, 4, 0x3c, &out);
  put(0x4550, 4, 128, &out);
  put(machine, 2, 132, &out);
  put(flags, 2, 150, &out);
  return out;
}
std::string macho(std::uint64_t type) {
  std::string out(512, '\0');
  put(0xfeedfacf, 4, 0, &out);
  put(0x0100000c, 4, 4, &out);
  put(type, 4, 12, &out);
  return out;
}

}  // namespace

TEST_CASE("bundle: which files are programs") {
  using Format = bake::Executable::Format;
  const struct {
    std::string bytes;
    Format format;
    const char* description;
  } cases[] = {
      {elf(8, 2, 62), Format::elf, "x86_64 ELF"},
      {elf(8, 3, 183), Format::elf, "aarch64 ELF"},
      {elf(4, 3, 40), Format::elf, "arm ELF"},
      {elf(8, 3, 999), Format::elf, "ELF"},
      {pe(0x8664, 0x22), Format::pe, "x86_64 Windows"},
      {macho(2), Format::macho, "arm64 macOS"},
      {elf(8, 1, 62), Format::none, ""},
      {pe(0x8664, 0x2022), Format::none, ""},
      {pe(0x8664, 0), Format::none, ""},
      {macho(6), Format::none, ""},
      {"", Format::none, ""},
      {"#!/bin/sh\n", Format::none, ""},
  };
  for (const auto& c : cases) {
    const bake::Executable found = bake::describe_executable(c.bytes);
    CHECK(found.format == c.format);
    CHECK(found.description == c.description);
    CHECK_FALSE(found.needs_libraries);
    for (std::size_t bytes = 0; bytes < c.bytes.size(); bytes += 3) {
      static_cast<void>(bake::describe_executable(std::string_view(c.bytes).substr(0, bytes)));
    }
  }
  std::string with_interpreter = elf(8, 3, 62);
  put(64, 8, 32, &with_interpreter);
  put(56, 2, 54, &with_interpreter);
  put(2, 2, 56, &with_interpreter);
  put(3, 4, 64 + 56, &with_interpreter);
  CHECK(bake::describe_executable(with_interpreter).needs_libraries);
  put(0xffff, 2, 56, &with_interpreter);
  put(~std::uint64_t{0} - 8, 8, 32, &with_interpreter);
  CHECK_FALSE(bake::describe_executable(with_interpreter).needs_libraries);
}

TEST_CASE("bundle: a runtime of another machine gets the mark, but for macOS, where it would break the signature") {
  const ModelFile model;
  const std::string mark = bake::own_mark();
  const struct {
    std::string head;
    char state;
  } cases[] = {{elf(8, 3, 183), '1'}, {pe(0x8664, 0x22), '1'}, {macho(2), '0'}};
  for (const auto& c : cases) {
    const std::string runtime = model.folder.write("runtime", c.head + mark + "0" + "the rest");
    const Outcome o = run_program({"bundle", model.path, "-o", model.folder / "app", "--runtime", runtime});
    CHECK(o.status == 0);
    CHECK(o.one_line_with(bake::describe_executable(c.head).description + " program, "));
    const std::string app = model.folder.read("app");
    CHECK(app.substr(0, c.head.size() + mark.size() + 9) == c.head + mark + c.state + "the rest");
    CHECK(bake::has_trailer(std::string_view(app).substr(app.size() - bake::kTrailerBytes)));
    const Outcome twice =
        run_program({"bundle", model.path, "-o", model.folder / "twice", "--runtime", model.folder / "app"});
    CHECK(twice.status == 1);
    CHECK(twice.one_line_with("app: carries a model already"));
  }
}

TEST_CASE("bundle: what is refused leaves nothing") {
  const ModelFile model;
  const TemporaryFolder inputs;
  const std::string& m = model.path;
  const std::string out = model.folder / "app";
  const std::string mark = bake::own_mark();
  const std::string whole(reinterpret_cast<const char*>(model.bytes.data()), model.bytes.size());
  std::string damaged = whole;
  damaged[damaged.size() - 200] = static_cast<char>(damaged[damaged.size() - 200] ^ 16);
  const auto runtime = [&](const char* name, const std::string& bytes) {
    return std::vector<std::string>{"bundle", m, "-o", out, "--runtime", inputs.write(name, bytes)};
  };
  const struct {
    std::vector<std::string> arguments;
    int status;
    const char* text;
  } cases[] = {
      {{"bundle"}, 2, "MODEL is missing"},
      {{"bundle", m}, 2, "-o APP is missing"},
      {{"bundle", m, out}, 2, "one argument too many"},
      {{"bundle", m, "-o", ""}, 2, "-o: found '', expected a file's name"},
      {{"bundle", m, "-o", "-"}, 2, "-o: found '-', expected a file's name"},
      {{"bundle", m, "-o", out, "--runtime", ""}, 2, "--runtime: found ''"},
      {{"bundle", inputs / "none", "-o", out}, 1, "No such file or directory"},
      {{"bundle", inputs.write("text", "words\n"), "-o", out}, 1, "not a model"},
      {{"bundle", inputs.write("damaged", damaged), "-o", out}, 1, "corrupt"},
      {{"bundle", m, "-o", m}, 1, "is the model itself"},
      {{"bundle", m, "-o", MINNOW_PROGRAM}, 1, "is the runtime itself"},
      {{"bundle", m, "-o", MINNOW_PROGRAM, "--runtime", MINNOW_PROGRAM}, 1, "is the runtime itself"},
      {{"bundle", m, "-o", model.folder.path()}, 1, "this is a folder"},
      {{"bundle", m, "-o", "/dev/full"}, 1, "a pipe or a device"},
      {{"bundle", m, "-o", model.folder / "none/app"}, 1, "cannot be created"},
      {{"bundle", m, "-o", out, "--runtime", inputs / "none"}, 1, "none: cannot be opened"},
      {{"bundle", m, "-o", out, "--runtime", inputs.path()}, 1, "a folder; expected a minnow program; make builds one"},
      {{"bundle", m, "-o", out, "--runtime", m}, 1, "this is no program"},
      {{"bundle", m, "-o", out, "--runtime", "/bin/sh"}, 1, "expected one with the text 'minnow program, mark 1'"},
      {runtime("empty", ""), 1, "this is no program"},
      {runtime("script", "#!/bin/sh\n" + mark + "0"), 1, "this is no program"},
      {runtime("object", elf(8, 1, 62) + mark + "0"), 1, "this is no program"},
      {runtime("cut", elf(8, 3, 62) + mark), 1, "is no minnow that can carry a model"},
      {runtime("twice", elf(8, 3, 62) + mark + "0" + mark + "0"), 1, "mark twice"},
      {runtime("large", elf(8, 3, 62)), 1,
       "has 629145600 bytes; expected a minnow program, which has at most 536870912"},
      {runtime("carries", elf(8, 3, 62) + mark + "1"), 1, "carries a model already"},
  };
  std::filesystem::resize_file(inputs.path("large"), 600u << 20);  // with a hole: takes no room
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const Outcome o = run_program(c.arguments);
    CAPTURE(o.err);
    CHECK(o.status == c.status);
    CHECK(o.out.empty());
    CHECK(o.one_line_with(c.text));
    CHECK(model.folder.names() == std::vector<std::string>{"small.minnow"});
  }
  CHECK(model.folder.read("small.minnow") == whole);
  CHECK(run_program({"--version"}).status == 0);
}

TEST_CASE("bundle: the model may have no vocabulary, as with run") {
  test::HandShape shape = ModelFile::default_shape();
  shape.pieces.clear();
  const ModelFile model(shape);
  REQUIRE(run_program({"bundle", model.path, "-o", model.folder / "app"}).status == 0);
  const Outcome o = run_other(model.folder / "app", {"app"});
  CHECK(o.status == 1);
  CHECK(o.one_line_with("app: the model that it carries: the model has no vocabulary; use --ids"));
  CHECK(run_other(model.folder / "app", {"app", "--ids", "-n", "1"}).status == 0);
}

}  // namespace minnow
