// The arithmetic of `minnow plan`: what a shape costs, in exact integers. Depends on model and base.
#pragma once

#include <string>

#include "model/tensors.hpp"

namespace minnow {

// Parameters as a checkpoint counts them; a tied output matrix counts once.
struct ParameterCount {
  std::uint64_t attention_block = 0;  // one layer's: c_attn and c_proj
  std::uint64_t mlp = 0;              // one layer's
  std::uint64_t norms = 0;            // all of the model's
  std::uint64_t embeddings = 0;       // tokens and positions
  std::uint64_t output = 0;           // a separate output matrix
  std::uint64_t total = 0;
  std::uint64_t weight_bytes = 0;  // of the tensors in a model file
};

// Whether a model has a tensor that is optional in its config; `layer` is kNoLayer outside of layers.
using HasTensor = bool (*)(const void* user, Role role, std::uint32_t layer);

// False if a figure does not fit 64 bits.
bool count_parameters(const Config& config, HasTensor has, const void* user, ParameterCount* out);

// What attention over `tokens` tokens takes.
struct AttentionCost {
  std::uint64_t kv_bytes_a_token = 0;
  std::uint64_t kv_bytes = 0;                // for all tokens
  std::uint64_t scores_a_head = 0;           // entries of one score matrix
  std::uint64_t scores_a_layer = 0;          // of all heads
  std::uint64_t score_matrix_f32_bytes = 0;  // one matrix, if it were stored; minnow keeps one tile of it
};

// bytes_a_value: 4 for f32 keys and values, 2 for f16. False if a figure does not fit 64 bits.
bool attention_cost(const Config& config, std::uint32_t bytes_a_value, std::uint64_t tokens, AttentionCost* out);

// Digits in groups of three: "1,050,624".
std::string grouped(std::uint64_t n);

// Bytes with a round figure for people: "13,107,200,000 bytes (12.2 GiB)".
std::string bytes_text(std::uint64_t bytes);

}  // namespace minnow
