// The two steps that the blocks of a layer are made of: a norm, and a matrix product with what follows it.
#pragma once

#include "session/run_jobs.hpp"

namespace minnow {

constexpr bool is_quantised(const Matrix& m) noexcept { return is_quantised(m.type); }

// Jobs for a step that does a few operations with each of `width` numbers of n tokens.
inline std::uint32_t token_jobs(const SessionState& s, std::uint32_t n, std::uint32_t width) noexcept {
  return worthwhile_jobs(std::uint64_t{n} * width * 64, s.shape.workers, 1);
}

// Quantises `groups` groups of 32 numbers x to where element `at` of `out` begins, at a multiple of 32.
inline void quantise_at(const SessionState& s, const float* x, std::size_t at, std::uint32_t groups,
                        const Quantised& out) noexcept {
  const std::size_t group = at / kGroupColumns;
  s.kernels->quantise(x, groups, out.q + at, out.scale + group, out.sum + group);
}

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

// h = norm(x) for tokens first .. first + n - 1; quantised too, into q_input from its first row on, if asked.
struct Norming {
  const float* weight_or_null = nullptr;
  const float* bias_or_null = nullptr;
  bool quantise = false;
};
void norm(SessionState& s, const Norming& norming, std::uint32_t first, std::uint32_t n) noexcept;

// A product and what happens to its rows right after it, while they are in the first cache, in this order.
struct Product {
  const Matrix* w = nullptr;
  const float* bias_or_null = nullptr;
  const float* input = nullptr;  // [n][columns padded to 32]
  Quantised q_input;             // the same, for weights that are quantised
  float* out = nullptr;          // [n][out_pitch]
  std::uint32_t out_pitch = 0;
  void (*activation_or_null)(float* x, std::uint32_t n) = nullptr;
  const float* gate_or_null = nullptr;  // [n][out_pitch]: out *= silu(gate)
  float softcap = 0;                    // 0: none
  float* add_to_or_null = nullptr;      // [n][out_pitch] += out
  Quantised quantise_to;                // unless null: out quantised, [n][out_pitch]; out_pitch is a multiple of 32
};
void multiply(SessionState& s, const Product& p, std::uint32_t n) noexcept;

}  // namespace minnow
