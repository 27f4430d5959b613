// Resolves the tensor table to pointers.
#include "model/weights.hpp"

namespace minnow {
namespace {

void set_layer(Role role, const Matrix& m, LayerWeights* w) noexcept {
  const float* const vector = reinterpret_cast<const float*>(m.data);
  switch (role) {
    case Role::ln_1_weight:
      w->ln_1_weight = vector;
      break;
    case Role::ln_1_bias:
      w->ln_1_bias = vector;
      break;
    case Role::c_attn_weight:
      w->c_attn = m;
      break;
    case Role::c_attn_bias:
      w->c_attn_bias = vector;
      break;
    case Role::attn_c_proj_weight:
      w->attn_c_proj = m;
      break;
    case Role::attn_c_proj_bias:
      w->attn_c_proj_bias = vector;
      break;
    case Role::ln_2_weight:
      w->ln_2_weight = vector;
      break;
    case Role::ln_2_bias:
      w->ln_2_bias = vector;
      break;
    case Role::c_fc_weight:
      w->c_fc = m;
      break;
    case Role::c_fc_bias:
      w->c_fc_bias = vector;
      break;
    case Role::mlp_c_proj_weight:
      w->mlp_c_proj = m;
      break;
    case Role::mlp_c_proj_bias:
      w->mlp_c_proj_bias = vector;
      break;
    default:
      break;
  }
}

void set_layer_family(Role role, const Matrix& m, LayerFamilyWeights* w) noexcept {
  const float* const vector = reinterpret_cast<const float*>(m.data);
  switch (role) {
    case Role::q_norm_weight:
      w->q_norm_weight = vector;
      break;
    case Role::k_norm_weight:
      w->k_norm_weight = vector;
      break;
    case Role::c_gate_weight:
      w->c_gate = m;
      break;
    case Role::c_gate_bias:
      w->c_gate_bias = vector;
      break;
    default:
      break;
  }
}

void set_family(Role role, const Matrix& m, FamilyWeights* w) noexcept {
  const float* const vector = reinterpret_cast<const float*>(m.data);
  switch (role) {
    case Role::rotary_frequencies:
      w->rotary_frequencies = vector;
      break;
    case Role::embed_norm_weight:
      w->embed_norm_weight = vector;
      break;
    case Role::embed_norm_bias:
      w->embed_norm_bias = vector;
      break;
    case Role::lm_head_weight:
      w->lm_head = m;
      break;
    default:
      break;
  }
}

void set_model(Role role, const Matrix& m, Weights* w) noexcept {
  const float* const vector = reinterpret_cast<const float*>(m.data);
  switch (role) {
    case Role::wte:
      w->wte = m;
      break;
    case Role::wpe:
      w->wpe = vector;
      break;
    case Role::ln_f_weight:
      w->ln_f_weight = vector;
      break;
    case Role::ln_f_bias:
      w->ln_f_bias = vector;
      break;
    case Role::lm_head_bias:
      w->lm_head_bias = vector;
      break;
    default:
      break;
  }
}

}  // namespace

void resolve_weights(const ModelView& view, Weights* out) noexcept {
  LayerWeights* const layers = out->layers;
  FamilyWeights* const family = out->family;
  LayerFamilyWeights* const family_layers = out->family_layers;
  *out = Weights{};
  out->layers = layers;
  out->family = family;
  out->family_layers = family_layers;
  if (family != nullptr) *family = FamilyWeights{};
  for (std::uint32_t i = 0; i < view.config().n_layer; ++i) {
    layers[i] = LayerWeights{};
    if (family_layers != nullptr) family_layers[i] = LayerFamilyWeights{};
  }
  for (std::uint32_t i = 0; i < view.header->tensor_count; ++i) {
    const TensorEntry& entry = view.tensor(i);
    const Matrix m = {view.file + entry.offset, static_cast<WeightType>(entry.type), entry.rows, entry.columns};
    if (entry.layer == kNoLayer) {
      set_model(entry.role, m, out);
      if (family != nullptr) set_family(entry.role, m, family);
    } else {
      set_layer(entry.role, m, &layers[entry.layer]);
      if (family_layers != nullptr) set_layer_family(entry.role, m, &family_layers[entry.layer]);
    }
  }
}

}  // namespace minnow
