// Everything that the x86-64 vector tables share (shared.hpp): for kernels_avx2.cpp alone, compiled with its flags.
// Same functions in the same order as kernels_ref.cpp and kernels_arm.hpp, those on rows of numbers in rows_x86.hpp,
// the matrix products in matmul_x86.hpp, attention in attention_x86.hpp.
// The loops over blocks, tokens and vectors of a tile are unrolled by name: only then does the compiler keep the tile's
// sums in registers.
#pragma once

#include "kernels/attention_x86.hpp"
#include "kernels/kernels.hpp"
#include "kernels/matmul_x86.hpp"
#include "kernels/rows_x86.hpp"
#include "kernels/shared.hpp"

namespace minnow {
namespace {

// Four vectors of integers within +-127 to 32 bytes in order.
__m256i narrow(__m256i a, __m256i b, __m256i c, __m256i d) {
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

}  // namespace

namespace shared {
void quantise(const float* x, std::uint32_t groups, std::int8_t* q, float* scale, std::int32_t* sum) {
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
  const __m256 magic = _mm256_set1_ps(kRoundMagic);
  for (std::uint32_t g = 0; g < groups; ++g, x += kGroupColumns, q += kGroupColumns) {
    __m256 v[4];
    __m256i largest = _mm256_setzero_si256();
    for (int i = 0; i < 4; ++i) {
      v[i] = _mm256_loadu_ps(x + 8 * i);
      largest = _mm256_max_epi32(largest, _mm256_and_si256(_mm256_castps_si256(v[i]), magnitude));
    }
    __m128i m = _mm_max_epi32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
    const float amax = _mm_cvtss_f32(_mm_castsi128_ps(m));
    const bool zero = amax < kQuantiseMin;
    scale[g] = zero ? 0.0f : amax / 127.0f;
    const __m256 inverse = _mm256_set1_ps(zero ? 0.0f : 127.0f / amax);
    __m256i n[4];
    __m256i total = _mm256_setzero_si256();
    for (int i = 0; i < 4; ++i) {
      const __m256 shifted = _mm256_add_ps(_mm256_mul_ps(v[i], inverse), magic);
      // The low byte of the bits, its sign extended.
      n[i] = _mm256_srai_epi32(_mm256_slli_epi32(_mm256_castps_si256(shifted), 24), 24);
      total = _mm256_add_epi32(total, n[i]);
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(q), narrow(n[0], n[1], n[2], n[3]));
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
    sum[g] = _mm_cvtsi128_si32(s);
  }
}

float softmax_tile(float* s, std::uint32_t count, float* m, float* l) {
  __m256 largest = _mm256_set1_ps(*m);
  __m256 other = largest;  // every second vector's, so that half of them wait for one another
  std::uint32_t begin = 0;
  for (; begin + 16 <= count; begin += 16) {
    largest = _mm256_max_ps(_mm256_loadu_ps(s + begin), largest);
    other = _mm256_max_ps(_mm256_loadu_ps(s + begin + 8), other);
  }
  largest = _mm256_max_ps(other, largest);
  for (std::uint32_t i = begin; i < count; i += 8) {
    __m256 v = _mm256_loadu_ps(s + i);
    if (i + 8 > count) v = _mm256_blendv_ps(largest, v, _mm256_castsi256_ps(first_lanes(count - i)));
    largest = _mm256_max_ps(v, largest);
  }
  largest = _mm256_max_ps(largest, _mm256_permute2f128_ps(largest, largest, 1));
  largest = _mm256_max_ps(largest, _mm256_permute_ps(largest, 0x4e));
  largest = _mm256_max_ps(largest, _mm256_permute_ps(largest, 0xb1));
  largest = _mm256_add_ps(largest, _mm256_setzero_ps());
  __m256 total = _mm256_setzero_ps();
  for (std::uint32_t i = 0; i < count; i += 8) {
    const __m256 p = keep(exp8(_mm256_sub_ps(_mm256_loadu_ps(s + i), largest)), i, count);
    _mm256_storeu_ps(s + i, p);
    total = _mm256_add_ps(total, p);
  }
  const float c = first(exp8(_mm256_sub_ps(_mm256_set1_ps(*m), largest)));
  *m = first(largest);
  *l = first(_mm256_fmadd_ps(_mm256_set1_ps(*l), _mm256_set1_ps(c), _mm256_set1_ps(sum_tree(total))));
  return c;
}

void matmul_f32(const MatmulArgs& args) { matmul_float<F32>(args); }
void matmul_f16(const MatmulArgs& args) { matmul_float<F16>(args); }
void attention_scores_f32(const ScoreArgs& args) { attention_scores<F32, 1>(args); }
void attention_scores_f16(const ScoreArgs& args) { attention_scores<F16, 1>(args); }
void attention_mix_f32(const MixArgs& args) { attention_mix<F32, 1>(args); }
void attention_mix_f16(const MixArgs& args) { attention_mix<F16, 1>(args); }
}  // namespace shared

}  // namespace minnow
