// tools/convert/position_tables.cpp against the C library in double.
#include "tools/convert/position_tables.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace minnow::convert::test {

namespace {

bool within_one_step(float found, double expected) {
  const float nearest = static_cast<float>(expected);
  return found == nearest || found == std::nextafter(nearest, 2.0f) || found == std::nextafter(nearest, -2.0f);
}

}  // namespace

TEST_CASE("position_tables: rotary frequencies") {
  for (const std::uint32_t dims : {2u, 6u, 48u, 64u, 100u, 128u}) {
    const std::vector<float> forward = rotary_frequencies(dims, 10000, false);
    const std::vector<float> backward = rotary_frequencies(dims, 10000, true);
    REQUIRE(forward.size() == dims / 2);
    REQUIRE(backward.size() == dims / 2);
    CHECK(forward[0] == 1);
    for (std::uint32_t i = 0; i < dims / 2; ++i) {
      CHECK(within_one_step(forward[i], std::pow(10000.0, -2.0 * i / dims)));
      CHECK(backward[i] == -forward[i]);
    }
  }
  CHECK(rotary_frequencies(4, 500000, false)[1] == doctest::Approx(1 / std::sqrt(500000.0)));
}

TEST_CASE("position_tables: sinusoids, of an even and an odd width") {
  for (const std::uint32_t n_embd : {1u, 7u, 64u}) {
    const std::vector<float> table = sinusoidal_table(300, n_embd);
    REQUIRE(table.size() == 300 * n_embd);
    for (std::uint32_t p = 0; p < 300; ++p) {
      for (std::uint32_t d = 0; d < n_embd; ++d) {
        const double angle = p / std::pow(10000.0, (d - d % 2) / static_cast<double>(n_embd));
        const double expected = d % 2 == 0 ? std::sin(angle) : std::cos(angle);
        CHECK(std::fabs(static_cast<double>(table[p * n_embd + d]) - expected) < 1e-7);
      }
    }
  }
}

}  // namespace minnow::convert::test
