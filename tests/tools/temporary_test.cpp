// tools/temporary.cpp: a file without a name, and writes that are whole.
#include "tools/temporary.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "tests/temporary.hpp"
#include "tools/signals.hpp"

namespace minnow::test {

TEST_CASE("temporary: a file without a name, written anywhere") {
  const TemporaryFolder folder;
  const int file = open_temporary(folder.path());
  REQUIRE(file >= 0);
  CHECK(folder.names().empty());
  CHECK((fcntl(file, F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(write_all(file, 3, "defg", 4));
  CHECK(write_all(file, 0, "abc", 3));
  char content[8];
  CHECK(pread(file, content, sizeof content, 0) == 7);
  CHECK(std::string(content, 7) == "abcdefg");
  close(file);
}

TEST_CASE("temporary: what fails says why") {
  const TemporaryFolder folder;
  CHECK(open_temporary(folder.path("none")) < 0);
  CHECK(errno == ENOENT);
  CHECK(!write_all(-1, 0, "a", 1));
  CHECK(errno == EBADF);
  {
    const SignalGuard signals;
    raise(SIGTERM);
    CHECK(!write_all(-1, 0, "a", 1));
    CHECK(errno == EINTR);
  }
  const SignalGuard none_seen;  // for the tests that follow
}

}  // namespace minnow::test
