// base/rng.hpp: pinned draws (computed independently), so that a seed means the same text for ever.
#include "base/rng.hpp"

#include <doctest/doctest.h>

namespace minnow {

TEST_CASE("rng: pinned draws") {
  struct Draw {
    std::uint64_t seed, index, value;
  };
  constexpr Draw kDraws[] = {
      {0, 0, 0xa706dd2f4d197e6fu},          {0, 1, 0xb382a305f4414f5eu},
      {0, 1000000, 0x2623754e3559d98bu},    {1, 0, 0x5e41ab087439611eu},
      {1, 1, 0xf18d6ce93d6cf1eeu},          {1, 1000000, 0xb2222badf7fafddfu},
      {1337, 0, 0x317d308973b9c082u},       {1337, 1, 0x5be0404a81258bbeu},
      {1337, 1000000, 0x81fdc984203ce0f0u}, {UINT64_MAX, 0, 0x5dc20aa7b2a27137u},
      {UINT64_MAX, 1, 0xbda5668a01d7049cu}, {UINT64_MAX, 1000000, 0x760cb63ff7acc76bu},
  };
  for (const Draw& draw : kDraws) {
    CAPTURE(draw.seed);
    CAPTURE(draw.index);
    CHECK(draw64(draw.seed, draw.index) == draw.value);
  }
  // The first outputs of SplitMix64 from state 0, as published with the algorithm.
  CHECK(mix64(0x9e3779b97f4a7c15u) == 0xe220a8397b1dcdafu);
  CHECK(mix64(2 * 0x9e3779b97f4a7c15u) == 0x6e789e6aa1b965f4u);
}

TEST_CASE("rng: unit_interval is in [0, 1) and keeps 53 bits") {
  CHECK(unit_interval(0) == 0.0);
  CHECK(unit_interval(UINT64_MAX) == 1.0 - 0x1p-53);
  CHECK(unit_interval(std::uint64_t{1} << 63) == 0.5);
  CHECK(unit_interval(1u << 11) == 0x1p-53);
  double sum = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) sum += unit_interval(draw64(7, i));
  CHECK(sum / 10000 == doctest::Approx(0.5).epsilon(0.02));
}

}  // namespace minnow
