// What each tensor of a model file is called, which shape a config gives it, and how many bytes it takes.
// The validator, the converter and the session's weights all ask here. Depends on kernels/layout.hpp and format.hpp.
#pragma once

#include "kernels/layout.hpp"
#include "model/format.hpp"

namespace minnow {

// No dimension of a model is larger. Keeps sums of a few dimensions inside 32 bits.
inline constexpr std::uint32_t kMaxDimension = 1u << 28;

enum class Presence { forbidden, optional, required };

struct TensorSpec {
  const char* name;    // nanoGPT's, within its layer: "attn.c_attn.weight"
  bool in_layer;       // one a layer, or one a model
  bool matrix;         // stored as kernels/layout.hpp says, in any WeightType; else f32 rows padded to 8
  Presence presence;   // for this config
  std::uint64_t rows;  // for this config; exact, so it may be beyond kMaxDimension
  std::uint64_t columns;
};

// Null for a number that is no role.
const char* role_name(Role role) noexcept;

// False for a number that is no role. Exact while no dimension of `config` is above kMaxDimension.
bool tensor_spec(const Config& config, Role role, TensorSpec* out) noexcept;

// False if the type is unknown, or the size does not fit 64 bits.
bool tensor_bytes(const TensorSpec& spec, WeightType type, std::uint64_t* bytes) noexcept;

// What a converter stores a tensor as, unless it is told otherwise: matrices in the config's type, but in a q4 model
// the embedding and the output as q8, the rest f32. A file's own table says what it has.
WeightType usual_type(const Config& config, Role role, const TensorSpec& spec) noexcept;

// All roles in ascending order, for loops.
inline constexpr Role kAllRoles[] = {
    Role::wte,
    Role::wpe,
    Role::rotary_frequencies,
    Role::embed_norm_weight,
    Role::embed_norm_bias,
    Role::ln_1_weight,
    Role::ln_1_bias,
    Role::c_attn_weight,
    Role::c_attn_bias,
    Role::q_norm_weight,
    Role::k_norm_weight,
    Role::attn_c_proj_weight,
    Role::attn_c_proj_bias,
    Role::ln_2_weight,
    Role::ln_2_bias,
    Role::c_fc_weight,
    Role::c_fc_bias,
    Role::c_gate_weight,
    Role::c_gate_bias,
    Role::mlp_c_proj_weight,
    Role::mlp_c_proj_bias,
    Role::ln_f_weight,
    Role::ln_f_bias,
    Role::lm_head_weight,
    Role::lm_head_bias,
};

}  // namespace minnow
