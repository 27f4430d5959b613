// Inputs of every kind, read in small pieces, twice and more.
#include "tools/text_input.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/temporary.hpp"
#include "tools/messages.hpp"

namespace minnow::test {
namespace {

using Passes = TextInput::Passes;

std::string some_text(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + (i * i + i / 7) % 26);
  return text;
}

// One pass. No piece may be longer than `piece`.
std::string pass_over(TextInput* input, std::size_t piece) {
  std::string all;
  std::string_view bytes;
  do {
    REQUIRE(input->read(&bytes) == kDone);
    REQUIRE(bytes.size() <= piece);
    all += bytes;
  } while (!bytes.empty());
  REQUIRE(input->read(&bytes) == kDone);  // and the end stays the end
  REQUIRE(bytes.empty());
  return all;
}

// A pipe's end to read from, at 0 while this lives, with `text` in it.
class PipedStdin {
 public:
  explicit PipedStdin(const std::string& text) : saved_(dup(0)) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    REQUIRE(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    close(ends[1]);
    dup2(ends[0], 0);
    close(ends[0]);
  }
  ~PipedStdin() {
    dup2(saved_, 0);
    close(saved_);
  }
  PipedStdin(const PipedStdin&) = delete;
  PipedStdin& operator=(const PipedStdin&) = delete;

 private:
  int saved_;
};

}  // namespace

TEST_CASE("text input: arguments, files and pipes of all sizes around a piece, three times") {
  const TemporaryFolder folder;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, std::size_t{8}}) {
    for (std::size_t size = 0; size <= 3 * piece + 1; ++size) {
      CAPTURE(piece);
      CAPTURE(size);
      const std::string text = some_text(size);
      TextInput argument("test", piece);
      argument.use(text);
      TextInput file("test", piece);
      REQUIRE(file.open(folder.write("text", text), Passes::many) == kDone);
      const PipedStdin in(text);
      TextInput piped("test", piece);
      REQUIRE(piped.open("-", Passes::many) == kDone);
      for (TextInput* const input : {&argument, &file, &piped}) {
        for (int pass = 0; pass < 3; ++pass) {
          CHECK(pass_over(input, piece) == text);
          input->rewind();
        }
      }
    }
  }
}

TEST_CASE("text input: a pipe that is read once") {
  const std::string text = some_text(100);
  const PipedStdin in(text);
  TextInput input("test", 8);
  REQUIRE(input.open("-", Passes::one) == kDone);
  CHECK(pass_over(&input, 8) == text);
}

TEST_CASE("text input: a file at stdin begins where it stands, and is read to its end") {
  const TemporaryFolder folder;
  const std::string text = some_text(50);
  const int file = open(folder.write("text", text).c_str(), O_RDONLY | O_CLOEXEC);
  const int saved = dup(0);
  dup2(file, 0);
  for (const off_t begin : {0, 13, 45, 50, 60}) {
    lseek(file, begin, SEEK_SET);
    TextInput input("test", 8);
    REQUIRE(input.open("-", Passes::many) == kDone);
    const std::string expected = begin < 50 ? text.substr(static_cast<std::size_t>(begin)) : "";
    CHECK(pass_over(&input, 8) == expected);
    CHECK(lseek(file, 0, SEEK_CUR) == std::max<off_t>(begin, 50));
    input.rewind();
    CHECK(pass_over(&input, 8) == expected);
  }
  dup2(saved, 0);
  close(saved);
  close(file);
}

TEST_CASE("text input: a file that grows after the first pass is read as it was") {
  const TemporaryFolder folder;
  const std::string text = some_text(50);
  const std::string path = folder.write("text", text);
  TextInput input("test", 8);
  REQUIRE(input.open(path, Passes::many) == kDone);
  CHECK(pass_over(&input, 8) == text);
  folder.write("text", text + "more");
  input.rewind();
  CHECK(pass_over(&input, 8) == text);
}

TEST_CASE("text input: a file that says that it is empty, and is not") {
  const std::string path = "/proc/self/maps";
  if (access(path.c_str(), R_OK) != 0) return;
  TextInput input("test", 64);
  REQUIRE(input.open(path, Passes::many) == kDone);
  const std::string text = pass_over(&input, 64);
  CHECK(text.size() > 64);
  void* const mapped = mmap(nullptr, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // and now it is another
  REQUIRE(mapped != MAP_FAILED);
  input.rewind();
  CHECK(pass_over(&input, 64) == text);
  munmap(mapped, 1 << 20);
}

}  // namespace minnow::test
