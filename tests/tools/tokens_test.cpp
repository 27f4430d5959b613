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

TEST_CASE("tokens: a text of any length needs no more memory than a short one") {
  constexpr std::size_t kLength = 2000000;
  const ModelFile file;
  const std::string text = file.folder.write("text", std::string(kLength - 1, 'a') + "b");
  const rlim_t limit = minnow::test::kSanitized ? 0 : 20u << 20;
  for (const bool json : {false, true}) {
    const std::string shown = file.folder.path("shown");
    std::vector<std::string> arguments = {"tokens", file.path, "-f", text};
    if (json) arguments.push_back("--json");
    Outcome o = run_program(arguments, "", shown, limit);
    CHECK(o.status == 0);
    CHECK(o.err.empty());
    o.out = file.folder.read("shown");
    CHECK(o.out.size() == (json ? 8 * kLength + 38 : 12 * kLength));
    const std::string end = json ? "\"a\", \"b\"], \"lossy\": false}\n" : "     2  'a'\n     3  'b'\n";
    CHECK(o.out.compare(o.out.size() - end.size(), end.size(), end) == 0);
  }
}

TEST_CASE("tokens: nobody reads, or there is no room") {
  const ModelFile file;
  const std::string text = file.folder.write("text", std::string(1000000, 'a'));
  for (const char* form : {"--json=true", "--json=false"}) {
    const Outcome o = run_program({"tokens", file.path, "-f", text, form}, "", "/dev/full");
    CHECK(o.status == 1);
    CHECK(o.one_line_with("minnow: cannot write to stdout: "));
  }
}

TEST_CASE("tokens: an interrupt ends it with status 130") {
  const ModelFile file;
  const std::string text = file.folder.write("text", std::string(1000000, 'a'));
  int pipe_ends[2];
  REQUIRE(pipe2(pipe_ends, O_CLOEXEC) == 0);
  const pid_t child =
      minnow::test::start_program({"tokens", file.path, "-f", text}, STDIN_FILENO, pipe_ends[1], STDERR_FILENO);
  close(pipe_ends[1]);
  char buffer[4096];
  std::size_t shown = 0;
  ssize_t n = 0;
  bool sent = false;
  while ((n = read(pipe_ends[0], buffer, sizeof buffer)) > 0) {
    shown += static_cast<std::size_t>(n);
    if (!sent) sent = kill(child, SIGTERM) == 0;  // most of it does not fit the pipe
  }
  close(pipe_ends[0]);
  CHECK(minnow::test::wait_for(child) == 130);
  CHECK(sent);
  CHECK(shown < 12000000);
}

TEST_CASE("tokens: a model without text") {
  const ModelFile file{minnow::test::HandShape()};
  const Outcome o = run_program({"tokens", file.path, "-p", "a"});
  CHECK(o.status == 1);
  CHECK(o.one_line_with("no vocabulary"));
}

}  // namespace
