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

__m256 exp8(__m256 x) {
  const __m256 limited = _mm256_min_ps(_mm256_set1_ps(kExpMax), x);  // this order passes a NaN on
  const __m256 magic = _mm256_set1_ps(kRoundMagic);
  const __m256 shifted = _mm256_fmadd_ps(limited, _mm256_set1_ps(kLog2E), magic);
  const __m256 n = _mm256_sub_ps(shifted, magic);
  __m256 r = _mm256_fmadd_ps(n, _mm256_set1_ps(-kLn2High), limited);
  r = _mm256_fmadd_ps(n, _mm256_set1_ps(-kLn2Low), r);
  __m256 p = _mm256_fmadd_ps(_mm256_set1_ps(kExp[4]), r, _mm256_set1_ps(kExp[3]));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(kExp[2]));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(kExp[1]));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(kExp[0]));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
  const __m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_castps_si256(shifted), _mm256_set1_epi32(127)), 23);
  const __m256 tiny = _mm256_cmp_ps(x, _mm256_set1_ps(kExpMin), _CMP_LT_OQ);
  return _mm256_andnot_ps(tiny, _mm256_mul_ps(p, _mm256_castsi256_ps(power)));
}

__m256 erf8(__m256 x) {
  const __m256 sign = _mm256_and_ps(x, _mm256_set1_ps(-0.0f));
  const __m256 a = _mm256_min_ps(_mm256_set1_ps(kErfMax), _mm256_xor_ps(x, sign));
  __m256 q = _mm256_fmadd_ps(_mm256_set1_ps(kErf[8]), a, _mm256_set1_ps(kErf[7]));
  for (int i = 6; i >= 0; --i) q = _mm256_fmadd_ps(q, a, _mm256_set1_ps(kErf[i]));
  return _mm256_xor_ps(_mm256_sub_ps(_mm256_set1_ps(1.0f), exp8(_mm256_mul_ps(a, q))), sign);
}

}  // namespace
}  // namespace minnow
