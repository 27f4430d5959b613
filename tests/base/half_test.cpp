// base/half.hpp: every half to float against the definition, and floats to the nearest half.
#include "base/half.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

namespace minnow {
namespace {

// IEEE 754: sign, 5 bits of exponent with bias 15, 10 bits of fraction.
double by_definition(Half h) {
  const int exponent = h >> 10 & 31;
  const int fraction = h & 1023;
  const double sign = (h & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// The nearest half by trying the two neighbours in double precision; ties to the even one; saturating.
Half nearest(float x) {
  const auto sign = static_cast<Half>(std::signbit(x) ? 0x8000 : 0);
  const double magnitude = std::fabs(static_cast<double>(x));
  if (magnitude >= 65504) return static_cast<Half>(sign | 0x7bff);
  Half low = 0;
  for (int bit = 14; bit >= 0; --bit) {  // the largest half that is not above x
    const auto candidate = static_cast<Half>(low | 1 << bit);
    if (candidate < 0x7c00 && by_definition(candidate) <= magnitude) low = candidate;
  }
  const auto high = static_cast<Half>(low + 1);
  const double down = magnitude - by_definition(low);
  const double up = by_definition(high) - magnitude;
  const bool take_high = up < down || (up == down && (low & 1) != 0);
  return static_cast<Half>(sign | (take_high ? high : low));
}

}  // namespace

TEST_CASE("half: every half is the float that the definition says, and comes back") {
  int wrong = 0;
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto h = static_cast<Half>(i);
    const float x = half_to_float(h);
    const double expected = by_definition(h);
    if (std::isnan(expected)) {
      wrong += std::isnan(x) && std::isnan(half_to_float(float_to_half(x))) ? 0 : 1;
    } else if (std::isinf(expected)) {
      wrong += static_cast<double>(x) == expected && float_to_half(x) == (h ^ 0x7c00 ^ 0x7bff) ? 0 : 1;  // saturates
    } else {
      const bool same_sign = std::signbit(x) == std::signbit(expected);
      wrong += static_cast<double>(x) == expected && same_sign && float_to_half(x) == h ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("half: floats at, halfway between and next to halves go to the nearest, ties to even") {
  int wrong = 0;
  for (std::uint32_t i = 0; i < 0x7c00; ++i) {
    const float low = half_to_float(static_cast<Half>(i));
    const float high = i == 0x7bff ? 65536.0f : half_to_float(static_cast<Half>(i + 1));
    const float middle = (low + high) / 2;
    for (const float x : {low, middle, std::nextafter(low, high), std::nextafter(middle, low),
                          std::nextafter(middle, high), std::nextafter(high, low)}) {
      wrong += float_to_half(x) == nearest(x) ? 0 : 1;
      wrong += float_to_half(-x) == nearest(-x) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("half: borders") {
  CHECK(float_to_half(0.0f) == 0);
  CHECK(float_to_half(-0.0f) == 0x8000);
  CHECK(float_to_half(0x1p-24f) == 1);
  CHECK(float_to_half(0x1p-25f) == 0);  // a tie, to even
  CHECK(float_to_half(std::nextafter(0x1p-25f, 1.0f)) == 1);
  CHECK(float_to_half(std::numeric_limits<float>::denorm_min()) == 0);
  CHECK(float_to_half(0x1p-14f) == 0x0400);
  CHECK(float_to_half(std::nextafter(0x1p-14f, 0.0f)) == 0x0400);
  CHECK(float_to_half(65504.0f) == 0x7bff);
  CHECK(float_to_half(65519.0f) == 0x7bff);
  CHECK(float_to_half(65520.0f) == 0x7bff);  // IEEE would say infinity
  CHECK(float_to_half(std::numeric_limits<float>::max()) == 0x7bff);
  CHECK(float_to_half(-std::numeric_limits<float>::infinity()) == 0xfbff);
  CHECK((float_to_half(std::numeric_limits<float>::quiet_NaN()) & 0x7fff) > 0x7c00);
}

}  // namespace minnow
