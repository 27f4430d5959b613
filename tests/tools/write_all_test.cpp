// tools/write_all.hpp: writes that are whole.
#include "tools/write_all.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "tests/temporary.hpp"
#include "tools/signals.hpp"
#include "tools/system.hpp"

namespace minnow::test {

TEST_CASE("write_all: anywhere in a file") {
  const TemporaryFolder folder;
  const int file = system::create_nameless(folder.path());
  REQUIRE(file >= 0);
  CHECK(write_all(file, 3, "defg", 4));
  CHECK(write_all(file, 0, "abc", 3));
  char content[8];
  CHECK(system::read_at(file, 0, content, sizeof content) == 7);
  CHECK(std::string(content, 7) == "abcdefg");
  system::close_file(file);
}

TEST_CASE("write_all: what fails says why") {
  CHECK(!write_all(-1, 0, "a", 1));
  CHECK(errno == EBADF);
#if !defined(_WIN32)  // there nothing but a console interrupts
  {
    const SignalGuard signals;
    std::raise(SIGTERM);
    CHECK(!write_all(-1, 0, "a", 1));
    CHECK(errno == EINTR);
  }
  const SignalGuard none_seen;  // for the tests that follow
#endif
}

}  // namespace minnow::test
