// Prompts that are far longer than the context: their memory, the text after them, and inputs that fail half-way.
#include <sys/stat.h>

#include "tests/tools/child.hpp"

namespace minnow {
namespace {

using minnow::test::kSanitized;
using minnow::test::ModelFile;
using minnow::test::Outcome;
using minnow::test::run_program;
using minnow::test::wait_for;

// Text of the default vocabulary, with characters of one to four bytes.
std::string long_text(std::size_t least) {
  const ModelFile model;
  std::string text;
  for (std::size_t i = 0; text.size() < least; ++i) text += model.shape.pieces[(i * i * 7 + i / 5) % 9];
  return text;
}

// The end of a text, as long as what is in a full context of 16 after all of it was fed token by token.
std::string in_window(const std::string& text, std::size_t kept) {
  const auto begins_character = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  const auto tokens = static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
  std::size_t window = 0;
  for (std::size_t i = 0; i < tokens; ++i) window = window == 16 ? kept + 1 : window + 1;
  std::size_t begin = text.size();
  for (; window > 0; --window) {
    while (!begins_character(text[--begin])) {
    }
  }
  return text.substr(begin);
}

// Runs with `text` coming through a pipe. `temporary`: the folder for what does not fit in memory.
Outcome run_piped(const ModelFile& model, std::vector<std::string> arguments, const std::string& text,
                  const std::string& temporary = "/tmp") {
  const std::string fifo = model.folder.path("fifo");
  unlink(fifo.c_str());
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const pid_t writer = fork();
  if (writer == 0) {
    alarm(60);  // where nobody reads
    signal(SIGPIPE, SIG_DFL);
    const int out = open(fifo.c_str(), O_WRONLY);
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t n = write(out, text.data() + at, text.size() - at);
      if (n < 0) _exit(1);
      at += static_cast<std::size_t>(n);
    }
    _exit(0);
  }
  arguments.insert(arguments.end(), {"-f", fifo});
  const char* const old = std::getenv("TMPDIR");
  const std::string before = old == nullptr ? "" : old;
  setenv("TMPDIR", temporary.c_str(), 1);
  const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  const int out = open(model.folder.path("out").c_str(), flags, 0600);
  const int err = open(model.folder.path("err").c_str(), flags, 0600);
  Outcome o;
  o.status = wait_for(minnow::test::start_program(arguments, STDIN_FILENO, out, err));
  old == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", before.c_str(), 1);
  close(out);
  close(err);
  wait_for(writer);
  o.out = model.folder.read("out");
  o.err = model.folder.read("err");
  return o;
}

unsigned long long figure(const std::string& err, const char* name) {
  const std::size_t at = err.find(name);
  REQUIRE(at != std::string::npos);
  return std::strtoull(err.c_str() + at + std::strlen(name), nullptr, 10);
}

}  // namespace

TEST_CASE("run: a prompt of 8 MB from a file or a pipe needs no more memory, and its end decides the text") {
  const ModelFile model;
  const std::string text = long_text(kSanitized ? 800000 : 8000000);
  const std::string file = model.folder.write("prompt", text);
  for (const bool slide : {false, true}) {
    const std::vector<std::string> base = {
        "run", model.path, "-n", "40", "--seed", "3", "--when-full", slide ? "slide" : "half", "--stats"};
    std::vector<std::string> with_end = base;
    const std::string end = in_window(text, slide ? 15 : 8);
    with_end.insert(with_end.end(), {"-p", end, "--no-echo"});
    const std::string after = run_program(with_end).out;
    std::vector<std::string> with_file = base;
    with_file.insert(with_file.end(), {"-f", file});
    for (const Outcome& o : {run_program(with_file), run_piped(model, base, text)}) {
      CHECK(o.status == 0);
      const bool as_expected = o.out == text + after;
      CHECK(as_expected);
      if (kSanitized) continue;
      const auto limit = figure(o.err, "bytes, model ") + figure(o.err, "session ") + (6u << 20);
      CHECK(figure(o.err, "memory: peak ") <= limit);
    }
  }
}

TEST_CASE("run: every sample shows the whole prompt; ids and skipped characters likewise") {
  const ModelFile model;
  const std::string text = long_text(200000);
  const std::vector<std::string> base = {"run", model.path, "-n", "0"};
  std::vector<std::string> arguments = base;
  arguments.insert(arguments.end(), {"--samples", "2"});
  Outcome o = run_piped(model, arguments, text);
  bool as_expected = o.out == text + "\n---------------\n" + text;
  CHECK(as_expected);

  arguments = base;
  arguments.insert(arguments.end(), {"--unknown", "skip"});
  o = run_piped(model, arguments, text + "\xc3\xa8" + text);
  as_expected = o.out == text + text;
  CHECK(as_expected);
  CHECK(o.one_line_with("skipped 1 character that"));

  std::string ids, expected;
  for (int i = 0; i < 100000; ++i) {
    ids += std::to_string(i % 11) + (i % 3 == 0 ? ",\n" : " ");
    expected += (i == 0 ? "" : " ") + std::to_string(i % 11);
  }
  arguments = base;
  arguments.push_back("--ids");
  o = run_piped(model, arguments, ids);
  as_expected = o.out == expected + "\n";
  CHECK(as_expected);
}

TEST_CASE("run: unknown characters around the end of a piece are named with their places") {
  const ModelFile model;
  for (std::size_t before = 65531; before <= 65538; ++before) {
    const std::string text = std::string(before, 'a') + "\xf0\x9f\x98\x81" + std::string(70000, 'b') + "\xff";
    const Outcome o = run_program({"run", model.path, "-f", model.folder.write("prompt", text)});
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK(o.err.find("'\xf0\x9f\x98\x81' (U+1F601) at character " + std::to_string(before + 1) +
                     "; '\\xff' (byte 0xFF) at character " + std::to_string(before + 70002) + "\n") !=
          std::string::npos);
  }
}

TEST_CASE("run: a long prompt under `stop`") {
  const ModelFile model;
  const Outcome o = run_piped(model, {"run", model.path, "--when-full", "stop"}, std::string(300000, 'a'));
  CHECK(o.status == 1);
  CHECK(o.out.empty());
  CHECK(o.one_line_with("the prompt has 300000 tokens, the context 16; shorten it"));
}

TEST_CASE("run: a prompt file that changes before it is shown") {
  const ModelFile model;
  const std::string text = long_text(1000000) + "a";
  enum class Change { other_bytes, shorter, longer, unknown };
  for (const Change change : {Change::other_bytes, Change::shorter, Change::longer, Change::unknown}) {
    const std::string file = model.folder.write("prompt", text);
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    const std::string err_path = model.folder.path("err");
    const int err = open(err_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const pid_t child =
        minnow::test::start_program({"run", model.path, "-f", file, "-n", "0"}, STDIN_FILENO, ends[1], err);
    close(ends[1]);
    close(err);
    std::string out(1, '\0');
    REQUIRE(read(ends[0], out.data(), 1) == 1);  // now it has read the whole file once, and waits for its reader
    std::string changed = text;
    if (change == Change::other_bytes) changed.back() = 'b';
    if (change == Change::unknown) changed.back() = 'Z';
    const int writing = open(file.c_str(), O_WRONLY | O_CLOEXEC);
    CHECK(pwrite(writing, changed.data(), changed.size(), 0) == static_cast<ssize_t>(changed.size()));
    if (change == Change::shorter) CHECK(ftruncate(writing, 500000) == 0);
    if (change == Change::longer) CHECK(pwrite(writing, "more", 4, static_cast<off_t>(text.size())) == 4);
    close(writing);
    char buffer[4096];
    for (ssize_t n = 1; n > 0; out.append(buffer, static_cast<std::size_t>(n)))
      n = std::max<ssize_t>(read(ends[0], buffer, sizeof buffer), 0);
    close(ends[0]);
    Outcome o;
    o.status = wait_for(child);
    o.err = model.folder.read("err");
    CAPTURE(o.err);
    CAPTURE(static_cast<int>(change));
    if (change == Change::longer) {
      CHECK(o.status == 0);
      const bool as_expected = out == text;
      CHECK(as_expected);
    } else {
      CHECK(o.status == 1);
      CHECK(o.one_line_with("prompt: it changed while it was read"));
    }
  }
}

TEST_CASE("run: a pipe that cannot be kept") {
  const ModelFile model;
  const std::string text = long_text(300000);
  const std::vector<std::string> arguments = {"run", model.path, "-n", "0"};
  const std::string none = model.folder.path("none");
  Outcome o = run_piped(model, arguments, text, none);
  CHECK(o.status == 1);
  CHECK(o.out.empty());
  CHECK(o.one_line_with("none for a second reading: No such file or directory; set TMPDIR"));
  o = run_piped(model, {"tokens", model.path}, text, none);
  CHECK(o.status == 1);
  CHECK(o.out.empty());
  CHECK(o.one_line_with("none for a second reading: No such file or directory; set TMPDIR"));
  // Nothing needs to be kept of these.
  CHECK(run_piped(model, arguments, "abc", none).out == "abc");
  CHECK(run_piped(model, {"run", model.path, "-n", "0", "--no-echo"}, text, none).status == 0);

  // The same as a disk that is full.
  const std::string folder = model.folder.path("tmp");
  REQUIRE(mkdir(folder.c_str(), 0700) == 0);
  rlimit old;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
  const rlimit small = {100000, old.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  o = run_piped(model, arguments, text, folder);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &old) == 0);
  CHECK(o.status == 1);
  CHECK(o.out.empty());
  CHECK(o.one_line_with("tmp for a second reading: File too large; set TMPDIR"));
  const bool as_expected = run_piped(model, arguments, text, folder).out == text;
  CHECK(as_expected);
  CHECK(std::filesystem::is_empty(folder));  // no file stays
}

TEST_CASE("eval: a text in less memory than it has bytes") {
  const ModelFile model;
  const std::string text = long_text(kSanitized ? 2400000 : 24000000);
  const std::string file = model.folder.write("text", text);
  const std::string start = model.folder.write("start", text.substr(0, 1000));
  const rlim_t limit = kSanitized ? 0 : 20u << 20;
  const Outcome o = run_program({"eval", model.path, "--text", file, "--windows", "3"}, "", "", limit);
  CAPTURE(o.err);
  CHECK(o.status == 0);
  CHECK(o.out == run_program({"eval", model.path, "--text", start, "--windows", "3"}).out);
  const Outcome refused = run_program({"eval", model.path, "--text", model.folder.write("text", text + "Z")});
  CHECK(refused.status == 2);
  CHECK(refused.out.empty());
  CHECK(refused.err.find("'Z' (U+005A) at character ") != std::string::npos);
}

}  // namespace minnow
