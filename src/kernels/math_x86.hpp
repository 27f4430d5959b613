// Functions of vectors of 8 floats on x86-64: the tree of sums, lanes of a row's end, exp and erf. For kernels_x86.hpp
// alone; internal linkage.
#pragma once

#include <immintrin.h>

#include "kernels/coefficients.hpp"
#include "kernels/layout.hpp"

namespace minnow {
namespace {

float first(__m256 v) { return _mm256_cvtss_f32(v); }

// Lanes i, i + 4; then i, i + 2; then i, i + 1: the tree of kernels.hpp.
float sum_tree(__m256 v) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// All bits set in the first n lanes, n <= 8.
__m256i first_lanes(std::uint32_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// Zeroes the lanes of x from n on, where x holds elements i .. i + 7 of n.
__m256 keep(__m256 x, std::uint32_t i, std::uint32_t n) {
  return i + 8 <= n ? x : _mm256_and_ps(x, _mm256_castsi256_ps(first_lanes(n - i)));
}

// Vectors that pass a function side by side, for alone one waits for every step of its polynomial.
template <int N>
struct Floats {
  __m256 v[N];
};

// f(0), f(1), ..: as many as `like` has.
template <int N, class F>
Floats<N> each(const Floats<N>&, const F& f) {
  Floats<N> out;
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) out.v[i] = f(i);
  return out;
}

template <int N>
[[gnu::always_inline]] inline Floats<N> exp8(const Floats<N>& x) {
  const __m256 magic = _mm256_set1_ps(kRoundMagic);
  const __m256 one = _mm256_set1_ps(1.0f);
  // This order passes a NaN on.
  const auto limited = each(x, [&](int i) { return _mm256_min_ps(_mm256_set1_ps(kExpMax), x.v[i]); });
  const auto shifted = each(x, [&](int i) { return _mm256_fmadd_ps(limited.v[i], _mm256_set1_ps(kLog2E), magic); });
  const auto n = each(x, [&](int i) { return _mm256_sub_ps(shifted.v[i], magic); });
  auto r = each(x, [&](int i) { return _mm256_fmadd_ps(n.v[i], _mm256_set1_ps(-kLn2High), limited.v[i]); });
  r = each(x, [&](int i) { return _mm256_fmadd_ps(n.v[i], _mm256_set1_ps(-kLn2Low), r.v[i]); });
  auto p = each(x, [&](int i) { return _mm256_fmadd_ps(_mm256_set1_ps(kExp[4]), r.v[i], _mm256_set1_ps(kExp[3])); });
#pragma GCC unroll 8
  for (int k = 2; k >= 0; --k) {
    p = each(x, [&](int i) { return _mm256_fmadd_ps(p.v[i], r.v[i], _mm256_set1_ps(kExp[k])); });
  }
  p = each(x, [&](int i) { return _mm256_fmadd_ps(p.v[i], r.v[i], one); });
  p = each(x, [&](int i) { return _mm256_fmadd_ps(p.v[i], r.v[i], one); });
  return each(x, [&](int i) {
    const __m256i exponent = _mm256_add_epi32(_mm256_castps_si256(shifted.v[i]), _mm256_set1_epi32(127));
    const __m256 power = _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
    const __m256 tiny = _mm256_cmp_ps(x.v[i], _mm256_set1_ps(kExpMin), _CMP_LT_OQ);
    return _mm256_andnot_ps(tiny, _mm256_mul_ps(p.v[i], power));
  });
}

[[gnu::always_inline]] inline __m256 exp8(__m256 x) { return exp8(Floats<1>{{x}}).v[0]; }

template <int N>
Floats<N> erf8(const Floats<N>& x) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  const auto a = each(x, [&](int i) { return _mm256_min_ps(_mm256_set1_ps(kErfMax), _mm256_andnot_ps(sign, x.v[i])); });
  auto q = each(x, [&](int i) { return _mm256_fmadd_ps(_mm256_set1_ps(kErf[8]), a.v[i], _mm256_set1_ps(kErf[7])); });
#pragma GCC unroll 8
  for (int k = 6; k >= 0; --k) {
    q = each(x, [&](int i) { return _mm256_fmadd_ps(q.v[i], a.v[i], _mm256_set1_ps(kErf[k])); });
  }
  const auto e = exp8(each(x, [&](int i) { return _mm256_mul_ps(a.v[i], q.v[i]); }));
  return each(x, [&](int i) {
    return _mm256_xor_ps(_mm256_sub_ps(_mm256_set1_ps(1.0f), e.v[i]), _mm256_and_ps(x.v[i], sign));
  });
}

}  // namespace
}  // namespace minnow
