// Everything that the x86-64 vector tables share: they differ only in how four int8 products are summed (class Dot).
// For the kernels_*.cpp of x86 alone; all of it has internal linkage, compiled with each file's own flags.
// Same functions in the same order as kernels_ref.cpp and kernels_arm.hpp, those on rows of numbers in rows_x86.hpp.
// The loops over blocks, tokens and vectors of a tile are unrolled by name: only then does the compiler keep the tile's
// sums in registers.
#pragma once

#include "kernels/kernels.hpp"
#include "kernels/rows_x86.hpp"
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
