// Everything that the aarch64 tables share: they differ only in how four int8 products are summed (class Dot).
// For the kernels_*.cpp of Arm alone; all of it has internal linkage, compiled with each file's own flags.
// Same functions in the same order as kernels_ref.cpp and kernels_x86.hpp, those on rows of numbers in rows_arm.hpp,
// the matrix products in matmul_arm.hpp.
// The loops over blocks, tokens and vectors of a tile are unrolled by name: only then does the compiler keep the tile's
// sums in registers.
#pragma once

#include "kernels/kernels.hpp"
#include "kernels/matmul_arm.hpp"
#include "kernels/rows_arm.hpp"
#include "kernels/vector_arm.hpp"

namespace minnow {
namespace {

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

// Scores of `Blocks` blocks of 8 positions.
template <class Element, int Blocks>
void score_blocks(const float* q, std::uint32_t head_size, const std::byte* keys, float scale, float* out) {
  const std::size_t block_bytes = std::size_t{head_size} * kKeyLanes * Element::kBytes;
  Floats acc[Blocks];
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) acc[b] = splat(0);
  for (std::size_t dim = 0; dim < head_size; ++dim, keys += kKeyLanes * Element::kBytes) {
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) {
      acc[b] = fused(Element::load8(keys + static_cast<std::size_t>(b) * block_bytes), q[dim], acc[b]);
    }
  }
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) store(out + 8 * b, times(acc[b], splat(scale)));
}

template <class Element>
void attention_scores(const float* q, std::uint32_t head_size, const void* keys, std::uint32_t first_slot,
                      std::uint32_t count, float scale, float* out) {
  const std::size_t block_bytes = std::size_t{head_size} * kKeyLanes * Element::kBytes;
  const std::uint32_t before = first_slot % kKeyLanes;  // lanes of the first block in front of first_slot
  const std::byte* at = static_cast<const std::byte*>(keys) + first_slot / kKeyLanes * block_bytes;
  std::uint32_t blocks = (before + count + kKeyLanes - 1) / kKeyLanes;
  out -= before;
  for (; blocks >= 8; blocks -= 8, at += 8 * block_bytes, out += 64) {
    score_blocks<Element, 8>(q, head_size, at, scale, out);
  }
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

// `Vectors` x 8 dimensions.
template <class Element, int Vectors>
void mix_dims(const float* p, const std::byte* values, std::size_t pitch_bytes, std::uint32_t count, float c,
              float* o) {
  Floats acc[Vectors];
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) acc[v] = times(load(o + 8 * v), splat(c));
  for (std::uint32_t i = 0; i < count; ++i, values += pitch_bytes) {
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      acc[v] = fused(Element::load8(values + static_cast<std::size_t>(v) * 8 * Element::kBytes), p[i], acc[v]);
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) store(o + 8 * v, acc[v]);
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
constexpr Kernels arm_table(Isa isa, const char* name) {
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
