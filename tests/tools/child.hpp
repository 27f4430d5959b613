// Runs the built program as a child and keeps what it wrote. Needs POSIX, and a system that can start the program by
// itself: under an emulator it cannot, and these tests are left out.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "tests/sanitized.hpp"
#include "tests/session/rig.hpp"
#include "tests/temporary.hpp"

namespace minnow::test {

struct Outcome {
  int status = -1;  // exit status; 128 + n after signal n
  std::string out;
  std::string err;

  // One line, with its end, that contains `text`.
  bool one_line_with(const std::string& text) const {
    return std::count(err.begin(), err.end(), '\n') == 1 && err.back() == '\n' && err.find(text) != std::string::npos;
  }
};

inline constexpr int kCannotExecute = 126;

// Starts the program at `path` with these words as its argv; the descriptors become its stdin, stdout and stderr.
// `address_space`: its limit in bytes, 0: none.
inline pid_t start_other(const std::string& path, std::vector<std::string> words, int in, int out, int err,
                         rlim_t address_space = 0) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    const rlimit limit = {address_space, address_space};
    if (address_space != 0) setrlimit(RLIMIT_AS, &limit);
    execv(path.c_str(), argv.data());
    _exit(kCannotExecute);
  }
  return child;
}

// The built program; `arguments` come behind its name.
inline pid_t start_program(const std::vector<std::string>& arguments, int in, int out, int err,
                           rlim_t address_space = 0) {
  std::vector<std::string> words = {MINNOW_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return start_other(words[0], words, in, out, err, address_space);
}

inline int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// As start_other(). `stdout_path`: where its output goes instead of Outcome::out.
inline Outcome run_other(const std::string& path, const std::vector<std::string>& words, const std::string& input = "",
                         const std::string& stdout_path = "", rlim_t address_space = 0) {
  const TemporaryFolder folder;
  const std::string out_path = stdout_path.empty() ? folder.path("out") : stdout_path;
  const int in = open(folder.write("in", input).c_str(), O_RDONLY | O_CLOEXEC);
  const int out = open(out_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int err = open(folder.path("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  Outcome outcome;
  outcome.status = wait_for(start_other(path, words, in, out, err, address_space));
  REQUIRE_MESSAGE(outcome.status != kCannotExecute, path << " cannot be started from here");
  for (const int descriptor : {in, out, err}) close(descriptor);
  if (stdout_path.empty()) outcome.out = folder.read("out");
  outcome.err = folder.read("err");
  return outcome;
}

inline Outcome run_program(const std::vector<std::string>& arguments, const std::string& input = "",
                           const std::string& stdout_path = "", rlim_t address_space = 0) {
  std::vector<std::string> words = {MINNOW_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_other(words[0], words, input, stdout_path, address_space);
}

// A small model with text, in a folder of its own.
struct ModelFile {
  TemporaryFolder folder;
  HandShape shape;
  AlignedBytes bytes;
  std::string path;

  ModelFile() : ModelFile(default_shape()) {}
  explicit ModelFile(const HandShape& s) : shape(s), bytes(hand_built(s)), path(folder.path("small.minnow")) {
    folder.write("small.minnow", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  static HandShape default_shape() {
    HandShape shape;
    shape.amplitude = 0.3f;
    shape.pieces = {"\n", " ", "a", "b", "c", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "'"};
    return shape;
  }
};

// The value of a key in one JSON object without nested objects before it, as it stands there.
inline std::string json_value(const std::string& json, const std::string& key) {
  const std::string name = "\"" + key + "\": ";
  const std::size_t at = json.find(name);
  if (at == std::string::npos) return "(no " + key + ")";
  const std::size_t begin = at + name.size();
  const std::size_t end = json[begin] == '[' ? json.find(']', begin) + 1 : json.find_first_of(",}", begin);
  return json.substr(begin, end - begin);
}

}  // namespace minnow::test
