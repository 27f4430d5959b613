// Everything that the x86-64 vector tables share (shared.hpp): for kernels_avx2.cpp alone, compiled with its flags.
// Same functions in the same order as kernels_ref.cpp and kernels_arm.hpp, those on rows of numbers in rows_x86.hpp,
// the matrix products in matmul_x86.hpp.
// The loops over blocks, tokens and vectors of a tile are unrolled by name: only then does the compiler keep the tile's
// sums in registers.
#pragma once

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
}  // namespace shared

namespace {

// Scores of `Queries` queries with `Blocks` blocks of 8 positions, each its own chain of multiply-adds. One query has
// halves converted as fast as memory delivers them, but keys are 8 streams that start anew every tile, so that they
// arrive too late on their own. Floats gain nothing.
template <class Element, int Queries, int Blocks>
void score_blocks(const ScoreArgs& a, const float* q, const std::byte* keys, float* out) {
  constexpr std::size_t kRowBytes = kKeyLanes * Element::kBytes;
  const std::size_t block_bytes = std::size_t{a.head_size} * kRowBytes;
  __m256 acc[Queries][Blocks];
#pragma GCC unroll 8
  for (int j = 0; j < Queries; ++j) {
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) acc[j][b] = _mm256_setzero_ps();
  }
  for (std::size_t dim = 0; dim < a.head_size; ++dim, ++q, keys += kRowBytes) {
    // The blocks behind these, as many bytes a turn as are read here.
    if constexpr (Queries == 1 && Element::kBytes == 2)
      prefetch<Blocks * kRowBytes>(keys, Blocks * block_bytes + dim * (Blocks - 1) * kRowBytes);
    __m256 x[Queries];
#pragma GCC unroll 8
    for (int j = 0; j < Queries; ++j) x[j] = _mm256_broadcast_ss(q + static_cast<std::size_t>(j) * a.q_pitch);
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) {
      const __m256 key = Element::load8(keys + static_cast<std::size_t>(b) * block_bytes);
#pragma GCC unroll 8
      for (int j = 0; j < Queries; ++j) acc[j][b] = _mm256_fmadd_ps(x[j], key, acc[j][b]);
    }
  }
  const __m256 scale = _mm256_set1_ps(a.scale);
#pragma GCC unroll 8
  for (int j = 0; j < Queries; ++j) {
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) {
      _mm256_storeu_ps(out + static_cast<std::size_t>(j) * a.out_pitch + 8 * b, _mm256_mul_ps(acc[j][b], scale));
    }
  }
}

// All blocks that hold the slots: `Blocks` at a time, then by halves.
template <class Element, int Queries, int Blocks>
void score_queries(const ScoreArgs& a, const float* q, const std::byte* keys, std::uint32_t blocks, float* out) {
  const std::size_t block_bytes = std::size_t{a.head_size} * kKeyLanes * Element::kBytes;
  for (; blocks >= Blocks; blocks -= Blocks, keys += Blocks * block_bytes, out += Blocks * kKeyLanes) {
    score_blocks<Element, Queries, Blocks>(a, q, keys, out);
  }
  if constexpr (Blocks > 1) score_queries<Element, Queries, Blocks / 2>(a, q, keys, blocks, out);
}

template <class Element>
void attention_scores(const ScoreArgs& a) {
  const std::size_t block_bytes = std::size_t{a.head_size} * kKeyLanes * Element::kBytes;
  const std::uint32_t before = a.first_slot % kKeyLanes;  // lanes of the first block in front of first_slot
  const std::byte* const keys = static_cast<const std::byte*>(a.keys) + a.first_slot / kKeyLanes * block_bytes;
  const std::uint32_t blocks = (before + a.count + kKeyLanes - 1) / kKeyLanes;
  const float* q = a.q;
  float* out = a.out - before;
  std::uint32_t j = a.queries;
  for (; j >= 8; j -= 8, q += 8 * a.q_pitch, out += 8 * a.out_pitch) {
    score_queries<Element, 8, 1>(a, q, keys, blocks, out);
  }
  for (; j >= 4; j -= 4, q += 4 * a.q_pitch, out += 4 * a.out_pitch) {
    score_queries<Element, 4, 2>(a, q, keys, blocks, out);
  }
  for (; j > 0; --j, q += a.q_pitch, out += a.out_pitch) score_queries<Element, 1, 8>(a, q, keys, blocks, out);
}

}  // namespace

namespace shared {
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
}  // namespace shared

namespace {

// Positions by which values are asked for before they are read: 2 KiB of a head of 64 in halves.
constexpr std::size_t kValuesAhead = 16;

// `Vectors` x 8 dimensions of `Queries` queries.
template <class Element, int Queries, int Vectors>
void mix_dims(const MixArgs& a, const float* p, const float* c, std::uint32_t dim, float* o) {
  const std::size_t pitch_bytes = std::size_t{value_pitch(a.head_size)} * Element::kBytes;
  const std::byte* values =
      static_cast<const std::byte*>(a.values) + a.first_slot * pitch_bytes + dim * Element::kBytes;
  o += dim;
  __m256 acc[Queries][Vectors];
#pragma GCC unroll 8
  for (int j = 0; j < Queries; ++j) {
    const __m256 factor = _mm256_broadcast_ss(c + j);
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      acc[j][v] = _mm256_mul_ps(_mm256_loadu_ps(o + static_cast<std::size_t>(j) * a.o_pitch + 8 * v), factor);
    }
  }
  for (std::uint32_t i = 0; i < a.count; ++i, ++p, values += pitch_bytes) {
    if constexpr (Queries == 1 && Element::kBytes == 2)
      prefetch<Vectors * 8 * Element::kBytes>(values, kValuesAhead * pitch_bytes);
    __m256 weight[Queries];
#pragma GCC unroll 8
    for (int j = 0; j < Queries; ++j) weight[j] = _mm256_broadcast_ss(p + static_cast<std::size_t>(j) * a.p_pitch);
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      const __m256 value = Element::load8(values + static_cast<std::size_t>(v) * 8 * Element::kBytes);
#pragma GCC unroll 8
      for (int j = 0; j < Queries; ++j) acc[j][v] = _mm256_fmadd_ps(weight[j], value, acc[j][v]);
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < Queries; ++j) {
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      _mm256_storeu_ps(o + static_cast<std::size_t>(j) * a.o_pitch + 8 * v, acc[j][v]);
    }
  }
}

// Dimensions from `dim` on: `Vectors` x 8 at a time, then by halves.
template <class Element, int Queries, int Vectors>
void mix_queries(const MixArgs& a, const float* p, const float* c, std::uint32_t dim, float* o) {
  const std::uint32_t pitch = value_pitch(a.head_size);
  for (; dim + 8 * Vectors <= pitch; dim += 8 * Vectors) mix_dims<Element, Queries, Vectors>(a, p, c, dim, o);
  if constexpr (Vectors > 1) mix_queries<Element, Queries, Vectors / 2>(a, p, c, dim, o);
}

template <class Element>
void attention_mix(const MixArgs& a) {
  const float* p = a.p;
  const float* c = a.c;
  float* o = a.o;
  std::uint32_t j = a.queries;
  for (; j >= 8; j -= 8, p += 8 * a.p_pitch, c += 8, o += 8 * a.o_pitch) mix_queries<Element, 8, 1>(a, p, c, 0, o);
  for (; j >= 4; j -= 4, p += 4 * a.p_pitch, c += 4, o += 4 * a.o_pitch) mix_queries<Element, 4, 2>(a, p, c, 0, o);
  for (; j > 0; --j, p += a.p_pitch, ++c, o += a.o_pitch) mix_queries<Element, 1, 8>(a, p, c, 0, o);
}

}  // namespace

namespace shared {
void matmul_f32(const MatmulArgs& args) { matmul_float<F32>(args); }
void matmul_f16(const MatmulArgs& args) { matmul_float<F16>(args); }
void attention_scores_f32(const ScoreArgs& args) { attention_scores<F32>(args); }
void attention_scores_f16(const ScoreArgs& args) { attention_scores<F16>(args); }
void attention_mix_f32(const MixArgs& args) { attention_mix<F32>(args); }
void attention_mix_f16(const MixArgs& args) { attention_mix<F16>(args); }
}  // namespace shared

}  // namespace minnow
