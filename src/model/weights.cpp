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

}  // namespace

void resolve_weights(const ModelView& view, LayerWeights* layers, Weights* out) noexcept {
  *out = Weights{};
  out->layers = layers;
  for (std::uint32_t i = 0; i < view.config().n_layer; ++i) layers[i] = LayerWeights{};
  for (std::uint32_t i = 0; i < view.header->tensor_count; ++i) {
    const TensorEntry& entry = view.tensor(i);
    const Matrix m = {view.file + entry.offset, static_cast<WeightType>(entry.type), entry.rows, entry.columns};
    const float* const vector = reinterpret_cast<const float*>(m.data);
    switch (entry.role) {
      case Role::wte:
        out->wte = m;
        break;
      case Role::wpe:
        out->wpe = vector;
        break;
      case Role::ln_f_weight:
        out->ln_f_weight = vector;
        break;
      case Role::ln_f_bias:
        out->ln_f_bias = vector;
        break;
      default:
        if (entry.layer != kNoLayer) set_layer(entry.role, m, &layers[entry.layer]);
    }
  }
}

}  // namespace minnow
