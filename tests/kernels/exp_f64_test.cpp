// kernels/exact_math.hpp: exp in double, against long double, and the same bits on every machine.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/rng.hpp"
#include "kernels/exact_math.hpp"

namespace minnow {
namespace {

// Spread over [-708, 709], half of them near 0.
double argument(std::uint64_t i) {
  const double u = unit_interval(draw64(11, i));
  return i % 2 == 0 ? u * 1417.0 - 708.0 : (u - 0.5) * 0x1p-3;
}

}  // namespace

TEST_CASE("exp_f64: within 2 units in the last place") {
  double worst = 0;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const double x = argument(i);
    const long double truth = std::exp(static_cast<long double>(x));
    const double error = static_cast<double>(std::fabs(static_cast<long double>(exp_f64(x)) - truth) / truth);
    if (error > worst) worst = error;
  }
  CHECK(worst < 2 * 0x1p-52);
}

TEST_CASE("exp_f64: edges") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  CHECK(exp_f64(0.0) == 1.0);
  CHECK(exp_f64(-0.0) == 1.0);
  CHECK(exp_f64(-708.5) == 0.0);
  CHECK(exp_f64(-kInf) == 0.0);
  CHECK(exp_f64(-708.0) > 0.0);
  CHECK(exp_f64(-708.0) >= std::numeric_limits<double>::min());
  CHECK(exp_f64(710.0) == exp_f64(709.0));
  CHECK(exp_f64(kInf) == exp_f64(709.0));
  CHECK(std::isnan(exp_f64(std::nan(""))));
}

TEST_CASE("exp_f64: the same bits everywhere") {
  std::uint64_t hash = 0;
  for (std::uint64_t i = 0; i < 200000; ++i) hash = mix64(hash ^ bit_cast<std::uint64_t>(exp_f64(argument(i))));
  CHECK(hash == 13866981718172940663u);
}

}  // namespace minnow
