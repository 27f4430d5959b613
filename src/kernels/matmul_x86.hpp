// Matrix products on x86-64: the vector tables differ only in how int8 products are summed (class Dot). For the
// kernels_*.cpp of x86 alone; internal linkage, compiled with each file's own flags. Same results as kernels_ref.cpp to
// the bit. The loops over blocks, tokens and vectors of a tile are unrolled by name: only then does the compiler keep
// the tile's sums in registers.
#pragma once

#include "kernels/kernels.hpp"
#include "kernels/vector_x86.hpp"

namespace minnow {
namespace {

// The sums of a tile, plus the bias. Without one -0 is added, which changes no number.
template <int Blocks, int Tokens>
void store_tile(const MatmulArgs& args, std::size_t block, std::size_t t, const __m256 (&acc)[Blocks][Tokens]) {
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) {
    const std::size_t row = (block + static_cast<std::size_t>(b)) * kBlockRows;
    const __m256 bias = args.bias_or_null != nullptr ? _mm256_loadu_ps(args.bias_or_null + row) : _mm256_set1_ps(-0.0f);
    float* out = args.out + t * args.out_pitch + row;
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i, out += args.out_pitch) _mm256_storeu_ps(out, _mm256_add_ps(acc[b][i], bias));
  }
}

// While the tokens of a batch pass by the weights of some blocks, memory would rest: every tile asks for its share of
// the blocks that come next, a little with each group of columns, which is `Bytes` in all of its blocks.
template <std::uint32_t Bytes, std::uint32_t Tokens>
struct Ahead {
  const std::byte* from;  // these blocks
  std::size_t share;
  std::size_t at;

  Ahead(const MatmulArgs& args, const std::byte* blocks, std::size_t t)
      : from(blocks), share(Bytes * Tokens / args.tokens), at(args.groups * (Bytes + share * (t / Tokens))) {}
  void step() {
    // Of fewer tokens the tiles leave some to the next blocks' first.
    prefetch<Bytes * Tokens / kDefaultBatch>(from, at);
    at += share;
  }
};

// Blocks x Tokens outputs of 8 rows, each its own chain of multiply-adds, so that their latencies overlap.
template <class Element, int Blocks, int Tokens>
void float_tile(const MatmulArgs& args, std::size_t block, std::size_t t) {
  constexpr std::size_t kRowBytes = kBlockRows * Element::kBytes;
  const std::size_t columns = std::size_t{args.groups} * kGroupColumns;
  const std::size_t block_bytes = columns * kRowBytes;
  const std::byte* w = args.weights + block * block_bytes;
  const float* x = args.x + t * columns;
  __m256 acc[Blocks][Tokens];
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) {
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) acc[b][i] = _mm256_setzero_ps();
  }
  Ahead<Blocks * kGroupColumns * kRowBytes, Tokens> ahead(args, w, t);
  for (std::size_t k = 0; k < columns;) {
    if constexpr (Tokens > 1) ahead.step();
    for (const std::size_t end = Tokens > 1 ? k + kGroupColumns : columns; k < end; ++k, w += kRowBytes) {
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
  }
  store_tile(args, block, t, acc);
}

// Integer weights. `Dot` says how one type is summed on one instruction set:
//   Group             what one block and group is made of: 8 scales, then loads of 32 bytes
//   kTokens           tokens of a tile, as many as the registers hold sums for
//   kParts            pieces of 8 rows x 4 columns in a load: part p of load j holds columns 4 (j + p * loads) and on
//   prepare<p>(load)  the operand of part p, made once for all tokens
//   start(sum)        a group's first value, from the sum of its activations
//   step(dot, w, x)   dot + w times four columns of x, which every lane holds
//   total(dot, sum)   the finished sum, as a float a row

// One load of each block, from w on, times four columns of each token, from q on.
template <class Dot, int Part, int Blocks, int Tokens>
void load_sums(const std::byte* w, std::size_t block_bytes, const std::int8_t* q, std::size_t columns,
               __m256i (&dot)[Blocks][Tokens]) {
  typename Dot::Weights rows[Blocks];
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) {
    const std::byte* at = w + static_cast<std::size_t>(b) * block_bytes;
    rows[b] = Dot::template prepare<Part>(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
  }
#pragma GCC unroll 8
  for (int i = 0; i < Tokens; ++i) {
    std::int32_t four;
    __builtin_memcpy(&four, q + static_cast<std::size_t>(i) * columns, 4);
    const __m256i x = _mm256_set1_epi32(four);
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) {
      dot[b][i] = Dot::step(dot[b][i], rows[b], x);
      // One sum after the other, else GCC mixes and spills those of a large tile.
      if constexpr (Tokens > 1) __asm__ volatile("" : "+v"(dot[b][i]));
    }
  }
}

template <class Dot, int Part, int Blocks, int Tokens>
void part_sums(const std::byte* group, std::size_t block_bytes, const std::int8_t* q, std::size_t columns,
               __m256i (&dot)[Blocks][Tokens]) {
  constexpr std::size_t kLoads = kGroupColumns / 4 / Dot::kParts;
  const std::byte* w = group + kScaleBytes;
  q += Part * kLoads * 4;
  if constexpr (Tokens == 1) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < kLoads; ++j) load_sums<Dot, Part>(w + j * 32, block_bytes, q + j * 4, columns, dot);
  } else {
#pragma GCC unroll 1
    for (std::size_t j = 0; j < kLoads; ++j) load_sums<Dot, Part>(w + j * 32, block_bytes, q + j * 4, columns, dot);
  }
}

template <class Dot, int Blocks, int Tokens>
void int_tile(const MatmulArgs& args, std::size_t block, std::size_t t) {
  const std::size_t groups = args.groups;
  const std::size_t block_bytes = groups * sizeof(typename Dot::Group);
  const std::byte* w = args.weights + block * block_bytes;
  __m256 acc[Blocks][Tokens];
#pragma GCC unroll 8
  for (int b = 0; b < Blocks; ++b) {
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) acc[b][i] = _mm256_setzero_ps();
  }
  Ahead<Blocks * sizeof(typename Dot::Group), Tokens> ahead(args, w, t);
  for (std::size_t g = t * groups; g < (t + 1) * groups; ++g, w += sizeof(typename Dot::Group)) {
    if constexpr (Tokens > 1) ahead.step();
    __m256i dot[Blocks][Tokens];
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) {
      const __m256i start = Dot::start(args.sum[g + static_cast<std::size_t>(i) * groups]);
#pragma GCC unroll 8
      for (int b = 0; b < Blocks; ++b) dot[b][i] = start;
    }
    const std::int8_t* q = args.q + g * kGroupColumns;
    part_sums<Dot, 0, Blocks, Tokens>(w, block_bytes, q, groups * kGroupColumns, dot);
    if constexpr (Dot::kParts > 1) part_sums<Dot, 1, Blocks, Tokens>(w, block_bytes, q, groups * kGroupColumns, dot);
    __m256 weight_scale[Blocks];
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) weight_scale[b] = F16::load8(w + static_cast<std::size_t>(b) * block_bytes);
#pragma GCC unroll 8
    for (int i = 0; i < Tokens; ++i) {
      const std::size_t at = g + static_cast<std::size_t>(i) * groups;
      const __m256 scale = _mm256_broadcast_ss(args.scale + at);
#pragma GCC unroll 8
      for (int b = 0; b < Blocks; ++b) {
        const __m256 total = Dot::total(dot[b][i], args.sum[at]);
        acc[b][i] = _mm256_fmadd_ps(total, _mm256_mul_ps(weight_scale[b], scale), acc[b][i]);
      }
    }
  }
  store_tile(args, block, t, acc);
}

// Tokens from t on for `Blocks` blocks, whose weights stay in the first cache while the tokens pass: tiles of `Tokens`,
// then smaller ones.
template <class Element, int Blocks, int Tokens>
void float_strip(const MatmulArgs& args, std::size_t block, std::size_t t = 0) {
  // The last 8 as two tiles of 4: one of 2 has too few sums to hide their latency.
  const std::size_t end = Tokens == 6 && args.tokens >= 8 && args.tokens % 6 == 2 ? args.tokens - 8 : args.tokens;
  for (; t + Tokens <= end; t += Tokens) float_tile<Element, Blocks, Tokens>(args, block, t);
  if constexpr (Tokens > 1) float_strip<Element, Blocks, (Tokens > 4 ? 4 : Tokens / 2)>(args, block, t);
}
template <class Dot, int Blocks, int Tokens>
void int_strip(const MatmulArgs& args, std::size_t block, std::size_t t = 0) {
  for (; t + Tokens <= args.tokens; t += Tokens) int_tile<Dot, Blocks, Tokens>(args, block, t);
  if constexpr (Tokens > 1) int_strip<Dot, Blocks, (Tokens > 4 ? 4 : Tokens / 2)>(args, block, t);
}

template <class Element>
void matmul_float(const MatmulArgs& args) {
  std::size_t block = args.block_begin;
  if (args.tokens == 1) {
    for (; block + 8 <= args.block_end; block += 8) float_tile<Element, 8, 1>(args, block, 0);
  }
  for (; block + 2 <= args.block_end; block += 2) float_strip<Element, 2, 6>(args, block);
  for (; block < args.block_end; ++block) float_strip<Element, 1, 6>(args, block);
}

template <class Dot>
void matmul_int(const MatmulArgs& args) {
  std::size_t block = args.block_begin;
  if (args.tokens == 1) {
    for (; block + 4 <= args.block_end; block += 4) int_tile<Dot, 4, 1>(args, block, 0);
  }
  for (; block + 2 <= args.block_end; block += 2) int_strip<Dot, 2, Dot::kTokens>(args, block);
  for (; block < args.block_end; ++block) int_strip<Dot, 1, Dot::kTokens>(args, block);
}

}  // namespace
}  // namespace minnow
