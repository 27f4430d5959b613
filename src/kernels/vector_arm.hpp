// Eight float lanes as two NEON vectors, for the kernels_*.cpp of Arm alone. All of it has internal linkage, compiled
// with each file's own flags.
#pragma once

#include <arm_neon.h>

#include "kernels/kernels.hpp"
#if !defined(__aarch64__)
#include "kernels/vector_armv7.hpp"
#endif

namespace minnow {
namespace {

// Of 128 bits. Tiles are as large as they allow.
#if defined(__aarch64__)
constexpr int kVectorRegisters = 32;
#else
constexpr int kVectorRegisters = 16;
#endif

// Eight lanes.
struct Floats {
  float32x4_t low, high;
};

Floats load(const float* at) { return {vld1q_f32(at), vld1q_f32(at + 4)}; }
void store(float* at, Floats v) {
  vst1q_f32(at, v.low);
  vst1q_f32(at + 4, v.high);
}
Floats splat(float x) { return {vdupq_n_f32(x), vdupq_n_f32(x)}; }
Floats plus(Floats a, Floats b) { return {vaddq_f32(a.low, b.low), vaddq_f32(a.high, b.high)}; }
Floats times(Floats a, Floats b) { return {vmulq_f32(a.low, b.low), vmulq_f32(a.high, b.high)}; }
// a * b + c with one rounding.
Floats fused(Floats a, Floats b, Floats c) {
  return {vfmaq_f32(c.low, a.low, b.low), vfmaq_f32(c.high, a.high, b.high)};
}

// Eight elements as floats, from storage of either type and any alignment.
struct F32 {
  static constexpr std::size_t kBytes = 4;
  static Floats load8(const std::byte* at) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(at);
    return {vreinterpretq_f32_u8(vld1q_u8(bytes)), vreinterpretq_f32_u8(vld1q_u8(bytes + 16))};
  }
};
struct F16 {
  static constexpr std::size_t kBytes = 2;
  static Floats load8(const std::byte* at) {
    const float16x8_t h = vreinterpretq_f16_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(at)));
    return {vcvt_f32_f16(vget_low_f16(h)), vcvt_high_f32_f16(h)};
  }
};

}  // namespace
}  // namespace minnow
