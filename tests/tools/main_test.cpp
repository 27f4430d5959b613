// The program as a whole: help, versions, misuse, and files that are no models. Each error is one line.
#include "tests/tools/child.hpp"

namespace {

using minnow::test::ModelFile;
using minnow::test::Outcome;
using minnow::test::run_program;
using minnow::test::TemporaryFolder;

TEST_CASE("program: help and version") {
  Outcome o = run_program({"--version"});
  CHECK(o.status == 0);
  CHECK(o.out == std::string("minnow ") + minnow::version() + "\n");
  o = run_program({"--help"});
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  for (const char* command : {"run", "convert", "info", "eval", "tokens", "plan", "bake", "bundle"}) {
    CHECK(o.out.find(std::string("\n  ") + command + " ") != std::string::npos);
    const Outcome help = run_program({command, "--help"});
    CHECK(help.status == 0);
    const Outcome version = run_program({command, "--version"});
    CHECK(version.status == 0);
    CHECK(version.out == std::string("minnow ") + minnow::version() + "\n");
    CHECK(help.err.empty());
    CHECK(help.out.find(std::string("usage: minnow ") + command) == 0);
  }
  o = run_program({});
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK(o.err.find("usage: minnow") == 0);
}

TEST_CASE("program: help has a column for what options do, and tells their other names") {
  const std::string run = run_program({"run", "--help"}).out;
  for (const char* line :
       {"\n  -n N                   tokens to write (256); also --max_new_tokens\n", "; also --temperature\n",
        "; also --top_k\n", "; also --num_samples\n", "\n  --start TEXT           the prompt, or FILE:NAME "}) {
    CHECK(run.find(line) != std::string::npos);
  }
  const std::string convert = run_program({"convert", "--help"}).out;
  CHECK(convert.find("\n  --calibrate FILE|auto|self|none\n                         of q4: a text") !=
        std::string::npos);
  for (const std::string& help : {run, convert}) {
    for (std::size_t begin = 0; begin < help.size(); begin = help.find('\n', begin) + 1) {
      CHECK(help.find('\n', begin) - begin <= 120);
    }
  }
}

TEST_CASE("program: misuse") {
  const ModelFile model;
  const struct {
    std::vector<std::string> arguments;
    const char* text;
  } cases[] = {
      {{"rnu"}, "did you mean run?"},
      {{"frobnicate"}, "unknown command 'frobnicate'"},
      {{"\x1b[2J"}, "unknown command '\\x1b[2J'"},
      {{"run"}, "MODEL is missing"},
      {{"run", model.path, "--ids", "--stop", "a"}, "found --ids and --stop"},
      {{"plan", model.path, "--n-layer", "12"}, "found a MODEL and options of a shape"},
      {{"plan", model.path, "--type", "q8"}, "found a MODEL and options of a shape"},
      {{"run", model.path, "--start", "a", "-p", "b"}, "more than one prompt"},
      {{"run", model.path, "--tmep", "1"}, "did you mean --temp?"},
      {{"run", model.path, "-n", "abc"}, "-n: found 'abc', expected a whole number, 0 to 4294967295"},
      {{"run", model.path, "-n", "99999999999"}, "found '99999999999'"},
      {{"run", model.path, "-n", "-5"}, "found '-5'"},
      {{"run", model.path, "-n"}, "-n needs a value"},
      {{"run", model.path, "--temp", "-1"}, "--temp: found '-1'"},
      {{"run", model.path, "--temp", "nan"}, "--temp: found 'nan'"},
      {{"run", model.path, "--temp", "0,8"}, "--temp: found '0,8'"},
      {{"run", model.path, "--top-p", "0"}, "above 0"},
      {{"run", model.path, "--top-p", "1.1"}, "--top-p: found '1.1'"},
      {{"run", model.path, "--threads", "0"}, "--threads: found '0', expected a whole number, 1 to 256"},
      {{"run", model.path, "--samples", "0"}, "--samples: found '0'"},
      {{"run", model.path, "--ctx", "17"}, "--ctx: found 17, expected 1 to 16"},
      {{"run", model.path, "--when-full", "never"}, "expected one of half, slide, ring, stop"},
      {{"run", model.path, "-p", "a", "-f", "b"}, "more than one prompt"},
      {{"run", model.path, "a prompt"}, "one argument too many"},
      {{"run", model.path, "\x1b[2J"}, "\\x1b[2J"},
      {{"run", model.path, "--ids", "-p", "1 11"}, "found '11', expected whole numbers from 0 to 10"},
      {{"tokens", model.path}, "expected one of -p TEXT, -f FILE and --decode IDS"},
      {{"tokens", model.path, "--decode", "1 -2"}, "found '-2'"},
      {{"eval", model.path}, "expected one of --text FILE and --ids FILE"},
      {{"info", model.path, "--loud"}, "unknown option '--loud'"},
      {{"plan", "--n-head", "7"}, "no multiple of n-head 7"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const Outcome o = run_program(c.arguments);
    CAPTURE(o.err);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK(o.one_line_with(c.text));
  }
}

TEST_CASE("program: files that are no models fail with one line") {
  const ModelFile model;
  const TemporaryFolder folder;
  const std::string whole(reinterpret_cast<const char*>(model.bytes.data()), model.bytes.size());
  std::string damaged = whole;
  damaged[110] = static_cast<char>(damaged[110] ^ 1);
  const struct {
    std::string path;
    const char* text;
  } cases[] = {
      {folder.path("none"), "No such file or directory"},
      {folder.path(""), "it is a directory"},
      {"/dev/zero", "no regular file"},
      {folder.write("empty", ""), "the file is empty"},
      {folder.write("zip", "PK\x03\x04 and so on"), "minnow convert"},
      {folder.write("gguf", std::string("GGUF\x03\0\0\0", 8)), "GGUF"},
      {folder.write("text", "just some words\n"), "not a model"},
      {folder.write("cut", whole.substr(0, whole.size() - 1)), "cut"},
      {folder.write("damaged", damaged), "damaged: corrupt"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.path);
    for (const std::vector<std::string>& rest : std::vector<std::vector<std::string>>{{}, {"-n", "1"}}) {
      std::vector<std::string> arguments = {rest.empty() ? "info" : "run", c.path};
      arguments.insert(arguments.end(), rest.begin(), rest.end());
      const Outcome o = run_program(arguments);
      CAPTURE(o.err);
      CHECK(o.status == 1);
      CHECK(o.out.empty());
      CHECK(o.one_line_with(c.text));
    }
  }
}

TEST_CASE("program: options that this machine or model does not have") {
  const ModelFile model;
#if defined(__aarch64__)
  const char* const absent = "avx2";
#else
  const char* const absent = "neon";
#endif
  Outcome o = run_program({"run", model.path, "--isa", absent});
  CHECK(o.status == 1);
  CHECK(o.one_line_with("present: reference"));
  o = run_program({"run", model.path, "--when-full", "ring"});
  CHECK(o.status == 1);
  CHECK(o.one_line_with("does not reuse old keys"));
  o = run_program({"info", model.path, "--kv", "q8"});
  CHECK(o.status == 1);
  CHECK(o.one_line_with("--kv q8"));
}

TEST_CASE("program: a full disk is an error of every command") {
  const ModelFile model;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--help"}, {"--version"}, {"info", model.path}, {"tokens", model.path, "-p", "a"}, {"run", model.path}}) {
    const Outcome o = run_program(arguments, "", "/dev/full");
    CAPTURE(arguments[0]);
    CHECK(o.status == 1);
    CHECK(o.one_line_with("cannot write to stdout: No space left on device"));
  }
}

}  // namespace
