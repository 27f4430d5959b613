// kernels/exact_math.hpp: sine and cosine in double, against long double, and the same bits on every machine.
#include <doctest/doctest.h>

#include <cmath>

#include "base/rng.hpp"
#include "kernels/exact_math.hpp"

namespace minnow::test {
namespace {

// Of all magnitudes from 2^-30 to 2^28, both signs; every third next to a multiple of pi / 4, where one of the two, or
// their difference, is nearly 0.
double argument(std::uint64_t i) {
  const double u = unit_interval(draw64(12, i));
  const double x = std::ldexp(1 + u, static_cast<int>(i / 6 % 58) - 30);
  const double near = std::floor(x) < 0x1p27 ? std::floor(x) * 0x1.921fb54442d18p-1 : x;
  return (i % 2 == 0 ? 1 : -1) * (i % 3 == 0 ? near : x);
}

}  // namespace

TEST_CASE("sincos_f64: within 2e-16 up to 2^28") {  // 9.4e-17
  double worst = 0;
  for (std::uint64_t i = 0; i < 400000; ++i) {
    const double x = argument(i);
    double sine = 0, cosine = 0;
    sincos_f64(x, &sine, &cosine);
    const long double truth[2] = {std::sin(static_cast<long double>(x)), std::cos(static_cast<long double>(x))};
    const double found[2] = {sine, cosine};
    for (int k = 0; k < 2; ++k) {
      worst = std::fmax(worst, static_cast<double>(std::fabs(static_cast<long double>(found[k]) - truth[k])));
    }
  }
  CHECK(worst < 2e-16);
}

TEST_CASE("sincos_f64: position 0, odd and even, no number") {
  double sine = 7, cosine = 7;
  sincos_f64(0.0, &sine, &cosine);
  CHECK(sine == 0.0);
  CHECK(cosine == 1.0);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    double minus_sine = 0, minus_cosine = 0;
    sincos_f64(argument(i), &sine, &cosine);
    sincos_f64(-argument(i), &minus_sine, &minus_cosine);
    CHECK(minus_sine == -sine);
    CHECK(minus_cosine == cosine);
  }
  sincos_f64(std::nan(""), &sine, &cosine);
  CHECK(std::isnan(sine));
  CHECK(std::isnan(cosine));
}

TEST_CASE("sincos_f64: the same bits everywhere") {
  std::uint64_t hash = 0;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    double sine = 0, cosine = 0;
    sincos_f64(argument(i), &sine, &cosine);
    hash = mix64(mix64(hash ^ bit_cast<std::uint64_t>(sine)) ^ bit_cast<std::uint64_t>(cosine));
  }
  CHECK(hash == 4582868582603824263u);
}

}  // namespace minnow::test
