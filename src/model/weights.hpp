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

struct Weights {
  Matrix wte;                          // [vocab_size][n_embd], also the output matrix
  const float* wpe = nullptr;          // [block_size][n_embd padded to 8]
  const float* ln_f_weight = nullptr;  // [n_embd]
  const float* ln_f_bias = nullptr;    // [n_embd]
  LayerWeights* layers = nullptr;      // [n_layer]
};

// Fills *out and layers[n_layer].
void resolve_weights(const ModelView& view, LayerWeights* layers, Weights* out) noexcept;

}  // namespace minnow
