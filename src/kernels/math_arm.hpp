// Functions of eight float lanes on Arm: differences and quotients, the tree of sums, lanes of a row's end, exp and erf.
// For kernels_arm.hpp alone; internal linkage.
#pragma once

#include "kernels/coefficients.hpp"
#include "kernels/vector_arm.hpp"

namespace minnow {
namespace {

Floats minus(Floats a, Floats b) { return {vsubq_f32(a.low, b.low), vsubq_f32(a.high, b.high)}; }
Floats over(Floats a, Floats b) { return {vdivq_f32(a.low, b.low), vdivq_f32(a.high, b.high)}; }
Floats fused(Floats a, float b, Floats c) { return {vfmaq_n_f32(c.low, a.low, b), vfmaq_n_f32(c.high, a.high, b)}; }

// Lanes i, i + 4; then i, i + 2; then i, i + 1: the tree of kernels.hpp.
float sum_tree(Floats v) {
  const float32x4_t four = vaddq_f32(v.low, v.high);
  const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

// Lane numbers below n, as all bits set; n <= 8.
struct Lanes {
  uint32x4_t low, high;
};
Lanes first_lanes(std::uint32_t n) {
  const std::uint32_t index[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  return {vcltq_u32(vld1q_u32(index), vdupq_n_u32(n)), vcltq_u32(vld1q_u32(index + 4), vdupq_n_u32(n))};
}
Floats choose(Lanes lanes, Floats yes, Floats no) {
  return {vbslq_f32(lanes.low, yes.low, no.low), vbslq_f32(lanes.high, yes.high, no.high)};
}

// Zeroes the lanes of x from n on, where x holds elements i .. i + 7 of n.
Floats keep(Floats x, std::uint32_t i, std::uint32_t n) {
  return i + 8 <= n ? x : choose(first_lanes(n - i), x, splat(0));
}

float32x4_t exp4(float32x4_t x) {
  const float32x4_t limited = vminq_f32(x, vdupq_n_f32(kExpMax));
  const float32x4_t magic = vdupq_n_f32(kRoundMagic);
  const float32x4_t shifted = vfmaq_f32(magic, limited, vdupq_n_f32(kLog2E));
  const float32x4_t n = vsubq_f32(shifted, magic);
  float32x4_t r = vfmaq_f32(limited, n, vdupq_n_f32(-kLn2High));
  r = vfmaq_f32(r, n, vdupq_n_f32(-kLn2Low));
  float32x4_t p = vfmaq_f32(vdupq_n_f32(kExp[3]), vdupq_n_f32(kExp[4]), r);
  p = vfmaq_f32(vdupq_n_f32(kExp[2]), p, r);
  p = vfmaq_f32(vdupq_n_f32(kExp[1]), p, r);
  p = vfmaq_f32(vdupq_n_f32(kExp[0]), p, r);
  p = vfmaq_f32(vdupq_n_f32(1), p, r);
  p = vfmaq_f32(vdupq_n_f32(1), p, r);
  const uint32x4_t power = vshlq_n_u32(vaddq_u32(vreinterpretq_u32_f32(shifted), vdupq_n_u32(127)), 23);
  const uint32x4_t tiny = vcltq_f32(x, vdupq_n_f32(kExpMin));
  const uint32x4_t product = vreinterpretq_u32_f32(vmulq_f32(p, vreinterpretq_f32_u32(power)));
  return vreinterpretq_f32_u32(vbicq_u32(product, tiny));
}
Floats exp8(Floats x) { return {exp4(x.low), exp4(x.high)}; }

float32x4_t erf4(float32x4_t x) {
  const float32x4_t a = vminq_f32(vabsq_f32(x), vdupq_n_f32(kErfMax));
  float32x4_t q = vfmaq_f32(vdupq_n_f32(kErf[7]), vdupq_n_f32(kErf[8]), a);
  for (int i = 6; i >= 0; --i) q = vfmaq_f32(vdupq_n_f32(kErf[i]), q, a);
  const float32x4_t y = vsubq_f32(vdupq_n_f32(1), exp4(vmulq_f32(a, q)));
  const uint32x4_t sign = vandq_u32(vreinterpretq_u32_f32(x), vdupq_n_u32(0x80000000u));
  return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(y), sign));
}
Floats erf8(Floats x) { return {erf4(x.low), erf4(x.high)}; }

}  // namespace
}  // namespace minnow
