// One token's, or one batch's, way through the network: embed, then for every layer attention and MLP, then the head.
#include "session/layers.hpp"

#include "base/float_mode.hpp"

#include "kernels/exact_math.hpp"
#include "session/run_jobs.hpp"
#include "session/steps.hpp"

namespace minnow {
namespace {

// x = wte[token] + wpe[position], normed if the model says so
void embed_token(SessionState& s, Token token, std::uint32_t t) noexcept {
  const Config& c = *s.config;
  float* const x = s.x + std::size_t{t} * s.widths.embd;
  gather_row(s.weights.wte.data, s.weights.wte.type, c.n_embd, static_cast<std::uint32_t>(token), x);
  if (s.weights.wpe != nullptr) {
    s.kernels->add(x, s.weights.wpe + std::size_t{s.ring.count + t} * round_up(c.n_embd, 8u), c.n_embd);
  }
  if (c.embed_norm != EmbedNorm::none) {
    norm_row(s, x, s.weights.family->embed_norm_weight, s.weights.family->embed_norm_bias, x);
  }
}

// The angles by which every head of a token is turned: frequency times position.
void compute_rotation(SessionState& s, std::uint32_t t) noexcept {
  float* const cos = s.rotation + std::size_t{t} * 2 * s.widths.rotation;
  float* const sin = cos + s.widths.rotation;
  const double position = s.ring.count + t;
  for (std::uint32_t i = 0; i < s.config->rotary_dims / 2; ++i) {
    double sine = 0;
    double cosine = 0;
    sincos_f64(static_cast<double>(s.weights.family->rotary_frequencies[i]) * position, &sine, &cosine);
    cos[i] = static_cast<float>(cosine);
    sin[i] = static_cast<float>(sine);
  }
}

// Null for a gated activation, which is not a function of one number.
auto activation_of(const Kernels& kernels, Activation activation) noexcept {
  switch (activation) {
    case Activation::gelu_erf:
      return kernels.gelu_erf;
    case Activation::gelu_tanh:
      return kernels.gelu_tanh;
    case Activation::relu:
      return kernels.relu;
    case Activation::relu_squared:
      return kernels.relu_squared;
    case Activation::silu_gated:
      break;
  }
  return decltype(kernels.gelu_erf){};
}

// x [n padded to 8], the padding finite. Adding one to an exponent of all ones carries into the sign.
bool all_finite(const float* x, std::uint32_t n) noexcept {
  std::uint32_t carries[8] = {};
  for (std::uint32_t i = 0; i < n; i += 8) {
    for (std::uint32_t lane = 0; lane < 8; ++lane) {
      carries[lane] |= (bit_cast<std::uint32_t>(x[i + lane]) & 0x7f800000u) + 0x00800000u;
    }
  }
  std::uint32_t any = 0;
  for (const std::uint32_t carry : carries) any |= carry;
  return (any & 0x80000000u) == 0;
}

}  // namespace

void embed(SessionState& s, const Token* tokens, std::uint32_t n) noexcept {
  for_parts(s, n, token_jobs(s, n, s.widths.embd), [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t t = begin; t < end; ++t) {
      embed_token(s, tokens[t], t);
      if (s.config->positions == Positions::rotary) compute_rotation(s, t);
    }
  });
}

void mlp(SessionState& s, std::uint32_t layer, std::uint32_t n) noexcept {
  const LayerWeights& w = s.weights.layers[layer];
  const Matrix* const c_gate =
      s.config->activation == Activation::silu_gated ? &s.weights.family_layers[layer].c_gate : nullptr;
  const bool quantise = is_quantised(w.c_fc) || (c_gate != nullptr && is_quantised(*c_gate));
  norm(s, {w.ln_2_weight, w.ln_2_bias, quantise}, 0, n);

  if (c_gate != nullptr) {
    Product gate;
    gate.w = c_gate;
    gate.bias_or_null = s.weights.family_layers[layer].c_gate_bias;
    gate.input = s.h;
    gate.q_input = s.q_input;
    gate.out = s.gate;
    gate.out_pitch = s.widths.hidden;
    multiply(s, gate, n);
  }
  Product up;
  up.w = &w.c_fc;
  up.bias_or_null = w.c_fc_bias;
  up.input = s.h;
  up.q_input = s.q_input;
  up.out = s.hidden;
  up.out_pitch = s.widths.hidden;
  up.activation_or_null = activation_of(*s.kernels, s.config->activation);
  up.gate_or_null = c_gate != nullptr ? s.gate : nullptr;
  if (is_quantised(w.mlp_c_proj)) up.quantise_to = s.q_hidden;
  multiply(s, up, n);

  Product down;
  down.w = &w.mlp_c_proj;
  down.bias_or_null = w.mlp_c_proj_bias;
  down.input = s.hidden;
  down.q_input = s.q_hidden;
  down.out = s.y;
  down.out_pitch = s.widths.embd;
  down.add_to_or_null = s.x;
  multiply(s, down, n);
}

void forward(SessionState& s, const Token* tokens, std::uint32_t n) noexcept {
  const FloatMode mode;
  embed(s, tokens, n);
  for (std::uint32_t layer = 0; layer < s.config->n_layer; ++layer) {
    attention_block(s, layer, n);
    mlp(s, layer, n);
  }
  for (std::uint32_t t = 0; t < n; ++t) s.tokens[s.ring.slot(s.ring.count + t)] = tokens[t];
  s.ring.count += n;
  s.last_pass = n;
  s.has_logits = false;
}

std::uint32_t compute_logits(SessionState& s, std::uint32_t first, std::uint32_t n) noexcept {
  const FloatMode mode;
  Product head;
  head.w = s.config->output == Output::separate ? &s.weights.family->lm_head : &s.weights.wte;
  norm(s, {s.weights.ln_f_weight, s.weights.ln_f_bias, is_quantised(*head.w)}, first, n);
  head.bias_or_null = s.weights.lm_head_bias;
  head.input = s.h + std::size_t{first} * s.widths.embd;
  head.q_input = s.q_input;
  head.out = s.logits;
  head.out_pitch = s.widths.logits;
  head.softcap = s.config->logit_softcap;
  multiply(s, head, n);
  for (std::uint32_t t = 0; t < n; ++t) {
    if (!all_finite(s.logits + std::size_t{t} * s.widths.logits, s.config->vocab_size)) return t;
  }
  return n;
}

}  // namespace minnow
