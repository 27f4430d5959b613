// The scalar reference of the kernels on rows of numbers: norms, sums, activations, rotation, conversion. For
// kernels_ref.cpp alone. Same functions in the same order as rows_x86.hpp and rows_arm.hpp.
#pragma once

#include <cmath>

#include "kernels/exact_math.hpp"
#include "kernels/kernels.hpp"

namespace minnow {
namespace {

constexpr std::uint32_t kLanes = 8;

float sum_tree(const float* lane) noexcept {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

void zero_padding(float* x, std::uint32_t n) noexcept {
  for (std::uint32_t i = n; i < round_up(n, kLanes); ++i) x[i] = 0;
}

// t * weight + bias of element i, without what is not there.
float affine(float t, const float* weight_or_null, const float* bias_or_null, std::uint32_t i) noexcept {
  if (weight_or_null == nullptr) return bias_or_null != nullptr ? t + bias_or_null[i] : t;
  return bias_or_null != nullptr ? fused(t, weight_or_null[i], bias_or_null[i]) : t * weight_or_null[i];
}

void layer_norm(const float* x, const float* weight_or_null, const float* bias_or_null, std::uint32_t n, float eps,
                float* y) noexcept {
  float lane[kLanes] = {};
  for (std::uint32_t i = 0; i < round_up(n, kLanes); ++i) lane[i % kLanes] += i < n ? x[i] : 0.0f;
  const float mean = sum_tree(lane) / static_cast<float>(n);
  float square[kLanes] = {};
  for (std::uint32_t i = 0; i < round_up(n, kLanes); ++i) {
    const float d = i < n ? x[i] - mean : 0.0f;
    square[i % kLanes] = fused(d, d, square[i % kLanes]);
  }
  const float variance = sum_tree(square) / static_cast<float>(n);
  const float inverse = 1.0f / std::sqrt(variance + eps);
  for (std::uint32_t i = 0; i < n; ++i) {
    const float t = (x[i] - mean) * inverse;
    y[i] = affine(t, weight_or_null, bias_or_null, i);
  }
  zero_padding(y, n);
}

void rms_norm(const float* x, const float* weight_or_null, std::uint32_t n, float eps, float* y) noexcept {
  float square[kLanes] = {};
  for (std::uint32_t i = 0; i < n; ++i) square[i % kLanes] = fused(x[i], x[i], square[i % kLanes]);
  const float mean = sum_tree(square) / static_cast<float>(n);
  const float inverse = 1.0f / std::sqrt(mean + eps);
  for (std::uint32_t i = 0; i < n; ++i) y[i] = affine(x[i] * inverse, weight_or_null, nullptr, i);
  zero_padding(y, n);
}

void add(float* x, const float* y, std::uint32_t n) noexcept {
  for (std::uint32_t i = 0; i < n; ++i) x[i] += y[i];
  zero_padding(x, n);
}

// One copy of it here: inlined, it would be a tenth of the reference.
[[gnu::noinline]] float exp_once(float x) noexcept { return exp_f32(x); }

void gelu_erf(float* x, std::uint32_t n) noexcept {
  for (std::uint32_t i = 0; i < n; ++i) {
    const float h = 0.5f * x[i];
    x[i] = fused(h, erf_f32(x[i] * kSqrtHalf), h);
  }
  zero_padding(x, n);
}

void gelu_tanh(float* x, std::uint32_t n) noexcept {
  for (std::uint32_t i = 0; i < n; ++i) {
    const float cubic = fused(x[i] * x[i] * kGeluCubic, x[i], x[i]);
    x[i] = x[i] / (1.0f + exp_once(cubic * kMinusTwoSqrt2OverPi));
  }
  zero_padding(x, n);
}

// Zero for what is not above 0, but NaN for NaN.
float positive(float x) noexcept { return x <= 0 ? 0.0f : x; }

void relu(float* x, std::uint32_t n) noexcept {
  for (std::uint32_t i = 0; i < n; ++i) x[i] = positive(x[i]);
  zero_padding(x, n);
}

void relu_squared(float* x, std::uint32_t n) noexcept {
  for (std::uint32_t i = 0; i < n; ++i) x[i] = positive(x[i]) * positive(x[i]);
  zero_padding(x, n);
}

void silu_gate(float* x, const float* gate, std::uint32_t n) noexcept {
  for (std::uint32_t i = 0; i < n; ++i) x[i] *= gate[i] / (1.0f + exp_once(-gate[i]));
  zero_padding(x, n);
}

void softcap(float* x, std::uint32_t n, float limit) noexcept {
  for (std::uint32_t i = 0; i < n; ++i) {
    const float t = x[i] / limit;
    const float e = exp_once(-2.0f * std::fabs(t));
    x[i] = limit * std::copysign((1.0f - e) / (1.0f + e), t);
  }
  zero_padding(x, n);
}

// Turns the pair (a, b).
void turn(float* a, float* b, float c, float s) noexcept {
  const float x = *a;
  *a = fused(x, c, -(*b * s));
  *b = fused(*b, c, x * s);
}

void rotate_adjacent(float* x, const float* cos, const float* sin, std::uint32_t pairs) noexcept {
  for (std::uint32_t i = 0; i < pairs; ++i) turn(x + 2 * i, x + 2 * i + 1, cos[i], sin[i]);
}

void rotate_halves(float* x, const float* cos, const float* sin, std::uint32_t pairs) noexcept {
  for (std::uint32_t i = 0; i < pairs; ++i) turn(x + i, x + pairs + i, cos[i], sin[i]);
}

void to_half(const float* x, std::uint32_t n, Half* out) noexcept {
  for (std::uint32_t i = 0; i < n; ++i) out[i] = float_to_half(x[i]);
}

}  // namespace
}  // namespace minnow
