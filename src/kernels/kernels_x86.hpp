// Everything that the x86-64 vector tables share: they differ only in how four int8 products are summed (class Dot).
// For the kernels_*.cpp of x86 alone; all of it has internal linkage, compiled with each file's own flags.
// Same functions in the same order as kernels_ref.cpp and kernels_arm.hpp, those on rows of numbers in rows_x86.hpp,
// the matrix products in matmul_x86.hpp.
// The loops over blocks, tokens and vectors of a tile are unrolled by name: only then does the compiler keep the tile's
// sums in registers.
#pragma once

#include "kernels/kernels.hpp"
#include "kernels/matmul_x86.hpp"
#include "kernels/rows_x86.hpp"
#include "kernels/vector_x86.hpp"

namespace minnow {
namespace {

// Four vectors of integers within +-127 to 32 bytes in order.
__m256i narrow(__m256i a, __m256i b, __m256i c, __m256i d) {
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

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

// Scores of `Blocks` blocks of 8 positions.
template <class Element, int Blocks>
void score_blocks(const float* q, std::uint32_t head_size, const std::byte* keys, float scale, float* out) {
  const std::size_t block_bytes = std::size_t{head_size} * kKeyLanes * Element::kBytes;
  __m256 acc[Blocks];
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) acc[b] = _mm256_setzero_ps();
  for (std::size_t dim = 0; dim < head_size; ++dim, keys += kKeyLanes * Element::kBytes) {
    const __m256 x = _mm256_broadcast_ss(q + dim);
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) {
      acc[b] = _mm256_fmadd_ps(x, Element::load8(keys + static_cast<std::size_t>(b) * block_bytes), acc[b]);
    }
  }
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) _mm256_storeu_ps(out + 8 * b, _mm256_mul_ps(acc[b], _mm256_set1_ps(scale)));
}

template <class Element>
void attention_scores(const float* q, std::uint32_t head_size, const void* keys, std::uint32_t first_slot,
                      std::uint32_t count, float scale, float* out) {
  const std::size_t block_bytes = std::size_t{head_size} * kKeyLanes * Element::kBytes;
  const std::uint32_t before = first_slot % kKeyLanes;  // lanes of the first block in front of first_slot
  const std::byte* at = static_cast<const std::byte*>(keys) + first_slot / kKeyLanes * block_bytes;
  std::uint32_t blocks = (before + count + kKeyLanes - 1) / kKeyLanes;
  out -= before;
  for (; blocks >= 8; blocks -= 8, at += 8 * block_bytes, out += 64)
    score_blocks<Element, 8>(q, head_size, at, scale, out);
  if (blocks >= 4) {
    score_blocks<Element, 4>(q, head_size, at, scale, out);
    blocks -= 4, at += 4 * block_bytes, out += 32;
  }
  if (blocks >= 2) {
    score_blocks<Element, 2>(q, head_size, at, scale, out);
    blocks -= 2, at += 2 * block_bytes, out += 16;
  }
  if (blocks != 0) score_blocks<Element, 1>(q, head_size, at, scale, out);
}

float softmax_tile(float* s, std::uint32_t count, float* m, float* l) {
  __m256 largest = _mm256_set1_ps(*m);
  for (std::uint32_t i = 0; i < count; i += 8) {
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

// `Vectors` x 8 dimensions.
template <class Element, int Vectors>
void mix_dims(const float* p, const std::byte* values, std::size_t pitch_bytes, std::uint32_t count, float c,
              float* o) {
  __m256 acc[Vectors];
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) acc[v] = _mm256_mul_ps(_mm256_loadu_ps(o + 8 * v), _mm256_set1_ps(c));
  for (std::uint32_t i = 0; i < count; ++i, values += pitch_bytes) {
    const __m256 weight = _mm256_broadcast_ss(p + i);
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      acc[v] =
          _mm256_fmadd_ps(weight, Element::load8(values + static_cast<std::size_t>(v) * 8 * Element::kBytes), acc[v]);
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) _mm256_storeu_ps(o + 8 * v, acc[v]);
}

template <class Element>
void attention_mix(const float* p, const void* values, std::uint32_t head_size, std::uint32_t first_slot,
                   std::uint32_t count, float c, float* o) {
  const std::uint32_t pitch = value_pitch(head_size);
  const std::size_t pitch_bytes = pitch * Element::kBytes;
  const std::byte* at = static_cast<const std::byte*>(values) + first_slot * pitch_bytes;
  std::uint32_t dim = 0;
  for (; dim + 64 <= pitch; dim += 64)
    mix_dims<Element, 8>(p, at + dim * Element::kBytes, pitch_bytes, count, c, o + dim);
  for (; dim + 32 <= pitch; dim += 32)
    mix_dims<Element, 4>(p, at + dim * Element::kBytes, pitch_bytes, count, c, o + dim);
  for (; dim < pitch; dim += 8) mix_dims<Element, 1>(p, at + dim * Element::kBytes, pitch_bytes, count, c, o + dim);
}

// The whole table, for one way to sum int8 products.
template <class Dot>
constexpr Kernels x86_table(Isa isa, const char* name) {
  return {
      isa,
      name,
      {matmul_float<F32>, matmul_float<F16>, matmul_q8<Dot>, nullptr},
      quantise,
      layer_norm,
      add,
      gelu_erf,
      gelu_tanh,
      to_half,
      {attention_scores<F32>, attention_scores<F16>},
      softmax_tile,
      {attention_mix<F32>, attention_mix<F16>},
      rms_norm,
      relu,
      relu_squared,
      silu_gate,
      softcap,
      {rotate_adjacent, rotate_halves},
  };
}

}  // namespace
}  // namespace minnow
