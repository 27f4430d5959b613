// `minnow run`: the exact bytes on stdout, against the library; prompts, samples, ends.
#include <sys/stat.h>
#include <time.h>

#include "tests/tools/child.hpp"
#include "text/utf8.hpp"

namespace minnow {
namespace {

using minnow::test::ModelFile;
using minnow::test::Outcome;
using minnow::test::run_program;

constexpr const char* kLine = "---------------\n";

// The text that generate() gives after a prompt, with the program's default sampling.
std::string library_text(const ModelFile& file, const std::string& prompt, std::uint64_t seed, std::uint32_t n,
                         std::vector<Token>* tokens_or_null = nullptr) {
  const Model model = minnow::test::open_model(file.bytes);
  minnow::test::Rig rig(model, {});
  Tokenizer tokenizer;
  REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
  Sampler sampler;
  SamplerConfig sampling;
  sampling.seed = seed;
  REQUIRE(Sampler::create(sampling, &sampler) == Status::ok);
  std::vector<Token> ids(prompt.size());
  EncodeResult encoded;
  REQUIRE(tokenizer.encode(prompt, {ids.data(), ids.size()}, &encoded) == Status::ok);
  struct Written {
    std::string text;
    std::vector<Token> tokens;
  } written;
  GenerateConfig config;
  config.max_tokens = n;
  config.user = &written;
  config.on_text = [](void* user, std::string_view text) {
    static_cast<Written*>(user)->text += text;
    return true;
  };
  config.on_token = [](void* user, Token token) {
    static_cast<Written*>(user)->tokens.push_back(token);
    return true;
  };
  REQUIRE(generate(rig.session, &tokenizer, sampler, {ids.data(), encoded.tokens}, config) == Status::ok);
  if (tokens_or_null != nullptr) *tokens_or_null = written.tokens;
  return written.text;
}

}  // namespace

TEST_CASE("run: the prompt, then the text, then nothing") {
  const ModelFile model;
  const std::string prompt = "ab \xf0\x9f\x98\x80";
  const std::string text = library_text(model, prompt, 5, 40);
  Outcome o = run_program({"run", model.path, "-p", prompt, "-n", "40", "--seed", "5"});
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  CHECK(o.out == prompt + text);

  o = run_program({"run", model.path, "-p", prompt, "-n", "40", "--seed", "5", "--no-echo"});
  CHECK(o.out == text);
  o = run_program({"run", model.path, "--start", prompt, "--max_new_tokens=40", "--seed", "5", "--temperature=0.8",
                   "--top_k=200", "--num_samples=1"});
  CHECK(o.out == prompt + text);
  o = run_program({"run", model.path, "-n", "40", "--seed", "5"});
  CHECK(o.out == "\n" + library_text(model, "\n", 5, 40));
  o = run_program({"run", model.path, "-n", "40", "--seed", "5", "-p", ""});  // something is fed, nothing is shown
  CHECK(o.out == library_text(model, "\n", 5, 40));
  o = run_program({"run", model.path, "-n", "0", "-p", prompt});
  CHECK(o.out == prompt);
  CHECK(o.status == 0);
}

TEST_CASE("run: prompts from files, pipes and stdin") {
  const ModelFile model;
  const std::string prompt = "a\nb\n";
  const std::string expected = prompt + library_text(model, prompt, 9, 20);
  const std::string file = model.folder.write("prompt", prompt);
  CHECK(run_program({"run", model.path, "-n", "20", "--seed", "9", "-f", file}).out == expected);
  CHECK(run_program({"run", model.path, "-n", "20", "--seed", "9", "-f", "-"}, prompt).out == expected);
  CHECK(run_program({"run", model.path, "-", "-n", "20", "--seed", "9"}, prompt).out == expected);

  const std::string fifo = model.folder.path("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const pid_t writer = fork();
  if (writer == 0) {
    alarm(30);  // where nobody reads
    const int out = open(fifo.c_str(), O_WRONLY);
    for (const char& c : prompt) {
      if (write(out, &c, 1) != 1) _exit(1);
      usleep(1000);  // short reads
    }
    _exit(0);
  }
  CHECK(run_program({"run", model.path, "-n", "20", "--seed", "9", "-f", fifo}).out == expected);
  CHECK(minnow::test::wait_for(writer) == 0);

  const Outcome o = run_program({"run", model.path, "-f", model.folder.path("none")});
  CHECK(o.status == 1);
  CHECK(o.one_line_with("No such file"));
}

TEST_CASE("run: unknown characters are named with their places") {
  const ModelFile model;
  const std::string prompt =
      "a\xc3\xa8"
      "b\xff\xc3\xa8\xc3\xa9Z\xc3\xa8\xc3\xa8";
  Outcome o = run_program({"run", model.path, "-p", prompt});
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK(o.err.find("'\xc3\xa8' (U+00E8) at character 2, 5, 8 and 1 more") != std::string::npos);
  CHECK(o.err.find("'\\xff' (byte 0xFF) at character 4") != std::string::npos);
  CHECK(o.err.find("'Z' (U+005A) at character 7") != std::string::npos);
  CHECK(o.err.find("its alphabet: \\n abc\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80'\n") != std::string::npos);

  std::string many;
  for (int i = 0; i < 150; ++i)
    many += std::string("\xe4\xb8") + static_cast<char>(0x80 + i % 64) + (i < 64 ? "" : "x");
  for (int i = 0; i < 64; ++i) many += std::string("\xe4\xb9") + static_cast<char>(0x80 + i);
  o = run_program({"run", model.path, "-p", many});
  CHECK(o.status == 2);
  CHECK(o.err.find("; and 29 other characters\n") != std::string::npos);  // 64 and 64 and x, 100 are shown

  o = run_program({"run", model.path, "-p", prompt, "--unknown", "skip", "-n", "10", "--seed", "3"});
  CHECK(o.status == 0);
  CHECK(o.out == "ab\xc3\xa9" + library_text(model, "ab\xc3\xa9", 3, 10));
  CHECK(o.one_line_with("skipped 6 characters"));
}

TEST_CASE("run: sample i is the run with seed + i") {
  const ModelFile model;
  std::string expected;
  for (std::uint64_t i = 0; i < 5; ++i) {
    const std::string text = "a" + library_text(model, "a", 20 + i, 7);
    if (i > 0) expected += "\n" + std::string(kLine);  // whatever the text ends with
    expected += text;
  }
  const Outcome o = run_program({"run", model.path, "-p", "a", "-n", "7", "--seed", "20", "--samples", "5"});
  CHECK(o.status == 0);
  CHECK(o.out == expected);
}

TEST_CASE("run: ids in, ids out, with a vocabulary or without") {
  const ModelFile model;
  std::vector<Token> tokens;
  library_text(model, "ab", 4, 12, &tokens);
  std::string expected = "2 3";
  for (const Token token : tokens) expected += " " + std::to_string(token);
  Outcome o = run_program({"run", model.path, "--ids", "-p", "2, 3", "-n", "12", "--seed", "4"});
  CHECK(o.status == 0);
  CHECK(o.out == expected + "\n");

  const ModelFile no_text{minnow::test::HandShape()};
  o = run_program({"run", no_text.path, "--ids", "-n", "3", "--samples", "2", "--seed", "1"});
  CHECK(o.status == 0);
  CHECK(std::count(o.out.begin(), o.out.end(), ' ') == 6);
  CHECK(o.out.find(std::string("\n") + kLine + "0 ") != std::string::npos);
  CHECK(o.out.back() == '\n');
  o = run_program({"run", no_text.path});
  CHECK(o.status == 1);
  CHECK(o.one_line_with("use --ids"));
}

TEST_CASE("run: the stop text") {
  const ModelFile model;
  const std::string text = library_text(model, "a", 6, 200);
  const std::string stop = text.substr(text.size() / 2, 3);
  const Outcome o = run_program({"run", model.path, "-p", "a", "-n", "200", "--seed", "6", "--stop", stop});
  CHECK(o.status == 0);
  CHECK(o.out == "a" + text.substr(0, text.find(stop)));
}

TEST_CASE("run: a full context under `stop`") {
  const ModelFile model;
  const std::string prompt = "abcabc";
  Outcome o = run_program({"run", model.path, "-p", prompt, "--seed", "2", "--when-full", "stop", "-n", "100"});
  CHECK(o.status == 0);
  CHECK(o.out == prompt + library_text(model, prompt, 2, 11));  // 6 + 10 tokens fill 16; one more is known
  CHECK(o.one_line_with("the context of 16 tokens is full"));
  o = run_program({"run", model.path, "-p", prompt, "--seed", "2", "--when-full", "stop", "-n", "11"});
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  o = run_program({"run", model.path, "-p", std::string(17, 'a'), "--when-full", "stop"});
  CHECK(o.status == 1);
  CHECK(o.out.empty());
  CHECK(o.one_line_with("the prompt has 17 tokens, the context 16"));
}

TEST_CASE("run: threads, batch and instruction set change no byte") {
  const ModelFile model;
  const std::vector<std::string> base = {"run", model.path, "-p", "abcab", "-n", "50", "--seed", "8"};
  const std::string expected = run_program(base).out;
  CHECK(expected.size() > 50);
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--threads", "3"}, {"--batch", "1"}, {"--isa", "reference"}, {"--threads", "64", "--batch", "7"}}) {
    std::vector<std::string> arguments = base;
    arguments.insert(arguments.end(), more.begin(), more.end());
    CAPTURE(more[0]);
    CHECK(run_program(arguments).out == expected);
  }
}

TEST_CASE("run: where the system grants fewer threads, fewer do the work") {
  if (minnow::test::kSanitized) return;
  const ModelFile model;
  const std::vector<std::string> arguments = {"run", model.path, "-n",        "50", "--seed",
                                              "8",   "--stats",  "--threads", "64"};
  const Outcome all = run_program(arguments);
  CHECK(all.err.find("threads: 64\n") != std::string::npos);
  const Outcome few = run_program(arguments, "", "", 120u << 20);  // a stack has 8 MiB
  CAPTURE(few.err);
  CHECK(few.status == 0);
  CHECK(few.out == all.out);
  CHECK(few.err.find("threads: 64\n") == std::string::npos);
}

TEST_CASE("run: --stats") {
  const ModelFile model;
  const Outcome o = run_program({"run", model.path, "-p", "abc", "-n", "30", "--seed", "77", "--stats"});
  CHECK(o.status == 0);
  CHECK(o.out == "abc" + library_text(model, "abc", 77, 30));
  for (const char* text : {"prompt: 3 tokens, prefill ", "text: 30 tokens, decode ", "first text: ", "memory: peak ",
                           "seed: 77\n", "isa: ", "threads: 1\n"}) {
    CAPTURE(text);
    CHECK(o.err.find(text) != std::string::npos);
  }
  // The seed that the system chose gives the same text again.
  const Outcome first = run_program({"run", model.path, "--stats", "-n", "60"});
  const std::size_t at = first.err.find("seed: ") + 6;
  const std::string seed = first.err.substr(at, first.err.find('\n', at) - at);
  CHECK(run_program({"run", model.path, "-n", "60", "--seed", seed}).out == first.out);
}

TEST_CASE("run: a reader that goes away ends it without a word") {
  const ModelFile model;
  int pipe_ends[2];
  REQUIRE(pipe2(pipe_ends, O_CLOEXEC) == 0);
  const std::string err_path = model.folder.path("err");
  const int err = open(err_path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const pid_t child =
      minnow::test::start_program({"run", model.path, "-n", "4000000000"}, STDIN_FILENO, pipe_ends[1], err);
  close(pipe_ends[1]);
  close(err);
  char buffer[3];
  CHECK(read(pipe_ends[0], buffer, sizeof buffer) > 0);
  close(pipe_ends[0]);
  CHECK(minnow::test::wait_for(child) == 1);
  CHECK(model.folder.read("err").empty());
}

TEST_CASE("run: an interrupt ends it with status 130 after a whole character") {
  minnow::test::HandShape shape = ModelFile::default_shape();
  shape.pieces = {"\n", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf0\x9f", "\x98\x81"};
  const ModelFile model(shape);
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    int pipe_ends[2];
    REQUIRE(pipe2(pipe_ends, O_CLOEXEC) == 0);
    const pid_t child = minnow::test::start_program({"run", model.path, "--seed", "5", "-n", "4000000000"},
                                                    STDIN_FILENO, pipe_ends[1], STDERR_FILENO);
    close(pipe_ends[1]);
    std::string out;
    char buffer[4096];
    ssize_t n = 0;
    bool sent = false;
    while ((n = read(pipe_ends[0], buffer, sizeof buffer)) > 0) {
      out.append(buffer, static_cast<std::size_t>(n));
      if (!sent && out.size() > 100) sent = kill(child, signal_number) == 0;
    }
    close(pipe_ends[0]);
    CHECK(minnow::test::wait_for(child) == 130);
    CHECK(sent);
    // What was written is how the uninterrupted text begins, and ends between two of its characters.
    const std::string whole = run_program({"run", model.path, "--seed", "5", "-n", std::to_string(out.size() + 8)}).out;
    REQUIRE(whole.compare(0, out.size(), out) == 0);
    std::size_t end = 0;
    while (end < out.size()) end += utf8_length(std::string_view(whole).substr(end));
    CHECK(end == out.size());
  }
}

TEST_CASE("run: a sample that ends in a new line gets one more before the line") {
  minnow::test::HandShape shape = ModelFile::default_shape();
  shape.pieces = {"\n"};
  const ModelFile model(shape);
  CHECK(run_program({"run", model.path, "-n", "1", "--samples", "2"}).out == "\n\n\n" + std::string(kLine) + "\n\n");
}

TEST_CASE("run: --start FILE:NAME reads a file, -p does not") {
  const ModelFile model;
  const std::string file = model.folder.write("prompt.txt", "ab\n");
  CHECK(run_program({"run", model.path, "--start=FILE:" + file, "-n", "0"}).out == "ab\n");
  CHECK(run_program({"run", model.path, "--start", "a", "-n", "0"}).out == "a");
  Outcome o = run_program({"run", model.path, "--start", "FILE:" + model.folder.path("none")});
  CHECK(o.status == 1);
  CHECK(o.one_line_with("No such file"));
  o = run_program({"run", model.path, "-p", "FILE:a", "-n", "0", "--unknown", "skip"});
  CHECK(o.out == "a");
}

TEST_CASE("run: unknown characters in the order of the text; singular forms") {
  const ModelFile model;
  Outcome o = run_program({"run", model.path, "-p", "zayx"});
  const std::size_t z = o.err.find("'z'"), y = o.err.find("'y'"), x = o.err.find("'x'");
  CHECK(z < y);
  CHECK(y < x);
  CHECK(x != std::string::npos);
  o = run_program({"run", model.path, "-p", "az", "--unknown", "skip", "-n", "0", "--stats"});
  CHECK(o.err.find("skipped 1 character that") != std::string::npos);
  CHECK(o.err.find("prompt: 1 token, ") != std::string::npos);
  CHECK(o.err.find("first text: none\n") != std::string::npos);
}

}  // namespace minnow
