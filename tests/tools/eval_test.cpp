// `minnow eval`: the loss worked out from the library's logits with libm, windows, --logits, and bad files.
#include <cmath>

#include "tests/tools/child.hpp"

namespace minnow {
namespace {

using minnow::test::json_value;
using minnow::test::ModelFile;
using minnow::test::Outcome;
using minnow::test::program_runs;
using minnow::test::run_program;

std::string as_ids(const std::vector<Token>& tokens) {
  std::string bytes;
  for (const Token token : tokens) {
    bytes += static_cast<char>(token & 255);
    bytes += static_cast<char>(token >> 8);
  }
  return bytes;
}

double number(const std::string& json, const char* key) { return std::strtod(json_value(json, key).c_str(), nullptr); }

}  // namespace

TEST_CASE("eval: whole windows, every position scored, the tail dropped") {
  if (!program_runs()) return;
  const ModelFile file;
  const std::vector<Token> tokens = minnow::test::some_tokens(16 * 3 + 9, 11);
  const std::string ids = file.folder.write("val.bin", as_ids(tokens));

  const Model model = minnow::test::open_model(file.bytes);
  minnow::test::Rig rig(model, {});
  double sum = 0;
  std::vector<float> first;
  for (std::size_t w = 0; w < 3; ++w) {
    rig.session.reset();
    const std::vector<Token> window(tokens.begin() + static_cast<std::ptrdiff_t>(16 * w),
                                    tokens.begin() + static_cast<std::ptrdiff_t>(16 * w + 16));
    const std::vector<float> logits = minnow::test::all_logits(rig.session, window, 16);
    if (w == 0) first = logits;
    for (std::size_t i = 0; i < 16; ++i) {
      double total = 0;
      for (std::size_t v = 0; v < 11; ++v) total += std::exp(static_cast<double>(logits[i * 11 + v]));
      const auto target = static_cast<std::size_t>(tokens[16 * w + i + 1]);
      sum += std::log(total) - static_cast<double>(logits[i * 11 + target]);
    }
  }

  const std::string logits_path = file.folder.path("logits.f32");
  Outcome o = run_program({"eval", file.path, "--ids", ids, "--json", "--logits", logits_path});
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  CHECK(number(o.out, "loss") == doctest::Approx(sum / 48).epsilon(1e-6));
  CHECK(number(o.out, "perplexity") == doctest::Approx(std::exp(number(o.out, "loss"))).epsilon(1e-12));
  CHECK(json_value(o.out, "tokens") == "48");
  CHECK(json_value(o.out, "windows") == "3");
  CHECK(json_value(o.out, "window") == "16");
  CHECK(minnow::test::same_bits(minnow::test::load_array<float>(logits_path), first));

  const std::string whole = o.out;
  o = run_program({"eval", file.path, "--ids", ids, "--json", "--batch", "5", "--isa", "reference"});
  CHECK(o.out == whole);  // to the last digit
  o = run_program({"eval", file.path, "--ids", ids, "--json", "--windows", "1"});
  CHECK(json_value(o.out, "windows") == "1");
  o = run_program({"eval", file.path, "--ids", ids, "--json", "--windows", "100"});
  CHECK(o.out == whole);
  o = run_program({"eval", file.path, "--ids", ids});
  CHECK(o.out.find("48 in 3 windows of 16") != std::string::npos);
}

TEST_CASE("eval: a text gives what its ids give") {
  if (!program_runs()) return;
  const ModelFile file;
  const std::vector<Token> tokens = minnow::test::some_tokens(40, 9);
  std::string text;
  for (const Token token : tokens) text += file.shape.pieces[static_cast<std::size_t>(token)];
  const std::string ids = file.folder.write("val.bin", as_ids(tokens));
  const std::string text_path = file.folder.write("val.txt", text);
  const Outcome o = run_program({"eval", file.path, "--text", text_path, "--json"});
  CHECK(o.status == 0);
  CHECK(o.out == run_program({"eval", file.path, "--ids", ids, "--json"}).out);
  CHECK(o.out == run_program({"eval", file.path, "--text", "-", "--json"}, text).out);
}

TEST_CASE("eval: one line for what cannot be measured") {
  if (!program_runs()) return;
  const ModelFile file;
  const auto ids = [&](const char* name, const std::string& bytes) { return file.folder.write(name, bytes); };
  const struct {
    std::vector<std::string> arguments;
    int status;
    const char* text;
  } cases[] = {
      {{"--ids", ids("short", as_ids(std::vector<Token>(16, 1)))}, 1, "found 16 tokens, expected at least 17"},
      {{"--ids", ids("empty", "")}, 1, "found 0 tokens"},
      {{"--ids", ids("odd", std::string(35, '\0'))}, 1, "35 bytes, expected an even number"},
      {{"--ids", ids("large", as_ids(std::vector<Token>(20, 11)))}, 1, "id 11 at byte 0, expected ids below 11"},
      {{"--ids", file.folder.path("none")}, 1, "No such file"},
      {{"--ids", ids("good", as_ids(std::vector<Token>(20, 1))), "--logits", file.folder.path("no/where")},
       1,
       "no/where"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    std::vector<std::string> arguments = {"eval", file.path, "--json"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    const Outcome o = run_program(arguments);
    CAPTURE(o.err);
    CHECK(o.status == c.status);
    CHECK(o.out.empty());
    CHECK(o.one_line_with(c.text));
  }
  const Outcome o = run_program({"eval", file.path, "--text", file.folder.write("text", "abZ")});
  CHECK(o.status == 2);
  CHECK(o.err.find("'Z' (U+005A) at character 3") != std::string::npos);
}

}  // namespace minnow
