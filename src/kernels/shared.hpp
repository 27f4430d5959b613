// What the vector tables of one architecture share: everything but the products of int8. Declared for each table,
// defined once, in the file of the smallest instruction set (kernels_avx2.cpp, kernels_neon.cpp, kernels_armv7.cpp);
// not inline, so that the linker never has a choice between copies. Depends on kernels.hpp.
#pragma once

#include "kernels/kernels.hpp"

namespace minnow {
namespace shared {

void matmul_f32(const MatmulArgs& args);
void matmul_f16(const MatmulArgs& args);
void quantise(const float* x, std::uint32_t groups, std::int8_t* q, float* scale, std::int32_t* sum);
void layer_norm(const float* x, const float* weight_or_null, const float* bias_or_null, std::uint32_t n, float eps,
                float* y);
void add(float* x, const float* y, std::uint32_t n);
void gelu_erf(float* x, std::uint32_t n);
void gelu_tanh(float* x, std::uint32_t n);
void to_half(const float* x, std::uint32_t n, Half* out);
void attention_scores_f32(const ScoreArgs& args);
void attention_scores_f16(const ScoreArgs& args);
float softmax_tile(float* s, std::uint32_t count, float* m, float* l);
void attention_mix_f32(const MixArgs& args);
void attention_mix_f16(const MixArgs& args);
void rms_norm(const float* x, const float* weight_or_null, std::uint32_t n, float eps, float* y);
void relu(float* x, std::uint32_t n);
void relu_squared(float* x, std::uint32_t n);
void silu_gate(float* x, const float* gate, std::uint32_t n);
void softcap(float* x, std::uint32_t n, float limit);
void rotate_adjacent(float* x, const float* cos, const float* sin, std::uint32_t pairs);
void rotate_halves(float* x, const float* cos, const float* sin, std::uint32_t pairs);

}  // namespace shared

namespace {

// The whole table, for one way to sum int8 products.
constexpr Kernels vector_table(Isa isa, const char* name, void (*matmul_q8)(const MatmulArgs& args),
                               void (*matmul_q4)(const MatmulArgs& args)) {
  using namespace shared;
  return {
      isa,
      name,
      {matmul_f32, matmul_f16, matmul_q8, matmul_q4},
      quantise,
      layer_norm,
      add,
      gelu_erf,
      gelu_tanh,
      to_half,
      {attention_scores_f32, attention_scores_f16},
      softmax_tile,
      {attention_mix_f32, attention_mix_f16},
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
