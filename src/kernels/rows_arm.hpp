// The Arm kernels on rows of numbers: norms, sums, activations, rotation, conversion. For kernels_arm.hpp alone.
// Same functions in the same order as rows_ref.hpp and rows_x86.hpp.
#pragma once

#include "kernels/math_arm.hpp"
#include "kernels/shared.hpp"

namespace minnow {
namespace {

// t * weight + bias for elements i .. i + 7, without what is not there.
Floats affine(Floats t, const float* weight_or_null, const float* bias_or_null, std::uint32_t i) {
  if (weight_or_null == nullptr) return bias_or_null != nullptr ? plus(t, load(bias_or_null + i)) : t;
  const Floats w = load(weight_or_null + i);
  return bias_or_null != nullptr ? fused(t, w, load(bias_or_null + i)) : times(t, w);
}

// Zeroes what is not above 0, but passes a NaN on.
float32x4_t positive(float32x4_t v) {
  return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(v), vcleq_f32(v, vdupq_n_f32(0))));
}
Floats positive(Floats v) { return {positive(v.low), positive(v.high)}; }

// (1 - exp(-2 |t|)) / (1 + exp(-2 |t|)) with the sign of t.
float32x4_t tanh4(float32x4_t t) {
  const float32x4_t one = vdupq_n_f32(1);
  const float32x4_t e = exp4(vmulq_n_f32(vabsq_f32(t), -2));
  const float32x4_t y = vdivq_f32(vsubq_f32(one, e), vaddq_f32(one, e));
  return vbslq_f32(vdupq_n_u32(0x80000000u), t, y);
}

float32x4x2_t turned(float32x4_t a, float32x4_t b, float32x4_t c, float32x4_t s) {
  return {{vfmaq_f32(vnegq_f32(vmulq_f32(b, s)), a, c), vfmaq_f32(vmulq_f32(a, s), b, c)}};
}
// One pair, where fewer than a vector are left.
void turn(float* a, float* b, float c, float s) {
  const float x = *a;
  *a = __builtin_fmaf(x, c, -(*b * s));
  *b = __builtin_fmaf(*b, c, x * s);
}

uint16x4_t saturated_half(float32x4_t x) {
  const float32x4_t limited = vmaxq_f32(vminq_f32(x, vdupq_n_f32(kHalfMax)), vdupq_n_f32(-kHalfMax));
  return vreinterpret_u16_f16(vcvt_f16_f32(limited));
}

}  // namespace

namespace shared {

void layer_norm(const float* x, const float* weight_or_null, const float* bias_or_null, std::uint32_t n, float eps,
                float* y) {
  Floats total = splat(0);
  for (std::uint32_t i = 0; i < n; i += 8) total = plus(total, keep(load(x + i), i, n));
  const Floats mean = splat(sum_tree(total) / static_cast<float>(n));
  Floats square = splat(0);
  for (std::uint32_t i = 0; i < n; i += 8) {
    const Floats d = keep(minus(load(x + i), mean), i, n);
    square = fused(d, d, square);
  }
  const float variance = sum_tree(square) / static_cast<float>(n);
  const Floats inverse = splat(1.0f / vget_lane_f32(vsqrt_f32(vdup_n_f32(variance + eps)), 0));
  for (std::uint32_t i = 0; i < n; i += 8) {
    const Floats t = times(minus(load(x + i), mean), inverse);
    store(y + i, keep(affine(t, weight_or_null, bias_or_null, i), i, n));
  }
}

void rms_norm(const float* x, const float* weight_or_null, std::uint32_t n, float eps, float* y) {
  Floats square = splat(0);
  for (std::uint32_t i = 0; i < n; i += 8) {
    const Floats v = keep(load(x + i), i, n);
    square = fused(v, v, square);
  }
  const float mean = sum_tree(square) / static_cast<float>(n);
  const Floats inverse = splat(1.0f / vget_lane_f32(vsqrt_f32(vdup_n_f32(mean + eps)), 0));
  for (std::uint32_t i = 0; i < n; i += 8) {
    store(y + i, keep(affine(times(load(x + i), inverse), weight_or_null, nullptr, i), i, n));
  }
}

void add(float* x, const float* y, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; i += 8) store(x + i, keep(plus(load(x + i), load(y + i)), i, n));
}

void gelu_erf(float* x, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; i += 8) {
    const Floats v = load(x + i);
    const Floats h = times(splat(0.5f), v);
    store(x + i, keep(fused(h, erf8(times(v, splat(kSqrtHalf))), h), i, n));
  }
}

void gelu_tanh(float* x, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; i += 8) {
    const Floats v = load(x + i);
    const Floats cubic = fused(times(times(v, v), splat(kGeluCubic)), v, v);
    const Floats divisor = plus(splat(1), exp8(times(cubic, splat(kMinusTwoSqrt2OverPi))));
    store(x + i, keep(over(v, divisor), i, n));
  }
}

void relu(float* x, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; i += 8) store(x + i, keep(positive(load(x + i)), i, n));
}

void relu_squared(float* x, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; i += 8) {
    const Floats v = positive(load(x + i));
    store(x + i, keep(times(v, v), i, n));
  }
}

void silu_gate(float* x, const float* gate, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; i += 8) {
    const Floats g = load(gate + i);
    const Floats e = exp8({vnegq_f32(g.low), vnegq_f32(g.high)});
    store(x + i, keep(times(load(x + i), over(g, plus(splat(1), e))), i, n));
  }
}

void softcap(float* x, std::uint32_t n, float limit) {
  for (std::uint32_t i = 0; i < n; i += 8) {
    const Floats t = over(load(x + i), splat(limit));
    store(x + i, keep(times(splat(limit), {tanh4(t.low), tanh4(t.high)}), i, n));
  }
}

void rotate_adjacent(float* x, const float* cos, const float* sin, std::uint32_t pairs) {
  std::uint32_t i = 0;
  for (; i + 4 <= pairs; i += 4) {
    const float32x4x2_t v = vld2q_f32(x + 2 * i);
    vst2q_f32(x + 2 * i, turned(v.val[0], v.val[1], vld1q_f32(cos + i), vld1q_f32(sin + i)));
  }
  for (; i < pairs; ++i) turn(x + 2 * i, x + 2 * i + 1, cos[i], sin[i]);
}

void rotate_halves(float* x, const float* cos, const float* sin, std::uint32_t pairs) {
  float* const y = x + pairs;
  std::uint32_t i = 0;
  for (; i + 4 <= pairs; i += 4) {
    const float32x4x2_t v = turned(vld1q_f32(x + i), vld1q_f32(y + i), vld1q_f32(cos + i), vld1q_f32(sin + i));
    vst1q_f32(x + i, v.val[0]);
    vst1q_f32(y + i, v.val[1]);
  }
  for (; i < pairs; ++i) turn(x + i, y + i, cos[i], sin[i]);
}

void to_half(const float* x, std::uint32_t n, Half* out) {
  for (std::uint32_t i = 0; i < n; i += 8) {
    const uint16x8_t h = vcombine_u16(saturated_half(vld1q_f32(x + i)), saturated_half(vld1q_f32(x + i + 4)));
    if (i + 8 <= n) {
      vst1q_u16(out + i, h);
    } else {
      Half tail[8];
      vst1q_u16(tail, h);
      for (std::uint32_t j = i; j < n; ++j) out[j] = tail[j - i];
    }
  }
}

}  // namespace shared
}  // namespace minnow
