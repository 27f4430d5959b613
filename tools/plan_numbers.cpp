#include "tools/plan_numbers.hpp"

#include <cstdio>

#include "base/bits.hpp"

namespace minnow {
namespace {

bool is_norm(Role role) {
  switch (role) {
    case Role::embed_norm_weight:
    case Role::embed_norm_bias:
    case Role::ln_1_weight:
    case Role::ln_1_bias:
    case Role::q_norm_weight:
    case Role::k_norm_weight:
    case Role::ln_2_weight:
    case Role::ln_2_bias:
    case Role::ln_f_weight:
    case Role::ln_f_bias:
      return true;
    default:
      return false;
  }
}

// The line of the account that a role belongs to. Null: computed by the converter, no parameter.
std::uint64_t* account_of(Role role, ParameterCount* count) {
  if (is_norm(role)) return &count->norms;
  switch (role) {
    case Role::wte:
    case Role::wpe:
      return &count->embeddings;
    case Role::c_attn_weight:
    case Role::c_attn_bias:
    case Role::attn_c_proj_weight:
    case Role::attn_c_proj_bias:
      return &count->attention_block;
    case Role::c_fc_weight:
    case Role::c_fc_bias:
    case Role::c_gate_weight:
    case Role::c_gate_bias:
    case Role::mlp_c_proj_weight:
    case Role::mlp_c_proj_bias:
      return &count->mlp;
    case Role::lm_head_weight:
    case Role::lm_head_bias:
      return &count->output;
    default:
      return nullptr;
  }
}

// Adds one tensor, which stands in the model once or once a layer.
bool count_tensor(const Config& config, const TensorSpec& spec, Role role, ParameterCount* out) {
  const WeightType type = usual_type(config, role, spec);
  const std::uint64_t copies = spec.in_layer ? config.n_layer : 1;
  std::uint64_t bytes = 0;
  if (!tensor_bytes(spec, type, &bytes) || !checked_round_up(bytes, kSectionAlign, &bytes) ||
      !checked_multiply(bytes, copies, &bytes) || !checked_add(out->weight_bytes, bytes, &out->weight_bytes)) {
    return false;
  }
  std::uint64_t* const account = account_of(role, out);
  if (account == nullptr || (role == Role::wpe && config.positions != Positions::learned)) return true;
  std::uint64_t one = 0;
  std::uint64_t all = 0;
  if (!checked_multiply(spec.rows, spec.columns, &one) || !checked_multiply(one, copies, &all)) return false;
  const bool whole_model = is_norm(role);  // the other accounts of layers are of one layer
  return checked_add(*account, whole_model ? all : one, account) && checked_add(out->total, all, &out->total);
}

}  // namespace

bool count_parameters(const Config& config, HasTensor has, const void* user, ParameterCount* out) {
  ParameterCount count;
  for (const Role role : kAllRoles) {
    TensorSpec spec;
    if (!tensor_spec(config, role, &spec) || spec.presence == Presence::forbidden) continue;
    if (spec.presence == Presence::optional && !has(user, role, spec.in_layer ? 0 : kNoLayer)) continue;
    if (!count_tensor(config, spec, role, &count)) return false;
  }
  *out = count;
  return true;
}

bool attention_cost(const Config& config, std::uint32_t bytes_a_value, std::uint64_t tokens, AttentionCost* out) {
  AttentionCost cost;
  std::uint64_t heads = 0;   // of all layers
  std::uint64_t values = 0;  // one token's keys, or values
  if (!checked_multiply(config.n_layer, config.n_kv_head, &heads) ||
      !checked_multiply(heads, config.head_size, &values) ||
      !checked_multiply(values, std::uint64_t{2} * bytes_a_value, &cost.kv_bytes_a_token) ||
      !checked_multiply(cost.kv_bytes_a_token, tokens, &cost.kv_bytes) ||
      !checked_multiply(tokens, tokens, &cost.scores_a_head) ||
      !checked_multiply(cost.scores_a_head, config.n_head, &cost.scores_a_layer) ||
      !checked_multiply(cost.scores_a_head, sizeof(float), &cost.score_matrix_f32_bytes)) {
    return false;
  }
  *out = cost;
  return true;
}

std::string grouped(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string bytes_text(std::uint64_t bytes) {
  const char* const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::string text = grouped(bytes) + " bytes";
  if (bytes < 1024) return text;
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < sizeof units / sizeof units[0]; ++unit) value /= 1024;
  char round[32];
  std::snprintf(round, sizeof round, " (%.1f %s)", value, units[unit]);
  return text + round;
}

}  // namespace minnow
