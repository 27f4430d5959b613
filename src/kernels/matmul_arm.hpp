// Matrix products on Arm: the tables differ only in how int8 products are summed (class Dot). For the kernels_*.cpp of
// Arm alone; internal linkage, compiled with each file's own flags. Same results as kernels_ref.cpp to the bit.
// The loops over blocks, tokens and vectors of a tile are unrolled by name: only then does the compiler keep the tile's
// sums in registers.
#pragma once

#include "kernels/kernels.hpp"
#include "kernels/vector_arm.hpp"

namespace minnow {
namespace {

void store_row(const MatmulArgs& args, std::size_t block, std::size_t t, Floats acc) {
  if (args.bias_or_null != nullptr) acc = plus(acc, load(args.bias_or_null + block * kBlockRows));
  store(args.out + t * args.out_pitch + block * kBlockRows, acc);
}

// acc + row of every block times element Lane of each token's x.
template <int Lane, class Element, int Blocks, int Tokens>
void add_column(const std::byte* w, std::size_t block_bytes, const float32x4_t (&x)[Tokens],
                Floats (&acc)[Blocks][Tokens]) {
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) {
    const Floats row =
        Element::load8(w + static_cast<std::size_t>(b) * block_bytes + Lane * kBlockRows * Element::kBytes);
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) {
      acc[b][i] = {vfmaq_laneq_f32(acc[b][i].low, row.low, x[i], Lane),
                   vfmaq_laneq_f32(acc[b][i].high, row.high, x[i], Lane)};
    }
  }
}

// Blocks x Tokens outputs of 8 rows, each its own chain of multiply-adds, so that their latencies overlap.
template <class Element, int Blocks, int Tokens>
void float_tile(const MatmulArgs& args, std::size_t block, std::size_t t) {
  const std::size_t columns = std::size_t{args.groups} * kGroupColumns;
  const std::size_t block_bytes = columns * kBlockRows * Element::kBytes;
  const std::byte* w = args.weights + block * block_bytes;
  const float* from = args.x + t * columns;
  Floats acc[Blocks][Tokens];
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) {
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) acc[b][i] = splat(0);
  }
  for (std::size_t k = 0; k < columns; k += 4, w += 4 * kBlockRows * Element::kBytes) {
    float32x4_t x[Tokens];
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) x[i] = vld1q_f32(from + static_cast<std::size_t>(i) * columns + k);
    add_column<0, Element>(w, block_bytes, x, acc);
    add_column<1, Element>(w, block_bytes, x, acc);
    add_column<2, Element>(w, block_bytes, x, acc);
    add_column<3, Element>(w, block_bytes, x, acc);
  }
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) {
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) {
      store_row(args, block + static_cast<std::size_t>(b), t + static_cast<std::size_t>(i), acc[b][i]);
    }
  }
}

// Two steps of weights, 8 rows x 4 columns each: rows 0 .. 3 and 4 .. 7 of the first, then of the second.
struct Steps {
  int8x16_t first_low, first_high, second_low, second_high;
};

// How the integers of a group are read: columns 16 Part + 4 Step .. 16 Part + 4 Step + 7.
struct LoadQ8 {
  using Group = Q8Group;
  template <int Part, int Step>
  static Steps load(const std::byte* group) {
    const auto* w = reinterpret_cast<const std::int8_t*>(group + kScaleBytes + (Part * 4 + Step) * 32);
    return {vld1q_s8(w), vld1q_s8(w + 16), vld1q_s8(w + 32), vld1q_s8(w + 48)};
  }
};
struct LoadQ4 {  // nibbles, 8 more than the weights
  using Group = Q4Group;
  template <int Part, int Step>
  static Steps load(const std::byte* group) {
    const auto* w = reinterpret_cast<const std::uint8_t*>(group + kScaleBytes + Step * 32);
    return {nibbles<Part>(w), nibbles<Part>(w + 16), nibbles<Part>(w + 32), nibbles<Part>(w + 48)};
  }

 private:
  template <int Part>
  static int8x16_t nibbles(const std::uint8_t* at) {
    const uint8x16_t pairs = vld1q_u8(at);
    return vreinterpretq_s8_u8(Part == 0 ? vandq_u8(pairs, vdupq_n_u8(15)) : vshrq_n_u8(pairs, 4));
  }
};

// `Dot` holds the sums of 8 rows of one token over a group; it is a LoadQ8 or LoadQ4, and has
//   kTile                 sums of a tile, as many as leave the registers room for the operands
//   add<Lane>(steps, x)   + two steps times columns 4 Lane .. 4 Lane + 7 of x
//   total(sum)            the finished sums; `sum` is that of the group's activations
template <class Dot, int Part, int Blocks, int Tokens>
void add_part(const std::byte* w, std::size_t block_bytes, const std::int8_t* q, std::size_t columns,
              Dot (&dot)[Blocks][Tokens]) {
  int8x16_t x[Tokens];
#pragma GCC unroll 8
  for (int i = 0; i < Tokens; ++i) x[i] = vld1q_s8(q + static_cast<std::size_t>(i) * columns + Part * 16);
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) {
    const std::byte* at = w + static_cast<std::size_t>(b) * block_bytes;
    const Steps near = Dot::template load<Part, 0>(at);
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) dot[b][i].template add<0>(near, x[i]);
    const Steps far = Dot::template load<Part, 2>(at);
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) dot[b][i].template add<2>(far, x[i]);
  }
}

template <class Dot, int Blocks, int Tokens>
void int_tile(const MatmulArgs& args, std::size_t block, std::size_t t) {
  const std::size_t groups = args.groups;
  const std::size_t block_bytes = groups * sizeof(typename Dot::Group);
  const std::byte* w = args.weights + block * block_bytes;
  Floats acc[Blocks][Tokens];
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) {
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) acc[b][i] = splat(0);
  }
  for (std::size_t g = t * groups; g < (t + 1) * groups; ++g, w += sizeof(typename Dot::Group)) {
    const std::int8_t* q = args.q + g * kGroupColumns;
    Dot dot[Blocks][Tokens];
    add_part<Dot, 0>(w, block_bytes, q, groups * kGroupColumns, dot);
    __asm__ volatile("" ::: "memory");  // one part after the other: both at once need more registers than there are
    add_part<Dot, 1>(w, block_bytes, q, groups * kGroupColumns, dot);
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) {
      const Floats weight_scale = F16::load8(w + static_cast<std::size_t>(b) * block_bytes);
#pragma GCC unroll 8
      for (int i = 0; i < Tokens; ++i) {
        const std::size_t at = g + static_cast<std::size_t>(i) * groups;
        acc[b][i] = fused(dot[b][i].total(args.sum[at]), times(weight_scale, splat(args.scale[at])), acc[b][i]);
      }
    }
  }
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) {
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) {
      store_row(args, block + static_cast<std::size_t>(b), t + static_cast<std::size_t>(i), acc[b][i]);
    }
  }
}

// Tokens from t on for `Blocks` blocks, whose weights stay in the first cache while the tokens pass: tiles of `Tokens`,
// then smaller ones.
template <class Element, int Blocks, int Tokens>
void float_strip(const MatmulArgs& args, std::size_t block, std::size_t t = 0) {
  for (; t + Tokens <= args.tokens; t += Tokens) float_tile<Element, Blocks, Tokens>(args, block, t);
  if constexpr (Tokens > 1) float_strip<Element, Blocks, Tokens / 2>(args, block, t);
}
template <class Dot, int Blocks, int Tokens>
void int_strip(const MatmulArgs& args, std::size_t block, std::size_t t = 0) {
  for (; t + Tokens <= args.tokens; t += Tokens) int_tile<Dot, Blocks, Tokens>(args, block, t);
  if constexpr (Tokens > 1) int_strip<Dot, Blocks, Tokens / 2>(args, block, t);
}

#if defined(__aarch64__)
constexpr int kFloatBlocks = 2;  // of a tile with 4 tokens: its sums take half of the 32 registers
#else
constexpr int kFloatBlocks = 1;
#endif

template <class Element>
void matmul_float(const MatmulArgs& args) {
  constexpr int kAlone = 4 * kFloatBlocks;
  std::size_t block = args.block_begin;
  if (args.tokens == 1) {
    for (; block + kAlone <= args.block_end; block += kAlone) float_tile<Element, kAlone, 1>(args, block, 0);
  }
  for (; block + kFloatBlocks <= args.block_end; block += kFloatBlocks)
    float_strip<Element, kFloatBlocks, 4>(args, block);
  for (; block < args.block_end; ++block) float_strip<Element, 1, 4>(args, block);
}

template <class Dot>
void matmul_int(const MatmulArgs& args) {
  constexpr int kTile = Dot::kTile;
  std::size_t block = args.block_begin;
  if (args.tokens == 1) {
    for (; block + kTile <= args.block_end; block += kTile) int_tile<Dot, kTile, 1>(args, block, 0);
  }
  for (; block < args.block_end; ++block) int_strip<Dot, 1, kTile>(args, block);
}

}  // namespace
}  // namespace minnow
