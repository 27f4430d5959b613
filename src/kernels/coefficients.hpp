// Constants of the polynomials and thresholds that every instruction set shares. Internal linkage; depends on nothing.
//
// The polynomials are least-squares fits at Chebyshev nodes, reweighted until the error was level (Lawson's method),
// then rounded to float. The largest errors are stated in tests/kernels/truth_test.cpp.
#pragma once

namespace minnow {

// Adding and subtracting 1.5 * 2^23 rounds a float of magnitude below 2^22 to the nearest integer, ties to even.
constexpr float kRoundMagic = 12582912.0f;

// exp(x) = 2^n * exp(r), n = round(x / ln 2), r = x - n ln 2 in two steps;
// exp(r) = 1 + r + r^2 (kExp[0] + kExp[1] r + ..), |r| <= ln 2 / 2.
constexpr float kLog2E = 0x1.715476p+0f;
constexpr float kLn2High = 0x1.62e400p-1f;  // 15 bits, so that n * kLn2High is exact
constexpr float kLn2Low = 0x1.7f7d1cp-20f;
constexpr float kExp[5] = {0x1.000000p-1f, 0x1.55548ep-3f, 0x1.55545ep-5f, 0x1.123be0p-7f, 0x1.6db4e4p-10f};
constexpr float kExpMin = -87.3365f;  // below: 0, since the result would be denormal or within 5e-5 of it
constexpr float kExpMax = 88.37f;     // above: exp(kExpMax), so that 2^n stays finite

// erf(a) = 1 - exp(a * (kErf[0] + kErf[1] a + ..)) for 0 <= a <= kErfMax; beyond it erf is 1 to the last bit.
constexpr float kErf[9] = {-0x1.20dd78p+0f,  -0x1.45f28cp-1f, -0x1.a510c8p-4f,  0x1.3ada88p-6f, 0x1.ed1e06p-15f,
                           -0x1.9d56c0p-10f, 0x1.344196p-11f, -0x1.bcb5a4p-14f, 0x1.0de844p-17f};
constexpr float kErfMax = 4.0f;

constexpr float kSqrtHalf = 0x1.6a09e6p-1f;
constexpr float kMinusTwoSqrt2OverPi = -0x1.988454p+0f;
constexpr float kGeluCubic = 0.044715f;

// Groups of activations whose largest magnitude is below this quantise to zeros.
constexpr float kQuantiseMin = 0x1p-100f;

}  // namespace minnow
