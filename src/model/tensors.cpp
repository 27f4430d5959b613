// The table of roles. Depends on tensors.hpp.
#include "model/tensors.hpp"

#include "base/bits.hpp"

namespace minnow {

const char* role_name(Role role) noexcept {
  switch (role) {
    case Role::wte:
      return "wte.weight";
    case Role::wpe:
      return "wpe.weight";
    case Role::rotary_frequencies:
      return "rotary.frequencies";
    case Role::embed_norm_weight:
      return "embed_norm.weight";
    case Role::embed_norm_bias:
      return "embed_norm.bias";
    case Role::ln_1_weight:
      return "ln_1.weight";
    case Role::ln_1_bias:
      return "ln_1.bias";
    case Role::c_attn_weight:
      return "attn.c_attn.weight";
    case Role::c_attn_bias:
      return "attn.c_attn.bias";
    case Role::q_norm_weight:
      return "attn.q_norm.weight";
    case Role::k_norm_weight:
      return "attn.k_norm.weight";
    case Role::attn_c_proj_weight:
      return "attn.c_proj.weight";
    case Role::attn_c_proj_bias:
      return "attn.c_proj.bias";
    case Role::ln_2_weight:
      return "ln_2.weight";
    case Role::ln_2_bias:
      return "ln_2.bias";
    case Role::c_fc_weight:
      return "mlp.c_fc.weight";
    case Role::c_fc_bias:
      return "mlp.c_fc.bias";
    case Role::c_gate_weight:
      return "mlp.c_gate.weight";
    case Role::c_gate_bias:
      return "mlp.c_gate.bias";
    case Role::mlp_c_proj_weight:
      return "mlp.c_proj.weight";
    case Role::mlp_c_proj_bias:
      return "mlp.c_proj.bias";
    case Role::ln_f_weight:
      return "ln_f.weight";
    case Role::ln_f_bias:
      return "ln_f.bias";
    case Role::lm_head_weight:
      return "lm_head.weight";
    case Role::lm_head_bias:
      return "lm_head.bias";
  }
  return nullptr;
}

bool tensor_spec(const Config& config, Role role, TensorSpec* out) noexcept {
  const std::uint64_t embd = config.n_embd;
  const std::uint64_t head = config.head_size;
  const std::uint64_t hidden = config.n_hidden;
  const std::uint64_t qkv = (config.n_head + 2 * std::uint64_t{config.n_kv_head}) * head;
  constexpr auto required = Presence::required;
  constexpr auto optional = Presence::optional;
  const auto when = [](bool condition, Presence presence) { return condition ? presence : Presence::forbidden; };
  const bool has_table = config.positions == Positions::learned || config.positions == Positions::sinusoidal;
  const bool rotary = config.positions == Positions::rotary;
  const bool gated = config.activation == Activation::silu_gated;
  const bool norm_bias = config.norm == Norm::layer;
  const bool embed_norm = config.embed_norm != EmbedNorm::none;
  const bool qk_norm = config.qk_norm != QkNorm::none;
  const bool separate = config.output == Output::separate;

  const char* const name = role_name(role);
  if (name == nullptr) return false;
  const auto set = [&](bool in_layer, bool matrix, Presence presence, std::uint64_t rows, std::uint64_t columns) {
    *out = {name, in_layer, matrix, presence, rows, columns};
    return true;
  };
  switch (role) {
    case Role::wte:
      return set(false, true, required, config.vocab_size, embd);
    case Role::wpe:
      return set(false, false, when(has_table, required), config.block_size, embd);
    case Role::rotary_frequencies:
      return set(false, false, when(rotary, required), 1, config.rotary_dims / 2);
    case Role::embed_norm_weight:
      return set(false, false, when(embed_norm, optional), 1, embd);
    case Role::embed_norm_bias:
      return set(false, false, when(embed_norm && norm_bias, optional), 1, embd);
    case Role::ln_1_weight:
      return set(true, false, optional, 1, embd);
    case Role::ln_1_bias:
      return set(true, false, when(norm_bias, optional), 1, embd);
    case Role::c_attn_weight:
      return set(true, true, required, qkv, embd);
    case Role::c_attn_bias:
      return set(true, false, optional, 1, qkv);
    case Role::q_norm_weight:
      return set(true, false, when(qk_norm, optional), 1, head);
    case Role::k_norm_weight:
      return set(true, false, when(qk_norm, optional), 1, head);
    case Role::attn_c_proj_weight:
      return set(true, true, required, embd, config.n_head * head);
    case Role::attn_c_proj_bias:
      return set(true, false, optional, 1, embd);
    case Role::ln_2_weight:
      return set(true, false, optional, 1, embd);
    case Role::ln_2_bias:
      return set(true, false, when(norm_bias, optional), 1, embd);
    case Role::c_fc_weight:
      return set(true, true, required, hidden, embd);
    case Role::c_fc_bias:
      return set(true, false, optional, 1, hidden);
    case Role::c_gate_weight:
      return set(true, true, when(gated, required), hidden, embd);
    case Role::c_gate_bias:
      return set(true, false, when(gated, optional), 1, hidden);
    case Role::mlp_c_proj_weight:
      return set(true, true, required, embd, hidden);
    case Role::mlp_c_proj_bias:
      return set(true, false, optional, 1, embd);
    case Role::ln_f_weight:
      return set(false, false, optional, 1, embd);
    case Role::ln_f_bias:
      return set(false, false, when(norm_bias, optional), 1, embd);
    case Role::lm_head_weight:
      return set(false, true, when(separate, required), config.vocab_size, embd);
    case Role::lm_head_bias:
      return set(false, false, optional, 1, config.vocab_size);
  }
  return false;
}

WeightType usual_type(const Config& config, Role role, const TensorSpec& spec) noexcept {
  if (!spec.matrix) return WeightType::f32;
  const auto type = static_cast<WeightType>(config.weight_type);
  const bool outer = role == Role::wte || role == Role::lm_head_weight;
  return outer && type == WeightType::q4 ? WeightType::q8 : type;
}

bool tensor_bytes(const TensorSpec& spec, WeightType type, std::uint64_t* bytes) noexcept {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t total = 0;
  const std::uint32_t unit = spec.matrix ? group_bytes(type) : 8 * sizeof(float);
  if (unit == 0 || (!spec.matrix && type != WeightType::f32)) return false;
  if (!checked_round_up(spec.rows, spec.matrix ? kBlockRows : 1, &rows) ||
      !checked_round_up(spec.columns, spec.matrix ? kGroupColumns : 8, &columns)) {
    return false;
  }
  if (spec.matrix) {
    rows /= kBlockRows;
    columns /= kGroupColumns;
  } else {
    columns /= 8;
  }
  if (!checked_multiply(rows, columns, &total) || !checked_multiply(total, unit, &total)) return false;
  *bytes = total;
  return true;
}

}  // namespace minnow
