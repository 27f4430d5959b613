// Scalar arithmetic with the same bits on every machine: fused multiply-add, exp, erf, log, sine and cosine. The
// reference kernels, position tables, the sampler and eval use it; the vector kernels repeat the same operations in the
// same order. Depends on base only.
#pragma once

#include <cmath>
#include <initializer_list>

#include "base/bits.hpp"
#include "kernels/coefficients.hpp"

namespace minnow {

// a * b + c with one rounding. Not every C library's fmaf is right, so where the CPU is not known to have the
// instruction: the product of two floats is exact in double; the sum is rounded to odd (Boldo, Melquiond: Emulation of
// FMA and Correctly Rounded Sums, 2008), which makes the second rounding, to float, harmless.
[[gnu::always_inline]] inline float fused(float a, float b, float c) noexcept {
#if defined(__FP_FAST_FMAF)
  return __builtin_fmaf(a, b, c);
#else
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  double sum = product + addend;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);  // Knuth's two-sum: exactly what was rounded off
  std::uint64_t bits = bit_cast<std::uint64_t>(sum);
  // For infinite sums `error` is NaN, and both comparisons are false: those stay as they are.
  if ((error > 0 || error < 0) && (bits & 1) == 0) {
    bits = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
    sum = bit_cast<double>(bits);
  }
  return static_cast<float>(sum);
#endif
}

// exp(x) within 2 units in the last place; 0 below kExpMin, exp(kExpMax) above kExpMax; NaN stays NaN.
inline float exp_f32(float x) noexcept {
  const float limited = x > kExpMax ? kExpMax : x;
  const float shifted = fused(limited, kLog2E, kRoundMagic);
  const float n = shifted - kRoundMagic;
  float r = fused(n, -kLn2High, limited);
  r = fused(n, -kLn2Low, r);
  float p = fused(kExp[4], r, kExp[3]);
  p = fused(p, r, kExp[2]);
  p = fused(p, r, kExp[1]);
  p = fused(p, r, kExp[0]);
  p = fused(p, r, 1.0f);
  p = fused(p, r, 1.0f);
  const float power = bit_cast<float>((bit_cast<std::uint32_t>(shifted) + 127u) << 23);
  return x < kExpMin ? 0.0f : p * power;
}

// erf(x), absolute error below 2e-7.
inline float erf_f32(float x) noexcept {
  const std::uint32_t bits = bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits & 0x80000000u;
  const float magnitude = bit_cast<float>(bits ^ sign);
  const float a = magnitude > kErfMax ? kErfMax : magnitude;
  float q = fused(kErf[8], a, kErf[7]);
  for (int i = 6; i >= 0; --i) q = fused(q, a, kErf[i]);
  const float y = 1.0f - exp_f32(a * q);
  return bit_cast<float>(bit_cast<std::uint32_t>(y) ^ sign);
}

// Natural logarithm of a positive normal double, error below 1e-15 relative or 1e-16 absolute.
// x = 2^e m, sqrt(1/2) <= m < sqrt(2); log m = 2 atanh(s), s = (m - 1) / (m + 1), by its series.
inline double log_f64(double x) noexcept {
  const std::uint64_t bits = bit_cast<std::uint64_t>(x);
  int e = static_cast<int>(bits >> 52) - 1023;
  double m = bit_cast<double>((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    ++e;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double series = 0;
  for (int k = 23; k >= 1; k -= 2) series = series * s2 + 1.0 / k;
  return static_cast<double>(e) * 0x1.62e42fefa39efp-1 + 2.0 * s * series;
}

// exp(x) within 2 units in the last place; 0 below -708, exp(709) above 709; NaN stays NaN. Plain operations, so it is
// faster than exp_f32 where the CPU is not known to have a fused one.
// x = n log 2 + r, |r| <= log(2) / 2; exp x = 2^n exp r, by its series.
inline double exp_f64(double x) noexcept {
  constexpr double kRoundMagic64 = 0x1.8p52;  // adding it rounds to a whole number, which stands in the low bits
  const double limited = x > 709.0 ? 709.0 : x;
  const double shifted = limited * 0x1.71547652b82fep+0 + kRoundMagic64;
  const double n = shifted - kRoundMagic64;
  // log 2 in two parts, the first with 21 zero bits at its end: n times it is exact.
  const double r = (limited - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  constexpr double kInverseFactorial[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                          1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                          1.0 / 120,        1.0 / 24,        1.0 / 6,        1.0 / 2};
  double p = kInverseFactorial[0];
  for (int i = 1; i < 12; ++i) p = p * r + kInverseFactorial[i];
  p = (p * r * r + r) + 1.0;
  const double power = bit_cast<double>((bit_cast<std::uint64_t>(shifted) + 1023u) << 52);
  return x < -708.0 ? 0.0 : p * power;
}

// Sine and cosine of x, absolute error below 2e-16 for |x| <= 2^28; beyond it they mean nothing. Plain operations.
// x = n pi / 2 + r, |r| <= pi / 4; their series at r, then a quarter turn n times.
inline void sincos_f64(double x, double* sine, double* cosine) noexcept {
  constexpr double kRoundMagic64 = 0x1.8p52;  // adding it rounds to a whole number, which stands in the low bits
  const double shifted = x * 0x1.45f306dc9c883p-1 + kRoundMagic64;
  const double n = shifted - kRoundMagic64;
  // pi / 2 in three parts. n has at most 28 bits, the first two parts at most 24: their products, and what is left of x
  // after them, are exact. The third product leaves a remainder below the last bit of r.
  const double rest = (x - n * 0x1.921fb4p+0) - n * 0x1.4442dp-24;
  const double last = n * 0x1.8469898cc517p-48;
  const double r = rest - last;
  const double remainder = (rest - r) - last;
  const double r2 = r * r;
  double odd = 1.0 / 355687428096000;  // 17!
  for (const double factorial : {-1307674368000.0, 6227020800.0, -39916800.0, 362880.0, -5040.0, 120.0, -6.0}) {
    odd = odd * r2 + 1.0 / factorial;
  }
  double even = 1.0 / 20922789888000;  // 16!
  for (const double factorial : {-87178291200.0, 479001600.0, -3628800.0, 40320.0, -720.0, 24.0}) {
    even = even * r2 + 1.0 / factorial;
  }
  // sin(r + d) = sin r + d cos r, and d is tiny; cos 1 - r^2 / 2 keeps the bits that the subtraction rounds off.
  const double s = r + (remainder + r * r2 * odd);
  const double half = 0.5 * r2;
  const double top = 1.0 - half;
  const double c = top + (((1.0 - top) - half) + (r2 * r2 * even - r * remainder));
  const std::uint64_t turns = bit_cast<std::uint64_t>(shifted);
  const double y = (turns & 1) != 0 ? c : s;
  const double z = (turns & 1) != 0 ? s : c;
  *sine = (turns & 2) != 0 ? -y : y;
  *cosine = ((turns + 1) & 2) != 0 ? -z : z;
}

}  // namespace minnow
