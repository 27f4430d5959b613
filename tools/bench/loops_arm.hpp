// What the loops of NEON share, for loops_neon.cpp, loops_dotprod.cpp and loops_armv7.cpp alone. Internal linkage.
#pragma once

#include <arm_neon.h>

#include "tools/bench/loops.hpp"

namespace minnow {
namespace {

#define MINNOW_TEN(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9)
#define MINNOW_OPAQUE(a, b) __asm__ volatile("" : "+w"(a), "+w"(b))

std::uint64_t read(const std::byte* at, std::size_t bytes) {
  uint64x2_t a = vdupq_n_u64(0);
  uint64x2_t b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  const auto load = [&at](int i) {
    return vreinterpretq_u64_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(at) + 16 * i));
  };
  for (; bytes >= 128; bytes -= 128, at += 128) {
    a = vaddq_u64(a, load(0));
    b = vaddq_u64(b, load(1));
    c = vaddq_u64(c, load(2));
    d = vaddq_u64(d, load(3));
    e = vaddq_u64(e, load(4));
    f = vaddq_u64(f, load(5));
    g = vaddq_u64(g, load(6));
    h = vaddq_u64(h, load(7));
  }
  a = vaddq_u64(vaddq_u64(vaddq_u64(a, b), vaddq_u64(c, d)), vaddq_u64(vaddq_u64(e, f), vaddq_u64(g, h)));
  return vgetq_lane_u64(a, 0) + vgetq_lane_u64(a, 1);
}

std::uint64_t multiply_float(std::uint64_t rounds) {
  float32x4_t x = vdupq_n_f32(0.5f);
  float32x4_t y = vdupq_n_f32(0.25f);
#define MINNOW_DECLARE(i) float32x4_t a##i = vdupq_n_f32(1.0f + i);
#define MINNOW_STEP(i)          \
  a##i = vfmaq_f32(a##i, x, y); \
  MINNOW_OPAQUE(a##i, x);
#define MINNOW_USE(i) MINNOW_OPAQUE(a##i, x);
  MINNOW_TEN(MINNOW_DECLARE)
  for (std::uint64_t round = 0; round < rounds; ++round) {
    MINNOW_TEN(MINNOW_STEP)
    MINNOW_TEN(MINNOW_STEP)
  }
  MINNOW_TEN(MINNOW_USE)
#undef MINNOW_DECLARE
#undef MINNOW_STEP
#undef MINNOW_USE
  return rounds * 20 * 4;
}

// Step: a type with kProducts and `static int32x4_t step(int32x4_t sum, int8x16_t w, int8x16_t x)`.
template <class Step>
std::uint64_t multiply_int8(std::uint64_t rounds) {
  int8x16_t w = vdupq_n_s8(3);
  int8x16_t x = vdupq_n_s8(5);
#define MINNOW_DECLARE(i) int32x4_t a##i = vdupq_n_s32(i);
#define MINNOW_STEP(i)           \
  a##i = Step::step(a##i, w, x); \
  MINNOW_OPAQUE(a##i, w);
#define MINNOW_USE(i) MINNOW_OPAQUE(a##i, x);
  MINNOW_TEN(MINNOW_DECLARE)
  for (std::uint64_t round = 0; round < rounds; ++round) {
    MINNOW_TEN(MINNOW_STEP)
    MINNOW_TEN(MINNOW_STEP)
  }
  MINNOW_TEN(MINNOW_USE)
#undef MINNOW_DECLARE
#undef MINNOW_STEP
#undef MINNOW_USE
  return rounds * 20 * Step::kProducts;
}

// Two widening multiplies a half, then a pairwise addition into 32 bits.
struct Widen {
  static constexpr std::uint64_t kProducts = 16;
  static int32x4_t step(int32x4_t sum, int8x16_t w, int8x16_t x) {
    const int16x8_t low = vmull_s8(vget_low_s8(w), vget_low_s8(x));
    return vpadalq_s16(sum, vmlal_s8(low, vget_high_s8(w), vget_high_s8(x)));
  }
};

}  // namespace
}  // namespace minnow
