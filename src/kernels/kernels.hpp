// The contract of all arithmetic: one table of functions an instruction set, each giving the same bits. Read this page
// first, then kernels_ref.cpp, which defines every result. Plain pointers; nothing of models. Depends on base.
//
// The same bits everywhere, for finite inputs whose intermediates are no non-zero denormals:
//   - a matrix product gives each output row its own lane: a plain fused multiply-add sequence over k, ascending;
//   - int8 products are summed exactly within a group of 32, then one fused multiply-add a group;
//   - other sums use 8 lanes, element i in lane i mod 8, then the tree ((0+4)+(2+6)) + ((1+5)+(3+7));
//   - exp and erf are the polynomials of coefficients.hpp, evaluated in one order.
// Vectors of floats are padded to a multiple of 8: a kernel given n elements may read up to round_up(n, 8) and, where
// it writes, writes zeros to the padding (matmul: whatever padded rows and bias give). Pointers to floats need no
// alignment beyond 4 bytes, halves 2, weights 2.
#pragma once

#include "kernels/layout.hpp"

// Instruction sets of this build: 0 the reference, 1 also the smallest of the architecture's, 2 all of them.
#if !defined(MINNOW_SIMD)
#define MINNOW_SIMD 2
#endif

namespace minnow {

// out[t][r] = sum over k of w[r][k] * x[t][k], + bias[r] as a separate addition, for the rows of some blocks.
struct MatmulArgs {
  const std::byte* weights = nullptr;   // the whole matrix, as layout.hpp says
  const float* bias_or_null = nullptr;  // [rows padded to 8]
  std::uint32_t groups = 0;             // columns / 32, rounded up
  std::uint32_t block_begin = 0;        // blocks of 8 rows to compute: block_begin <= b < block_end
  std::uint32_t block_end = 0;
  std::uint32_t tokens = 0;
  // Input for f32 and f16 weights: [tokens][groups * 32], the padding zero.
  const float* x = nullptr;
  // Input for q8 and q4 weights, as `quantise` writes it.
  const std::int8_t* q = nullptr;     // [tokens][groups * 32], each -127 .. 127
  const float* scale = nullptr;       // [tokens][groups]
  const std::int32_t* sum = nullptr;  // [tokens][groups]: the sum of a group's 32 q
  float* out = nullptr;               // [tokens][out_pitch]; writes 8 floats at 8 * b of each token
  std::size_t out_pitch = 0;          // floats
};

// Scores of some queries of one head with consecutive slots of its cache.
struct ScoreArgs {
  const float* q = nullptr;  // [queries][q_pitch], head_size used, not padded
  std::size_t q_pitch = 0;   // floats
  std::uint32_t queries = 0;
  std::uint32_t head_size = 0;
  const void* keys = nullptr;  // of one head, [slots / 8][head_size][8]
  std::uint32_t first_slot = 0;
  std::uint32_t count = 0;
  float scale = 0;
  float* out = nullptr;  // [queries][out_pitch]
  std::size_t out_pitch = 0;
};

// Sums of the same slots' values.
struct MixArgs {
  const float* p = nullptr;  // [queries][p_pitch], count used
  std::size_t p_pitch = 0;
  const float* c = nullptr;  // [queries]
  std::uint32_t queries = 0;
  std::uint32_t head_size = 0;
  const void* values = nullptr;  // of one head, [slots][value_pitch(head_size)]
  std::uint32_t first_slot = 0;
  std::uint32_t count = 0;
  float* o = nullptr;  // [queries][o_pitch], head_size padded to 8 used
  std::size_t o_pitch = 0;
};

struct Kernels {
  Isa isa = Isa::reference;
  const char* name = "";  // "reference", "avx2", "vnni (EVEX)", ..

  // One a weight type: f32, f16, q8, q4.
  //   f32, f16:  acc = fma(w, x, acc) for k ascending from acc = +0
  //   q8, q4:    acc = fma(float(dot), weight_scale * activation_scale, acc) for groups ascending, dot exact
  void (*matmul[4])(const MatmulArgs& args) = {};

  // Quantises groups * 32 floats, 32 at a time: scale = amax / 127, q = round(x * (127 / amax)) to nearest even;
  // a group with amax < 2^-100 gets scale 0 and zeros. q [groups * 32], scale and sum [groups].
  void (*quantise)(const float* x, std::uint32_t groups, std::int8_t* q, float* scale, std::int32_t* sum) = nullptr;

  // y = (x - mean) / sqrt(variance + eps) * weight + bias over n elements (Ba et al., arXiv:1607.06450), as
  // t = (x - mean) * (1 / sqrt(variance + eps)); y = fma(t, weight, bias), or t * weight without a bias, t + bias
  // without a weight, t without both. weight and bias are padded to 8 with anything finite. y may be x.
  void (*layer_norm)(const float* x, const float* weight_or_null, const float* bias_or_null, std::uint32_t n, float eps,
                     float* y) = nullptr;

  // x += y. n elements.
  void (*add)(float* x, const float* y, std::uint32_t n) = nullptr;

  // In place (Hendrycks, Gimpel, arXiv:1606.08415). The erf form is PyTorch's default, the tanh form GPT-2's.
  //   erf:   h = 0.5 * x; fma(h, erf(x * sqrt(1/2)), h)
  //   tanh:  x / (1 + exp(-2 u)), u = sqrt(2 / pi) * (x + 0.044715 x^3), which equals 0.5 x (1 + tanh(u))
  void (*gelu_erf)(float* x, std::uint32_t n) = nullptr;
  void (*gelu_tanh)(float* x, std::uint32_t n) = nullptr;

  // n floats to halves: nearest even, saturating at +-65504. out is not padded: exactly n are written.
  void (*to_half)(const float* x, std::uint32_t n, Half* out) = nullptr;

  // Attention of some queries of one head, one tile of at most kAttentionTile positions at a time (the tile loop is in
  // session/attention.cpp, after Dao et al., arXiv:2205.14135). Index 0: f32 cache, 1: f16 cache. Every query gets the
  // bits that it gets alone.
  //
  // out[i] = scale * (fma over dims ascending from +0 of q[dim] * key[first_slot + i][dim]), 0 <= i < count.
  // May write 7 floats before and after each row of out.
  void (*attention_scores[2])(const ScoreArgs& args) = {};

  // s[count] becomes p = exp(s - m'), m' = max(*m, max of s); returns c = exp(*m - m'); then *m = m',
  // *l = fma(*l, c, sum of p). 1 <= count <= kAttentionTile; s is padded to 8. First tile: *m = -inf, *l = 0.
  float (*softmax_tile)(float* s, std::uint32_t count, float* m, float* l) = nullptr;

  // o = o * c, then for i ascending o = fma(p[i], value[first_slot + i], o).
  void (*attention_mix[2])(const MixArgs& args) = {};

  // y = x / sqrt(mean of x^2 + eps) * weight over n elements (Zhang, Sennrich, arXiv:1910.07467), as
  // t = x * (1 / sqrt(sum / n + eps)), the sum by fma in 8 lanes; y = t * weight, or t without a weight. y may be x.
  void (*rms_norm)(const float* x, const float* weight_or_null, std::uint32_t n, float eps, float* y) = nullptr;

  // In place. relu: x > 0 ? x : +0, and NaN stays NaN; relu_squared: the square of that (So et al., arXiv:2109.08668).
  void (*relu)(float* x, std::uint32_t n) = nullptr;
  void (*relu_squared)(float* x, std::uint32_t n) = nullptr;

  // x = x * (gate / (1 + exp(-gate))) (SwiGLU: Shazeer, arXiv:2002.05202).
  void (*silu_gate)(float* x, const float* gate, std::uint32_t n) = nullptr;

  // x = limit * tanh(x / limit), as a = |x / limit|, e = exp(-2 a), tanh = (1 - e) / (1 + e) with the sign of x.
  void (*softcap)(float* x, std::uint32_t n, float limit) = nullptr;

  // Rotates pairs (a, b) of one head (Su et al., arXiv:2104.09864): a' = fma(a, cos, -(b * sin)),
  // b' = fma(b, cos, a * sin). Index 0: pair i is elements 2 i and 2 i + 1; 1: elements i and pairs + i, as
  // RotaryPairing in model/format.hpp. x is not padded: exactly 2 * pairs floats are read and written.
  // cos, sin [pairs padded to 8].
  void (*rotate[2])(float* x, const float* cos, const float* sin, std::uint32_t pairs) = {};
};

// The tables that this build has and this CPU can run, in ascending order of speed; [0] is the reference.
// At most kMaxKernels. Returns how many.
inline constexpr std::size_t kMaxKernels = 8;
std::size_t available_kernels(const Kernels** out) noexcept;

// The fastest table for `isa`, or null if this build or CPU has none.
const Kernels* select_kernels(Isa isa) noexcept;

// Row `row` of a matrix as floats, x[columns], without rounding (embedding lookup).
void gather_row(const std::byte* weights, WeightType type, std::uint32_t columns, std::uint32_t row, float* x) noexcept;

}  // namespace minnow
