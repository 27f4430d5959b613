// Matrix products on aarch64, for the table of kernels_arm.hpp: the tables differ only in how int8 products are summed
// (class Dot). Internal linkage, compiled with each file's own flags. Same results as kernels_ref.cpp to the bit.
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

// Blocks x Tokens outputs of 8 rows, each its own chain of multiply-adds, so that their latencies overlap.
template <class Element, int Blocks, int Tokens>
void float_tile(const MatmulArgs& args, std::size_t block, std::size_t t) {
  const std::size_t columns = std::size_t{args.groups} * kGroupColumns;
  const std::size_t block_bytes = columns * kBlockRows * Element::kBytes;
  const std::byte* w = args.weights + block * block_bytes;
  const float* x = args.x + t * columns;
  Floats acc[Blocks][Tokens];
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) {
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) acc[b][i] = splat(0);
  }
  for (std::size_t k = 0; k < columns; ++k, w += kBlockRows * Element::kBytes) {
    Floats row[Blocks];
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) row[b] = Element::load8(w + static_cast<std::size_t>(b) * block_bytes);
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) {
      const float xk = x[static_cast<std::size_t>(i) * columns + k];
#pragma GCC unroll 8
      for (int b = 0; b < Blocks; ++b) acc[b][i] = fused(row[b], xk, acc[b][i]);
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

// Two steps of q8 weights, 8 rows x 4 columns each: rows 0 .. 3 and 4 .. 7 of the first, then of the second.
struct Steps {
  int8x16_t first_low, first_high, second_low, second_high;
};
Steps load_steps(const std::byte* at) {
  const auto* w = reinterpret_cast<const std::int8_t*>(at);
  return {vld1q_s8(w), vld1q_s8(w + 16), vld1q_s8(w + 32), vld1q_s8(w + 48)};
}

template <class Dot, int Blocks, int Tokens>
void q8_tile(const MatmulArgs& args, std::size_t block, std::size_t t) {
  const std::size_t groups = args.groups;
  const std::size_t block_bytes = groups * sizeof(Q8Group);
  const std::byte* w = args.weights + block * block_bytes;
  Floats acc[Blocks][Tokens];
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) {
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) acc[b][i] = splat(0);
  }
  for (std::size_t g = 0; g < groups; ++g, w += sizeof(Q8Group)) {
    const std::int8_t* q = args.q + (t * groups + g) * kGroupColumns;
    const float* scale = args.scale + t * groups + g;
    Dot dot[Blocks][Tokens];
#pragma GCC unroll 1
    for (std::size_t k = 0; k < kGroupColumns; k += 16) {  // unrolled, it would need more registers than there are
      int8x16_t x[Tokens];
#pragma GCC unroll 8
      for (int i = 0; i < Tokens; ++i) x[i] = vld1q_s8(q + static_cast<std::size_t>(i) * groups * kGroupColumns + k);
#pragma GCC unroll 8
      for (int b = 0; b < Blocks; ++b) {
        const std::byte* at = w + static_cast<std::size_t>(b) * block_bytes + kScaleBytes + k * kBlockRows;
        const Steps near = load_steps(at);
#pragma GCC unroll 8
        for (int i = 0; i < Tokens; ++i) dot[b][i].template add<0>(near, x[i]);
        const Steps far = load_steps(at + 64);
#pragma GCC unroll 8
        for (int i = 0; i < Tokens; ++i) dot[b][i].template add<2>(far, x[i]);
      }
    }
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) {
      const Floats weight_scale = F16::load8(w + static_cast<std::size_t>(b) * block_bytes);
#pragma GCC unroll 8
      for (int i = 0; i < Tokens; ++i) {
        const Floats s = times(weight_scale, splat(scale[static_cast<std::size_t>(i) * groups]));
        acc[b][i] = fused(dot[b][i].total(), s, acc[b][i]);
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

// All tokens for `Blocks` blocks: their weights stay in the first cache while the tokens pass.
template <class Element, int Blocks, int Tokens>
void float_strip(const MatmulArgs& args, std::size_t block) {
  std::size_t t = 0;
  for (; t + Tokens <= args.tokens; t += Tokens) float_tile<Element, Blocks, Tokens>(args, block, t);
  for (; t < args.tokens; ++t) float_tile<Element, Blocks, 1>(args, block, t);
}
template <class Dot, int Blocks, int Tokens>
void q8_strip(const MatmulArgs& args, std::size_t block) {
  std::size_t t = 0;
  for (; t + Tokens <= args.tokens; t += Tokens) q8_tile<Dot, Blocks, Tokens>(args, block, t);
  for (; t < args.tokens; ++t) q8_tile<Dot, Blocks, 1>(args, block, t);
}

template <class Element>
void matmul_float(const MatmulArgs& args) {
  std::size_t block = args.block_begin;
  if (args.tokens == 1) {
    for (; block + 8 <= args.block_end; block += 8) float_tile<Element, 8, 1>(args, block, 0);
  }
  for (; block + 2 <= args.block_end; block += 2) float_strip<Element, 2, 4>(args, block);
  for (; block < args.block_end; ++block) float_strip<Element, 1, 4>(args, block);
}

// A tile holds Dot::kTile sums of 8 rows, as many as leave the registers room for the operands.
template <class Dot>
void matmul_q8(const MatmulArgs& args) {
  constexpr int kTile = Dot::kTile;
  std::size_t block = args.block_begin;
  if (args.tokens == 1) {
    for (; block + kTile <= args.block_end; block += kTile) q8_tile<Dot, kTile, 1>(args, block, 0);
  }
  for (; block < args.block_end; ++block) q8_strip<Dot, 1, kTile>(args, block);
}

}  // namespace
}  // namespace minnow
