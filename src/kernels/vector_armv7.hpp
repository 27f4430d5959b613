// What 32-bit Arm lacks of the NEON intrinsics that the kernels use, under the names and with the results that they
// have on aarch64. For vector_arm.hpp alone; all of it has internal linkage, compiled with each file's own flags.
// AArch32's NEON takes denormals for zeros and makes none, which the promise of kernels.hpp allows: half floats, the
// only denormals it covers, become normal floats, and their conversion is exact here too. Its multiply-add (VFPv4) is
// fused. What it has no instruction for, division and square root, the scalar unit does lane by lane, as IEEE says.
#pragma once

#include <arm_neon.h>

#include <cstdint>

namespace minnow {
namespace {

#if !defined(__ARM_FP16_FORMAT_IEEE)
// GCC has the half floats of NEON only behind a flag, for the sake of the type in C.
using float16x4_t = uint16x4_t;
using float16x8_t = uint16x8_t;
inline float16x8_t vreinterpretq_f16_u8(uint8x16_t a) { return vreinterpretq_u16_u8(a); }
inline uint16x4_t vreinterpret_u16_f16(float16x4_t a) { return a; }
inline float16x4_t vget_low_f16(float16x8_t a) { return vget_low_u16(a); }
inline float16x4_t vget_high_f16(float16x8_t a) { return vget_high_u16(a); }
inline float32x4_t vcvt_f32_f16(float16x4_t a) {
  float32x4_t out;
  __asm__("vcvt.f32.f16 %q0, %P1" : "=w"(out) : "w"(a));
  return out;
}
inline float16x4_t vcvt_f16_f32(float32x4_t a) {
  float16x4_t out;
  __asm__("vcvt.f16.f32 %P0, %q1" : "=w"(out) : "w"(a));
  return out;
}
#endif

inline float32x4_t vfmaq_n_f32(float32x4_t c, float32x4_t a, float b) { return vfmaq_f32(c, a, vdupq_n_f32(b)); }

inline float32x4_t vfmaq_laneq_f32(float32x4_t c, float32x4_t a, float32x4_t b, int lane) {
  return vfmaq_f32(c, a, vdupq_n_f32(b[lane]));
}

inline float32x4_t vdivq_f32(float32x4_t a, float32x4_t b) {
  float32x4_t y = a;
  y = vsetq_lane_f32(vgetq_lane_f32(a, 0) / vgetq_lane_f32(b, 0), y, 0);
  y = vsetq_lane_f32(vgetq_lane_f32(a, 1) / vgetq_lane_f32(b, 1), y, 1);
  y = vsetq_lane_f32(vgetq_lane_f32(a, 2) / vgetq_lane_f32(b, 2), y, 2);
  return vsetq_lane_f32(vgetq_lane_f32(a, 3) / vgetq_lane_f32(b, 3), y, 3);
}

inline float32x2_t vsqrt_f32(float32x2_t a) {
  return vset_lane_f32(__builtin_sqrtf(vget_lane_f32(a, 1)), vdup_n_f32(__builtin_sqrtf(vget_lane_f32(a, 0))), 1);
}

inline float32x4_t vcvt_high_f32_f16(float16x8_t a) { return vcvt_f32_f16(vget_high_f16(a)); }

inline float vmaxvq_f32(float32x4_t a) {
  const float32x2_t two = vpmax_f32(vget_low_f32(a), vget_high_f32(a));
  return vget_lane_f32(vpmax_f32(two, two), 0);
}

inline std::uint32_t vmaxvq_u32(uint32x4_t a) {
  const uint32x2_t two = vpmax_u32(vget_low_u32(a), vget_high_u32(a));
  return vget_lane_u32(vpmax_u32(two, two), 0);
}

inline std::int16_t vaddlvq_s8(int8x16_t a) {
  const int64x2_t two = vpaddlq_s32(vpaddlq_s16(vpaddlq_s8(a)));
  return static_cast<std::int16_t>(vgetq_lane_s64(two, 0) + vgetq_lane_s64(two, 1));
}

inline int32x4_t vpaddq_s32(int32x4_t a, int32x4_t b) {
  return vcombine_s32(vpadd_s32(vget_low_s32(a), vget_high_s32(a)), vpadd_s32(vget_low_s32(b), vget_high_s32(b)));
}

inline int16x8_t vmull_high_s8(int8x16_t a, int8x16_t b) { return vmull_s8(vget_high_s8(a), vget_high_s8(b)); }
inline int16x8_t vmlal_high_s8(int16x8_t c, int8x16_t a, int8x16_t b) {
  return vmlal_s8(c, vget_high_s8(a), vget_high_s8(b));
}

// Not by a[lane], which goes by way of a core register.
inline int32x4_t vdupq_laneq_s32(int32x4_t a, int lane) {
  const int32x2_t half = lane < 2 ? vget_low_s32(a) : vget_high_s32(a);
  return lane % 2 == 0 ? vdupq_lane_s32(half, 0) : vdupq_lane_s32(half, 1);
}

}  // namespace
}  // namespace minnow
