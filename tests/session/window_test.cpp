// How many tokens are in the cache, against a count that feeds them singly.
#include "session/window.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

using minnow::tokens_in_window;
using minnow::WhenFull;

TEST_CASE("window: what feeding singly leaves") {
  for (const WhenFull when_full : {WhenFull::half, WhenFull::slide}) {
    for (std::uint32_t context = 1; context <= 9; ++context) {
      for (std::uint32_t held = 0; held <= context; ++held) {
        std::uint32_t singly = held;
        for (std::uint64_t fed = 0; fed <= 40; ++fed) {
          CAPTURE(context);
          CAPTURE(held);
          CAPTURE(fed);
          REQUIRE(tokens_in_window(when_full, context, held, fed) == singly);
          if (singly == context) singly = when_full == WhenFull::half ? context / 2 : context - 1;
          ++singly;
        }
      }
    }
  }
}

TEST_CASE("window: counts beyond 32 bits") {
  CHECK(tokens_in_window(WhenFull::half, 256, 0, (std::uint64_t{1} << 40) + 1) == 129);
  CHECK(tokens_in_window(WhenFull::half, 256, 0, std::uint64_t{1} << 40) == 256);
  CHECK(tokens_in_window(WhenFull::slide, 256, 0, std::uint64_t{1} << 40) == 256);
}
