// `minnow tokens`: ids, pieces, and the way back; pieces that are no UTF-8.
#include "tests/tools/child.hpp"

namespace {

using minnow::test::json_value;
using minnow::test::ModelFile;
using minnow::test::Outcome;
using minnow::test::run_program;

TEST_CASE("tokens: there and back") {
  const ModelFile file;
  Outcome o = run_program({"tokens", file.path, "-p", "a\n\xf0\x9f\x98\x80'"});
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  CHECK(o.out == "     2  'a'\n     0  '\\n'\n     7  '\xf0\x9f\x98\x80'\n     8  '''\n");
  o = run_program({"tokens", file.path, "--json", "-f", "-"}, "a\n\xf0\x9f\x98\x80'");
  CHECK(o.out ==
        "{\"ids\": [2, 0, 7, 8], \"pieces\": [\"a\", \"\\u000a\", \"\xf0\x9f\x98\x80\", \"'\"], \"lossy\": false}\n");
  o = run_program({"tokens", file.path, "--decode", "2 0,7\n8"});
  CHECK(o.out == "a\n\xf0\x9f\x98\x80'");
  o = run_program({"tokens", file.path, "--json", "-p", ""});
  CHECK(o.out == "{\"ids\": [], \"pieces\": [], \"lossy\": false}\n");
}

TEST_CASE("tokens: a piece that is no UTF-8 by itself") {
  minnow::test::HandShape shape = ModelFile::default_shape();
  shape.pieces = {"\xe2\x82", "\xac", "a"};
  const ModelFile file(shape);
  const Outcome o = run_program({"tokens", file.path, "--json", "-p",
                                 "\xe2\x82\xac"
                                 "a"});
  CHECK(json_value(o.out, "ids") == "[0, 1, 2]");
  CHECK(json_value(o.out, "pieces") == "[\"\\ufffd\\ufffd\", \"\\ufffd\", \"a\"]");
  CHECK(json_value(o.out, "lossy") == "true");
  CHECK(run_program({"tokens", file.path, "--decode", "0 1 2"}).out ==
        "\xe2\x82\xac"
        "a");
}

TEST_CASE("tokens: a text without an end") {
  minnow::test::HandShape shape = ModelFile::default_shape();
  shape.pieces = {std::string(1, '\0'), "a", "b"};
  const ModelFile file(shape);
  const Outcome o = run_program({"tokens", file.path, "-f", "/dev/zero"});
  CHECK(o.status == 1);
  CHECK(o.out.empty());
  CHECK(o.one_line_with("over 16777216 tokens"));
}

TEST_CASE("tokens: a text whose tokens do not fit into memory") {
  if (minnow::test::kSanitized) return;
  const ModelFile file;
  const std::string text = file.folder.write("text", std::string(8u << 20, 'a'));
  const Outcome o = run_program({"tokens", file.path, "-f", text}, "", "", 25u << 20);
  CHECK(o.status == 1);
  CHECK(o.out.empty());
  CHECK(o.one_line_with("minnow tokens: " + text + ": out of memory; "));
}

TEST_CASE("tokens: a model without text") {
  const ModelFile file{minnow::test::HandShape()};
  const Outcome o = run_program({"tokens", file.path, "-p", "a"});
  CHECK(o.status == 1);
  CHECK(o.one_line_with("no vocabulary"));
}

}  // namespace
