// Attention's scores and sums of values on x86-64, for kernels_x86.hpp and kernels_vnni_evex.cpp alone: internal
// linkage, compiled with each file's own flags. `Blocks` and `Vectors` say how much of the registers a tile takes.
#pragma once

#include "kernels/kernels.hpp"
#include "kernels/vector_x86.hpp"

namespace minnow {
namespace {

// Scores of `Queries` queries with `Blocks` blocks of 8 positions, each its own chain of multiply-adds. For one query
// keys in halves are prefetched: it converts them as fast as memory delivers them, but they are 8 streams that start
// anew every tile and arrive too late on their own. Keys in floats gain nothing by it.
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

// Eight queries at a time with `Blocks` blocks; what is left is done too, or, with `LeaveRest`, left to others. Returns
// how many queries are left.
template <class Element, int Blocks, bool LeaveRest = false>
std::uint32_t attention_scores(const ScoreArgs& a) {
  const std::size_t block_bytes = std::size_t{a.head_size} * kKeyLanes * Element::kBytes;
  const std::uint32_t before = a.first_slot % kKeyLanes;  // lanes of the first block in front of first_slot
  const std::byte* const keys = static_cast<const std::byte*>(a.keys) + a.first_slot / kKeyLanes * block_bytes;
  const std::uint32_t blocks = (before + a.count + kKeyLanes - 1) / kKeyLanes;
  const float* q = a.q;
  float* out = a.out - before;
  std::uint32_t j = a.queries;
  for (; j >= 8; j -= 8, q += 8 * a.q_pitch, out += 8 * a.out_pitch) {
    score_queries<Element, 8, Blocks>(a, q, keys, blocks, out);
  }
  if constexpr (LeaveRest) return j;
  for (; j >= 4; j -= 4, q += 4 * a.q_pitch, out += 4 * a.out_pitch) {
    score_queries<Element, 4, 2>(a, q, keys, blocks, out);
  }
  for (; j > 0; --j, q += a.q_pitch, out += a.out_pitch) score_queries<Element, 1, 8>(a, q, keys, blocks, out);
  return 0;
}

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

// Eight queries at a time with `Vectors` vectors of dimensions; the rest as in attention_scores().
template <class Element, int Vectors, bool LeaveRest = false>
std::uint32_t attention_mix(const MixArgs& a) {
  const float* p = a.p;
  const float* c = a.c;
  float* o = a.o;
  std::uint32_t j = a.queries;
  for (; j >= 8; j -= 8, p += 8 * a.p_pitch, c += 8, o += 8 * a.o_pitch) {
    mix_queries<Element, 8, Vectors>(a, p, c, 0, o);
  }
  if constexpr (LeaveRest) return j;
  for (; j >= 4; j -= 4, p += 4 * a.p_pitch, c += 4, o += 4 * a.o_pitch) mix_queries<Element, 4, 2>(a, p, c, 0, o);
  for (; j > 0; --j, p += a.p_pitch, ++c, o += a.o_pitch) mix_queries<Element, 1, 8>(a, p, c, 0, o);
  return 0;
}

}  // namespace
}  // namespace minnow
