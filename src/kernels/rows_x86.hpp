// The x86-64 kernels on rows of numbers: norms, sums, activations, rotation, conversion. For kernels_x86.hpp alone.
// Same functions in the same order as rows_ref.hpp and rows_arm.hpp.
#pragma once

#include "kernels/math_x86.hpp"
#include "kernels/shared.hpp"

namespace minnow {
namespace {

// t * weight + bias for elements i .. i + 7, without what is not there.
__m256 affine(__m256 t, const float* weight_or_null, const float* bias_or_null, std::uint32_t i) {
  if (weight_or_null == nullptr) {
    return bias_or_null != nullptr ? _mm256_add_ps(t, _mm256_loadu_ps(bias_or_null + i)) : t;
  }
  const __m256 w = _mm256_loadu_ps(weight_or_null + i);
  return bias_or_null != nullptr ? _mm256_fmadd_ps(t, w, _mm256_loadu_ps(bias_or_null + i)) : _mm256_mul_ps(t, w);
}

// Zeroes what is not above 0, but passes a NaN on.
__m256 positive(__m256 v) { return _mm256_andnot_ps(_mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_LE_OQ), v); }

// N vectors from x on.
template <int N>
void gelu_erf_of(float* x) {
  Floats<N> v;
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) v.v[i] = _mm256_loadu_ps(x + 8 * i);
  const Floats<N> e = erf8(each(v, [&](int i) { return _mm256_mul_ps(v.v[i], _mm256_set1_ps(kSqrtHalf)); }));
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    const __m256 h = _mm256_mul_ps(_mm256_set1_ps(0.5f), v.v[i]);
    _mm256_storeu_ps(x + 8 * i, _mm256_fmadd_ps(h, e.v[i], h));
  }
}

}  // namespace

namespace shared {

void layer_norm(const float* x, const float* weight_or_null, const float* bias_or_null, std::uint32_t n, float eps,
                float* y) {
  __m256 total = _mm256_setzero_ps();
  for (std::uint32_t i = 0; i < n; i += 8) total = _mm256_add_ps(total, keep(_mm256_loadu_ps(x + i), i, n));
  const __m256 mean = _mm256_set1_ps(sum_tree(total) / static_cast<float>(n));
  __m256 square = _mm256_setzero_ps();
  for (std::uint32_t i = 0; i < n; i += 8) {
    const __m256 d = keep(_mm256_sub_ps(_mm256_loadu_ps(x + i), mean), i, n);
    square = _mm256_fmadd_ps(d, d, square);
  }
  const float variance = sum_tree(square) / static_cast<float>(n);
  const __m256 inverse = _mm256_set1_ps(1.0f / first(_mm256_sqrt_ps(_mm256_set1_ps(variance + eps))));
  for (std::uint32_t i = 0; i < n; i += 8) {
    const __m256 t = _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(x + i), mean), inverse);
    const __m256 out = affine(t, weight_or_null, bias_or_null, i);
    _mm256_storeu_ps(y + i, keep(out, i, n));
  }
}

void rms_norm(const float* x, const float* weight_or_null, std::uint32_t n, float eps, float* y) {
  __m256 square = _mm256_setzero_ps();
  for (std::uint32_t i = 0; i < n; i += 8) {
    const __m256 v = keep(_mm256_loadu_ps(x + i), i, n);
    square = _mm256_fmadd_ps(v, v, square);
  }
  const float mean = sum_tree(square) / static_cast<float>(n);
  const __m256 inverse = _mm256_set1_ps(1.0f / first(_mm256_sqrt_ps(_mm256_set1_ps(mean + eps))));
  for (std::uint32_t i = 0; i < n; i += 8) {
    const __m256 t = _mm256_mul_ps(_mm256_loadu_ps(x + i), inverse);
    _mm256_storeu_ps(y + i, keep(affine(t, weight_or_null, nullptr, i), i, n));
  }
}

void add(float* x, const float* y, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; i += 8) {
    _mm256_storeu_ps(x + i, keep(_mm256_add_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i)), i, n));
  }
}

void gelu_erf(float* x, std::uint32_t n) {
  std::uint32_t i = 0;
  for (; i + 32 <= n; i += 32) gelu_erf_of<4>(x + i);
  for (; i < n; i += 8) {
    gelu_erf_of<1>(x + i);
    if (i + 8 > n) _mm256_storeu_ps(x + i, keep(_mm256_loadu_ps(x + i), i, n));
  }
}

void gelu_tanh(float* x, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; i += 8) {
    const __m256 v = _mm256_loadu_ps(x + i);
    const __m256 square = _mm256_mul_ps(_mm256_mul_ps(v, v), _mm256_set1_ps(kGeluCubic));
    const __m256 cubic = _mm256_fmadd_ps(square, v, v);
    const __m256 e = exp8(_mm256_mul_ps(cubic, _mm256_set1_ps(kMinusTwoSqrt2OverPi)));
    _mm256_storeu_ps(x + i, keep(_mm256_div_ps(v, _mm256_add_ps(_mm256_set1_ps(1.0f), e)), i, n));
  }
}

void relu(float* x, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; i += 8) _mm256_storeu_ps(x + i, keep(positive(_mm256_loadu_ps(x + i)), i, n));
}

void relu_squared(float* x, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; i += 8) {
    const __m256 v = positive(_mm256_loadu_ps(x + i));
    _mm256_storeu_ps(x + i, keep(_mm256_mul_ps(v, v), i, n));
  }
}

void silu_gate(float* x, const float* gate, std::uint32_t n) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  for (std::uint32_t i = 0; i < n; i += 8) {
    const __m256 g = _mm256_loadu_ps(gate + i);
    const __m256 silu = _mm256_div_ps(g, _mm256_add_ps(_mm256_set1_ps(1.0f), exp8(_mm256_xor_ps(g, sign))));
    _mm256_storeu_ps(x + i, keep(_mm256_mul_ps(_mm256_loadu_ps(x + i), silu), i, n));
  }
}

void softcap(float* x, std::uint32_t n, float limit) {
  const __m256 one = _mm256_set1_ps(1.0f);
  for (std::uint32_t i = 0; i < n; i += 8) {
    const __m256 t = _mm256_div_ps(_mm256_loadu_ps(x + i), _mm256_set1_ps(limit));
    const __m256 sign = _mm256_and_ps(t, _mm256_set1_ps(-0.0f));
    const __m256 e = exp8(_mm256_mul_ps(_mm256_set1_ps(-2.0f), _mm256_xor_ps(t, sign)));
    const __m256 tanh = _mm256_xor_ps(_mm256_div_ps(_mm256_sub_ps(one, e), _mm256_add_ps(one, e)), sign);
    _mm256_storeu_ps(x + i, keep(_mm256_mul_ps(_mm256_set1_ps(limit), tanh), i, n));
  }
}

// Four pairs side by side: every number is multiplied by its cosine, its partner by its sine.
void rotate_adjacent(float* x, const float* cos, const float* sin, std::uint32_t pairs) {
  const __m256i twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
  for (std::uint32_t i = 0; i < pairs; i += 4) {
    const __m256i lanes = first_lanes(pairs - i < 4 ? 2 * (pairs - i) : 8);
    const __m256 v = _mm256_maskload_ps(x + 2 * i, lanes);
    const __m256 c = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(cos + i)), twice);
    const __m256 s = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(sin + i)), twice);
    // Subtracts in even lanes, adds in odd ones.
    const __m256 turned = _mm256_fmaddsub_ps(v, c, _mm256_mul_ps(_mm256_permute_ps(v, 0xb1), s));
    _mm256_maskstore_ps(x + 2 * i, lanes, turned);
  }
}

void rotate_halves(float* x, const float* cos, const float* sin, std::uint32_t pairs) {
  for (std::uint32_t i = 0; i < pairs; i += 8) {
    const __m256i lanes = first_lanes(pairs - i < 8 ? pairs - i : 8);
    const __m256 a = _mm256_maskload_ps(x + i, lanes);
    const __m256 b = _mm256_maskload_ps(x + pairs + i, lanes);
    const __m256 c = _mm256_loadu_ps(cos + i);
    const __m256 s = _mm256_loadu_ps(sin + i);
    _mm256_maskstore_ps(x + i, lanes, _mm256_fmsub_ps(a, c, _mm256_mul_ps(b, s)));
    _mm256_maskstore_ps(x + pairs + i, lanes, _mm256_fmadd_ps(b, c, _mm256_mul_ps(a, s)));
  }
}

void to_half(const float* x, std::uint32_t n, Half* out) {
  const __m256 limit = _mm256_set1_ps(kHalfMax);
  for (std::uint32_t i = 0; i < n; i += 8) {
    __m256 v = _mm256_min_ps(limit, _mm256_loadu_ps(x + i));
    v = _mm256_max_ps(_mm256_set1_ps(-kHalfMax), v);
    const __m128i h = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    if (i + 8 <= n) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), h);
    } else {
      Half tail[8];
      _mm_storeu_si128(reinterpret_cast<__m128i*>(tail), h);
      for (std::uint32_t j = i; j < n; ++j) out[j] = tail[j - i];
    }
  }
}

}  // namespace shared
}  // namespace minnow
