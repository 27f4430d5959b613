// The forward pass: token ids in, logits out. One function a stage; the arithmetic is in kernels/.
#pragma once

#include "session/state.hpp"

namespace minnow {

// Runs n tokens through all layers and into the KV cache, at positions s.ring.count .. ; leaves their residual stream
// in s.x. 1 <= n <= s.shape.batch, and the ring has room for them.
void forward(SessionState& s, const Token* tokens, std::uint32_t n) noexcept;

// The stages of forward(). The converter runs them one by one, over a model of f32 weights, and reads the inputs of
// each matrix product where they then are: s.h (of c_attn, c_gate, c_fc), s.attended and s.hidden (of the two c_proj).

// x = the n tokens embedded, for positions s.ring.count ..; for rotary positions also their angles.
void embed(SessionState& s, const Token* tokens, std::uint32_t n) noexcept;

// The attention half of one layer, for the n tokens of a pass: x += c_proj(heads(c_attn(ln_1(x)))). Writes their keys
// and values into the cache.
void attention_block(SessionState& s, std::uint32_t layer, std::uint32_t n) noexcept;

// The other half: x += c_proj(activation(c_fc(ln_2(x)))), or c_proj(c_fc(..) * silu(c_gate(..))) for the gated one.
void mlp(SessionState& s, std::uint32_t layer, std::uint32_t n) noexcept;

// Computes the logits of tokens first .. first + n - 1 of the last forward() into s.logits; 1 <= n <= kLogitRows and
// the batch. Returns how many of them are finite rows, counted from the first.
std::uint32_t compute_logits(SessionState& s, std::uint32_t first, std::uint32_t n) noexcept;

}  // namespace minnow
