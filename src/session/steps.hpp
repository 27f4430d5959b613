// The two steps that the blocks of a layer are made of: a norm, and a matrix product with what follows it.
#pragma once

#include "session/state.hpp"

namespace minnow {

// One row of n_embd numbers, by the model's kind of norm. y may be x.
inline void norm_row(const SessionState& s, const float* x, const float* weight_or_null, const float* bias_or_null,
                     float* y) noexcept {
  const Config& c = *s.config;
  if (c.norm == Norm::rms) {
    s.kernels->rms_norm(x, weight_or_null, c.n_embd, c.norm_eps, y);
  } else {
    s.kernels->layer_norm(x, weight_or_null, bias_or_null, c.n_embd, c.norm_eps, y);
  }
}

// h = norm(x), for tokens first .. first + n - 1.
void norm(SessionState& s, const float* weight_or_null, const float* bias_or_null, std::uint32_t first,
          std::uint32_t n) noexcept;

// A product and what happens to its rows right after it, while they are in the first cache, in this order.
struct Product {
  const Matrix* w = nullptr;
  const float* bias_or_null = nullptr;
  const float* input = nullptr;  // [n][columns padded to 32]
  float* out = nullptr;          // [n][out_pitch]
  std::uint32_t out_pitch = 0;
  void (*activation_or_null)(float* x, std::uint32_t n) = nullptr;
  const float* gate_or_null = nullptr;  // [n][out_pitch]: out *= silu(gate)
  float softcap = 0;                    // 0: none
  float* add_to_or_null = nullptr;      // [n][out_pitch] += out
};
void multiply(SessionState& s, const Product& p, std::uint32_t n) noexcept;

}  // namespace minnow
