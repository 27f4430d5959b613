// `minnow eval`: the loss worked out from the library's logits with libm, windows, --logits, and bad files.
#include <sys/stat.h>

#include <cmath>

#include "tests/tools/child.hpp"

namespace minnow {
namespace {

using minnow::test::json_value;
using minnow::test::ModelFile;
using minnow::test::Outcome;
using minnow::test::run_program;

std::string as_ids(const std::vector<Token>& tokens) {
  std::string bytes;
  for (const Token token : tokens) {
    bytes += static_cast<char>(token & 255);
    bytes += static_cast<char>(token >> 8);
  }
  return bytes;
}

// Signals, and again after two seconds if the program missed the first, between its look at the flag and its read. A
// second signal that comes while it is ending kills it.
int status_after(pid_t child, int signal_number) {
  int status = 0;
  for (int waits = 0; waitpid(child, &status, WNOHANG) == 0; ++waits) {
    if (waits % 200 == 0) kill(child, signal_number);
    usleep(10000);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

double number(const std::string& json, const char* key) { return std::strtod(json_value(json, key).c_str(), nullptr); }

}  // namespace

TEST_CASE("eval: whole windows, every position scored, the tail dropped") {
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

TEST_CASE("eval: --logits never replaces what is read, by whatever name") {
  const ModelFile file;
  const std::string text = file.folder.write("val.txt", std::string(20, 'a'));
  const std::string bytes = as_ids(std::vector<Token>(20, 1));
  const std::string ids = file.folder.write("val.bin", bytes);
  const std::string link = file.folder.path("link");
  REQUIRE(symlink(ids.c_str(), link.c_str()) == 0);
  const std::string hard = file.folder.path("hard");
  REQUIRE(::link(file.path.c_str(), hard.c_str()) == 0);
  const std::vector<std::string> cases[] = {
      {"--ids", ids, "--logits", ids},         {"--ids", link, "--logits", ids}, {"--ids", ids, "--logits", link},
      {"--ids", ids, "--logits", file.path},   {"--ids", ids, "--logits", hard}, {"--text", text, "--logits", text},
      {"--text", text, "--logits", file.path},
  };
  const std::string model = file.folder.read("small.minnow");
  for (const std::vector<std::string>& more : cases) {
    std::vector<std::string> arguments = {"eval", file.path};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome o = run_program(arguments);
    CAPTURE(more[3]);
    CHECK(o.status == 2);
    CHECK(o.one_line_with("is an input; expected another file name"));
  }
  CHECK(file.folder.read("val.bin") == bytes);
  CHECK(file.folder.read("val.txt") == std::string(20, 'a'));
  CHECK(file.folder.read("small.minnow") == model);
}

TEST_CASE("eval: ids without end, window by window") {
  const ModelFile file;
  Outcome o = run_program({"eval", file.path, "--ids", "/dev/zero", "--windows", "3", "--json"});
  CHECK(o.status == 0);
  CHECK(json_value(o.out, "tokens") == "48");
  const std::string expected = o.out;
  const std::string zeros = file.folder.write("zeros", std::string(2 * 49, '\0'));
  CHECK(run_program({"eval", file.path, "--ids", zeros, "--json"}).out == expected);
  CHECK(run_program({"eval", file.path, "--ids", "-", "--json"}, std::string(2 * 49, '\0')).out == expected);

  // 600 MB in 100 MB of address space.
  const std::string large = file.folder.write("large", "");
  REQUIRE(truncate(large.c_str(), 600000000) == 0);
  const rlim_t limit = minnow::test::kSanitized ? 0 : 100u << 20;
  o = run_program({"eval", file.path, "--ids", large, "--windows", "3", "--json"}, "", "", limit);
  CHECK(o.out == expected);
}

TEST_CASE("eval: a pipe that comes in pieces, and ends inside an id") {
  const ModelFile file;
  const std::string whole = as_ids(minnow::test::some_tokens(40, 11));
  const std::string expected = run_program({"eval", file.path, "--json", "--ids", file.folder.write("ids", whole)}).out;
  const std::string fifo = file.folder.path("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  for (const std::string& bytes : {whole, whole + "x"}) {
    const pid_t writer = fork();
    if (writer == 0) {
      alarm(30);  // where nobody reads
      const int out = open(fifo.c_str(), O_WRONLY);
      for (const char& c : bytes) {
        if (write(out, &c, 1) != 1) _exit(1);
        usleep(300);
      }
      _exit(0);
    }
    const Outcome o = run_program({"eval", file.path, "--json", "--ids", fifo});
    CHECK(minnow::test::wait_for(writer) == 0);
    if (bytes == whole) {
      CHECK(o.out == expected);
    } else {
      CHECK(o.status == 1);
      CHECK(o.out.empty());
      CHECK(o.one_line_with("81 bytes, expected an even number"));
    }
  }
}

TEST_CASE("eval: windows have block_size tokens also with a smaller context, whose policy is then measured") {
  const ModelFile file;
  const std::vector<Token> tokens = minnow::test::some_tokens(33, 11);
  const std::string ids = file.folder.write("val.bin", as_ids(tokens));
  const Model model = minnow::test::open_model(file.bytes);
  std::string before;
  for (const WhenFull when : {WhenFull::half, WhenFull::slide}) {
    SessionConfig config;
    config.context = 6;
    config.when_full = when;
    minnow::test::Rig rig(model, config);
    double sum = 0;
    for (std::size_t i = 0; i < 32; ++i) {
      if (i % 16 == 0) rig.session.reset();
      REQUIRE(rig.session.feed({&tokens[i], 1}) == Status::ok);
      double total = 0;
      for (const float logit : rig.session.logits()) total += std::exp(static_cast<double>(logit));
      sum += std::log(total) - static_cast<double>(rig.session.logits()[static_cast<std::size_t>(tokens[i + 1])]);
    }
    const Outcome o =
        run_program({"eval", file.path, "--ids", ids, "--json", "--ctx", "6", "--when-full", to_string(when)});
    CHECK(o.status == 0);
    CHECK(json_value(o.out, "window") == "16");
    CHECK(json_value(o.out, "windows") == "2");
    CHECK(number(o.out, "loss") == doctest::Approx(sum / 32).epsilon(1e-6));
    CHECK(o.out != before);
    before = o.out;
  }
  const Outcome o = run_program({"eval", file.path, "--ids", ids, "--ctx", "6", "--when-full", "stop"});
  CHECK(o.status == 1);
  CHECK(o.one_line_with("a window of 16 tokens does not fit the context of 6"));
  CHECK(run_program({"eval", "--help"}).out.find("windows of block_size") != std::string::npos);
}

TEST_CASE("eval: an interrupt ends it with status 130, and no temporary file stays") {
  const ModelFile file;
  const std::string fifo = file.folder.path("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const int writer = open(fifo.c_str(), O_RDWR | O_CLOEXEC);  // keeps the pipe open and says nothing
  const std::size_t files = file.folder.names().size();
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string logits = file.folder.path("logits");
    pid_t child = minnow::test::start_program({"eval", file.path, "--ids", fifo, "--logits", logits}, STDIN_FILENO,
                                              STDOUT_FILENO, STDERR_FILENO);
    while (file.folder.names().size() == files && waitpid(child, nullptr, WNOHANG) == 0) usleep(1000);
    CHECK(file.folder.names().size() == files + 1);
    CHECK(status_after(child, signal_number) == 130);
    CHECK(file.folder.names().size() == files);

    // In the middle of the work, once the first window is written.
    child = minnow::test::start_program({"eval", file.path, "--ids", "/dev/zero", "--logits", logits}, STDIN_FILENO,
                                        STDOUT_FILENO, STDERR_FILENO);
    while (access(logits.c_str(), F_OK) != 0 && waitpid(child, nullptr, WNOHANG) == 0) usleep(1000);
    CHECK(status_after(child, signal_number) == 130);
    CHECK(unlink(logits.c_str()) == 0);
    CHECK(file.folder.names().size() == files);
  }
  close(writer);
}

}  // namespace minnow
