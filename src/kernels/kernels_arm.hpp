// Everything that the Arm tables share (shared.hpp): for kernels_neon.cpp and kernels_armv7.cpp alone, compiled with
// their flags.
// Same functions in the same order as kernels_ref.cpp and kernels_x86.hpp, those on rows of numbers in rows_arm.hpp,
// the matrix products in matmul_arm.hpp.
// The loops over blocks, tokens and vectors of a tile are unrolled by name: only then does the compiler keep the tile's
// sums in registers.
#pragma once

#include "kernels/kernels.hpp"
#include "kernels/matmul_arm.hpp"
#include "kernels/rows_arm.hpp"
#include "kernels/shared.hpp"

namespace minnow {

namespace shared {
void quantise(const float* x, std::uint32_t groups, std::int8_t* q, float* scale, std::int32_t* sum) {
  const float32x4_t magic = vdupq_n_f32(kRoundMagic);
  for (std::uint32_t g = 0; g < groups; ++g, x += kGroupColumns, q += kGroupColumns) {
    float32x4_t v[8];
    uint32x4_t largest = vdupq_n_u32(0);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      v[i] = vld1q_f32(x + 4 * i);
      largest = vmaxq_u32(largest, vandq_u32(vreinterpretq_u32_f32(v[i]), vdupq_n_u32(0x7fffffffu)));
    }
    const float amax = bit_cast<float>(vmaxvq_u32(largest));
    const bool zero = amax < kQuantiseMin;
    scale[g] = zero ? 0.0f : amax / 127.0f;
    const float32x4_t inverse = vdupq_n_f32(zero ? 0.0f : 127.0f / amax);
    uint16x4_t n[8];  // the low bytes are the rounded integers
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      n[i] = vmovn_u32(vreinterpretq_u32_f32(vaddq_f32(vmulq_f32(v[i], inverse), magic)));
    }
    std::int32_t total = 0;
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 4) {
      const uint8x8_t low = vmovn_u16(vcombine_u16(n[i], n[i + 1]));
      const uint8x8_t high = vmovn_u16(vcombine_u16(n[i + 2], n[i + 3]));
      const int8x16_t bytes = vreinterpretq_s8_u8(vcombine_u8(low, high));
      vst1q_s8(q + 4 * i, bytes);
      total += vaddlvq_s8(bytes);
    }
    sum[g] = total;
  }
}
}  // namespace shared

namespace {

// Attention's tiles: so many queries beside 2 vectors of positions or dimensions, or so many vectors of one query.
constexpr std::uint32_t kQueryTile = kVectorRegisters / 8;
constexpr std::uint32_t kLoneTile = kVectorRegisters / 4;

// Scores of `Queries` queries with `Blocks` blocks of 8 positions, each its own chain of multiply-adds.
template <class Element, int Queries, int Blocks>
void score_blocks(const ScoreArgs& a, const float* q, const std::byte* keys, float* out) {
  const std::size_t block_bytes = std::size_t{a.head_size} * kKeyLanes * Element::kBytes;
  Floats acc[Queries][Blocks];
#pragma GCC unroll 8
  for (int j = 0; j < Queries; ++j) {
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) acc[j][b] = splat(0);
  }
  for (std::size_t dim = 0; dim < a.head_size; ++dim, ++q, keys += kKeyLanes * Element::kBytes) {
    float x[Queries];
#pragma GCC unroll 8
    for (int j = 0; j < Queries; ++j) x[j] = q[static_cast<std::size_t>(j) * a.q_pitch];
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) {
      const Floats key = Element::load8(keys + static_cast<std::size_t>(b) * block_bytes);
#pragma GCC unroll 8
      for (int j = 0; j < Queries; ++j) acc[j][b] = fused(key, x[j], acc[j][b]);
    }
  }
  const Floats scale = splat(a.scale);
#pragma GCC unroll 8
  for (int j = 0; j < Queries; ++j) {
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) {
      store(out + static_cast<std::size_t>(j) * a.out_pitch + 8 * b, times(acc[j][b], scale));
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
  for (; j >= kQueryTile; j -= kQueryTile, q += kQueryTile * a.q_pitch, out += kQueryTile * a.out_pitch) {
    score_queries<Element, kQueryTile, 2>(a, q, keys, blocks, out);
  }
  for (; j > 0; --j, q += a.q_pitch, out += a.out_pitch) score_queries<Element, 1, kLoneTile>(a, q, keys, blocks, out);
}

}  // namespace

namespace shared {
float softmax_tile(float* s, std::uint32_t count, float* m, float* l) {
  const Floats before = splat(*m);
  Floats largest = before;
  for (std::uint32_t i = 0; i < count; i += 8) {
    Floats v = load(s + i);
    if (i + 8 > count) v = choose(first_lanes(count - i), v, before);
    largest = {vmaxq_f32(largest.low, v.low), vmaxq_f32(largest.high, v.high)};
  }
  const float most = vmaxvq_f32(vmaxq_f32(largest.low, largest.high)) + 0.0f;
  Floats total = splat(0);
  for (std::uint32_t i = 0; i < count; i += 8) {
    const Floats p = keep(exp8(minus(load(s + i), splat(most))), i, count);
    store(s + i, p);
    total = plus(total, p);
  }
  const float c = vgetq_lane_f32(exp4(vdupq_n_f32(*m - most)), 0);
  *m = most;
  *l = __builtin_fmaf(*l, c, sum_tree(total));
  return c;
}
}  // namespace shared

namespace {

// `Vectors` x 8 dimensions of `Queries` queries.
template <class Element, int Queries, int Vectors>
void mix_dims(const MixArgs& a, const float* p, const float* c, std::uint32_t dim, float* o) {
  const std::size_t pitch_bytes = std::size_t{value_pitch(a.head_size)} * Element::kBytes;
  const std::byte* values =
      static_cast<const std::byte*>(a.values) + a.first_slot * pitch_bytes + dim * Element::kBytes;
  o += dim;
  Floats acc[Queries][Vectors];
#pragma GCC unroll 8
  for (int j = 0; j < Queries; ++j) {
    const Floats factor = splat(c[j]);
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      acc[j][v] = times(load(o + static_cast<std::size_t>(j) * a.o_pitch + 8 * v), factor);
    }
  }
  for (std::uint32_t i = 0; i < a.count; ++i, ++p, values += pitch_bytes) {
    float weight[Queries];
#pragma GCC unroll 8
    for (int j = 0; j < Queries; ++j) weight[j] = p[static_cast<std::size_t>(j) * a.p_pitch];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      const Floats value = Element::load8(values + static_cast<std::size_t>(v) * 8 * Element::kBytes);
#pragma GCC unroll 8
      for (int j = 0; j < Queries; ++j) acc[j][v] = fused(value, weight[j], acc[j][v]);
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < Queries; ++j) {
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      store(o + static_cast<std::size_t>(j) * a.o_pitch + 8 * v, acc[j][v]);
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
  for (; j >= kQueryTile; j -= kQueryTile, p += kQueryTile * a.p_pitch, c += kQueryTile, o += kQueryTile * a.o_pitch) {
    mix_queries<Element, kQueryTile, 2>(a, p, c, 0, o);
  }
  for (; j > 0; --j, p += a.p_pitch, ++c, o += a.o_pitch) mix_queries<Element, 1, kLoneTile>(a, p, c, 0, o);
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
