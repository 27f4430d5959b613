// Matrix products on x86-64, for the table of kernels_x86.hpp: the vector tables differ only in how int8 products are
// summed (class Dot). Internal linkage, compiled with each file's own flags. Same results as kernels_ref.cpp to the bit.
// The loops over blocks, tokens and vectors of a tile are unrolled by name: only then does the compiler keep the tile's
// sums in registers.
#pragma once

#include "kernels/kernels.hpp"
#include "kernels/vector_x86.hpp"

namespace minnow {
namespace {

void store_row(const MatmulArgs& args, std::size_t block, std::size_t t, __m256 acc) {
  if (args.bias_or_null != nullptr) acc = _mm256_add_ps(acc, _mm256_loadu_ps(args.bias_or_null + block * kBlockRows));
  _mm256_storeu_ps(args.out + t * args.out_pitch + block * kBlockRows, acc);
}

// Blocks x Tokens outputs of 8 rows, each its own chain of multiply-adds, so that their latencies overlap.
template <class Element, int Blocks, int Tokens>
void float_tile(const MatmulArgs& args, std::size_t block, std::size_t t) {
  const std::size_t columns = std::size_t{args.groups} * kGroupColumns;
  const std::size_t block_bytes = columns * kBlockRows * Element::kBytes;
  const std::byte* w = args.weights + block * block_bytes;
  const float* x = args.x + t * columns;
  __m256 acc[Blocks][Tokens];
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) {
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) acc[b][i] = _mm256_setzero_ps();
  }
  for (std::size_t k = 0; k < columns; ++k, w += kBlockRows * Element::kBytes) {
    __m256 row[Blocks];
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) row[b] = Element::load8(w + static_cast<std::size_t>(b) * block_bytes);
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) {
      const __m256 xk = _mm256_broadcast_ss(x + static_cast<std::size_t>(i) * columns + k);
#pragma GCC unroll 8
      for (int b = 0; b < Blocks; ++b) acc[b][i] = _mm256_fmadd_ps(row[b], xk, acc[b][i]);
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

template <class Dot, int Blocks, int Tokens>
void q8_tile(const MatmulArgs& args, std::size_t block, std::size_t t) {
  const std::size_t groups = args.groups;
  const std::size_t block_bytes = groups * sizeof(Q8Group);
  const std::byte* w = args.weights + block * block_bytes;
  __m256 acc[Blocks][Tokens];
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) {
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) acc[b][i] = _mm256_setzero_ps();
  }
  for (std::size_t g = 0; g < groups; ++g, w += sizeof(Q8Group)) {
    const std::int8_t* q = args.q + (t * groups + g) * kGroupColumns;
    const float* scale = args.scale + t * groups + g;
    const std::int32_t* sum = args.sum + t * groups + g;
    __m256i dot[Blocks][Tokens];
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) {
      const __m256i start = Dot::start(sum[static_cast<std::size_t>(i) * groups]);
#pragma GCC unroll 8
      for (int b = 0; b < Blocks; ++b) dot[b][i] = start;
    }
    for (std::size_t j = 0; j < kGroupColumns / 4; ++j) {
      __m256i rows[Blocks];
#pragma GCC unroll 8
      for (int b = 0; b < Blocks; ++b) {
        const std::byte* at = w + static_cast<std::size_t>(b) * block_bytes + kScaleBytes + j * 32;
        rows[b] = Dot::prepare(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
      }
#pragma GCC unroll 8
      for (int i = 0; i < Tokens; ++i) {
        std::int32_t four;  // columns 4j .. 4j + 3 of one token
        __builtin_memcpy(&four, q + static_cast<std::size_t>(i) * groups * kGroupColumns + j * 4, 4);
        const __m256i x = _mm256_set1_epi32(four);
#pragma GCC unroll 8
        for (int b = 0; b < Blocks; ++b) dot[b][i] = Dot::step(dot[b][i], rows[b], x);
      }
    }
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) {
      const std::byte* at = w + static_cast<std::size_t>(b) * block_bytes;
      const __m256 weight_scale = F16::load8(at);
#pragma GCC unroll 8
      for (int i = 0; i < Tokens; ++i) {
        const __m256 s = _mm256_mul_ps(weight_scale, _mm256_broadcast_ss(scale + static_cast<std::size_t>(i) * groups));
        acc[b][i] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot[b][i]), s, acc[b][i]);
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

template <class Dot>
void matmul_q8(const MatmulArgs& args) {
  std::size_t block = args.block_begin;
  if (args.tokens == 1) {
    for (; block + 4 <= args.block_end; block += 4) q8_tile<Dot, 4, 1>(args, block, 0);
  }
  for (; block + 2 <= args.block_end; block += 2) q8_strip<Dot, 2, 4>(args, block);
  for (; block < args.block_end; ++block) q8_strip<Dot, 1, 4>(args, block);
}

}  // namespace
}  // namespace minnow
