// base/bits.hpp: arithmetic that tells of overflow, at the borders.
#include "base/bits.hpp"

#include <doctest/doctest.h>

namespace minnow {

TEST_CASE("bits: checked arithmetic at the borders") {
  std::uint64_t out = 7;
  CHECK(checked_add(UINT64_MAX - 1, 1, &out));
  CHECK(out == UINT64_MAX);
  out = 7;
  CHECK_FALSE(checked_add(UINT64_MAX, 1, &out));
  CHECK_FALSE(checked_add(1, UINT64_MAX, &out));
  CHECK_FALSE(checked_multiply(std::uint64_t{1} << 32, std::uint64_t{1} << 32, &out));
  CHECK_FALSE(checked_multiply(UINT64_MAX, 2, &out));
  CHECK_FALSE(checked_round_up(UINT64_MAX, 64, &out));
  CHECK_FALSE(checked_round_up(UINT64_MAX - 62, 64, &out));
  CHECK(out == 7);  // untouched on failure

  CHECK(checked_multiply(std::uint64_t{1} << 32, (std::uint64_t{1} << 32) - 1, &out));
  CHECK(out == 0xffffffff00000000u);
  CHECK(checked_multiply(UINT64_MAX, 1, &out));
  CHECK(out == UINT64_MAX);
  CHECK(checked_multiply(UINT64_MAX, 0, &out));
  CHECK(out == 0);
  CHECK(checked_multiply(0, UINT64_MAX, &out));
  CHECK(out == 0);
  CHECK(checked_round_up(UINT64_MAX - 63, 64, &out));
  CHECK(out == UINT64_MAX - 63);
  CHECK(checked_round_up(1, 64, &out));
  CHECK(out == 64);
}

TEST_CASE("bits: round_up and bit_cast") {
  CHECK(round_up(0u, 8u) == 0);
  CHECK(round_up(1u, 8u) == 8);
  CHECK(round_up(8u, 8u) == 8);
  CHECK(round_up(9u, 8u) == 16);
  CHECK(bit_cast<std::uint32_t>(1.0f) == 0x3f800000u);
  CHECK(bit_cast<double>(std::uint64_t{0x4000000000000000u}) == 2.0);
}

}  // namespace minnow
