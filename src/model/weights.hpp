// A model's tensors by name, resolved once from the table of an accepted file. Depends on view.hpp.
#pragma once

#include "model/view.hpp"

namespace minnow {

// A weight matrix [rows][columns], stored as kernels/layout.hpp says.
struct Matrix {
  const std::byte* data = nullptr;
  WeightType type = WeightType::f32;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
};

// Vectors are f32, padded to 8; null where the model has none.
struct LayerWeights {
  const float* ln_1_weight = nullptr;       // [n_embd]
  const float* ln_1_bias = nullptr;         // [n_embd]
  Matrix c_attn;                            // [(n_head + 2 n_kv_head) head_size][n_embd]
  const float* c_attn_bias = nullptr;       // [(n_head + 2 n_kv_head) head_size]
  Matrix attn_c_proj;                       // [n_embd][n_head head_size]
  const float* attn_c_proj_bias = nullptr;  // [n_embd]
  const float* ln_2_weight = nullptr;       // [n_embd]
  const float* ln_2_bias = nullptr;         // [n_embd]
  Matrix c_fc;                              // [n_hidden][n_embd]
  const float* c_fc_bias = nullptr;         // [n_hidden]
  Matrix mlp_c_proj;                        // [n_embd][n_hidden]
  const float* mlp_c_proj_bias = nullptr;   // [n_embd]
};

// What GPT-2 itself does not have: a session has these two only for a model that needs them.
struct LayerFamilyWeights {
  const float* q_norm_weight = nullptr;  // [head_size]
  const float* k_norm_weight = nullptr;  // [head_size]
  Matrix c_gate;                         // [n_hidden][n_embd]
  const float* c_gate_bias = nullptr;    // [n_hidden]
};
struct FamilyWeights {
  const float* rotary_frequencies = nullptr;  // [rotary_dims / 2]: radians a position, of either sign
  const float* embed_norm_weight = nullptr;   // [n_embd]
  const float* embed_norm_bias = nullptr;     // [n_embd]
  Matrix lm_head;                             // [vocab_size][n_embd]
};

struct Weights {
  Matrix wte;                                   // [vocab_size][n_embd], also the output matrix if that is tied
  const float* wpe = nullptr;                   // [block_size][n_embd padded to 8]; learned and sinusoidal positions
  const float* ln_f_weight = nullptr;           // [n_embd]
  const float* ln_f_bias = nullptr;             // [n_embd]
  const float* lm_head_bias = nullptr;          // [vocab_size]
  LayerWeights* layers = nullptr;               // [n_layer]
  FamilyWeights* family = nullptr;              // null unless family_needed()
  LayerFamilyWeights* family_layers = nullptr;  // [n_layer], or null unless layer_family_needed()
};

inline bool layer_family_needed(const Config& c) noexcept {
  return c.qk_norm != QkNorm::none || c.activation == Activation::silu_gated;
}
inline bool family_needed(const Config& c) noexcept {
  return c.positions == Positions::rotary || c.embed_norm != EmbedNorm::none || c.output == Output::separate;
}

// Fills *out and what its last three pointers point to; the caller has set these.
void resolve_weights(const ModelView& view, Weights* out) noexcept;

}  // namespace minnow
