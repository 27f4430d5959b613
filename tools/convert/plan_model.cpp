// From a checkpoint's tensors to those of the model file. Depends on plan_config, position_tables and refusal.
#include <algorithm>
#include <cstring>

#include "tools/convert/named_settings.hpp"
#include "tools/convert/plan_config.hpp"
#include "tools/convert/position_tables.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

namespace {

class TensorPlanner {
 public:
  TensorPlanner(const Checkpoint& checkpoint, const Recognised& found, const PlanOptions& options)
      : checkpoint_(checkpoint), found_(found) {
    plan_.config = plan_config(checkpoint, found, options);
    plan_.family = found.family->name;
    plan_.counted = found.family->padded_vocabulary;
    note_choices(options);
  }

  ModelPlan plan() {
    plan_.config.output = choose_output();
    add_all(kNoLayer, true);
    for (std::uint32_t layer = 0; layer < plan_.config.n_layer; ++layer) add_all(layer, false);
    add_all(kNoLayer, false);
    return std::move(plan_);
  }

 private:
  void note_choices(const PlanOptions& options) {
    if (!checkpoint_.sidecar.empty()) plan_.choices.push_back(concat("settings=", checkpoint_.sidecar));
    const bool assumed = !options.gelu && is_gelu_assumed();
    if (options.gelu || assumed) {
      const bool erf = plan_.config.activation == Activation::gelu_erf;
      plan_.choices.push_back(concat("gelu=", erf ? "erf" : "tanh", assumed ? " (assumed)" : ""));
    }
    if (options.positions) {
      plan_.choices.push_back(concat("positions=", *options.positions == Positions::none ? "none" : "sinusoidal"));
    }
    if (options.attention_scale || found_.family->scale_unclear) {
      const bool embd = options.attention_scale == AttentionScale::embd;
      plan_.choices.push_back(concat("attn_scale=", embd ? "embd" : "head"));
    }
  }

  // Neither the settings nor the family make the form of GELU certain.
  bool is_gelu_assumed() const {
    const Family& family = *found_.family;
    const NamedSettings settings(checkpoint_, family);
    if (family.gelu_unclear == GeluUnclear::never || settings.activation()) return false;
    const bool bare = !settings.size(Field::n_layer) && !settings.size(Field::n_head);
    return bare || (family.gelu_unclear == GeluUnclear::bare_or_masked && found_.mask_size);
  }

  // Tied unless the checkpoint holds an output matrix that differs from the embedding; one that was cast or copied
  // holds the same numbers twice.
  Output choose_output() const {
    const NamedSettings settings(checkpoint_, *found_.family);
    const std::optional<bool> stated = settings.flag(Field::tied_output);
    const std::vector<const StoredTensor*> head = found_.pieces_of(kNoLayer, Role::lm_head_weight);
    if (head.empty()) {
      if (is_needed(*found_.family, Role::lm_head_weight) || stated == false) {
        refuse_missing(found_, {kNoLayer, Role::lm_head_weight, Part::whole, 0});
      }
      return Output::tied;
    }
    const bool equal = holds_the_same(*found_.pieces_of(kNoLayer, Role::wte)[0], *head[0]);
    const bool by_default = !stated && !checkpoint_.sidecar.empty() && settings.knows(Field::tied_output);
    if (!equal && (stated == true || by_default)) {
      refuse(settings.name_of(Field::tied_output), by_default ? " is absent, so true, but " : " is true but ",
             quoted(head[0]->name), " differs from the embedding; expected the same; ",
             by_default ? "if the output is the model's own, set it to false" : "save the model again");
    }
    return equal ? Output::tied : Output::separate;
  }

  bool holds_the_same(const StoredTensor& wte, const StoredTensor& head) const {
    if (is_same_view(wte, head)) return true;
    if (head.rank != 2 || head.shape[0] != wte.shape[0] || head.shape[1] != wte.shape[1]) return false;
    if (!is_floating(head.dtype) || !is_floating(wte.dtype)) return false;  // refused
    if (overlaps_itself(head) || overlaps_itself(wte)) return false;        // refused
    const std::uint64_t columns = wte.columns();
    const std::uint64_t step = rows_per_read(columns);
    std::vector<float> a(static_cast<std::size_t>(step * columns)), b(a.size());
    RowReader read_wte(checkpoint_.file_of(wte), wte), read_head(checkpoint_.file_of(head), head);
    for (std::uint64_t row = 0; row < wte.rows(); row += step) {
      const std::uint64_t count = std::min(step, wte.rows() - row);
      read_wte.read(row, count, a.data());
      read_head.read(row, count, b.data());
      if (std::memcmp(a.data(), b.data(), static_cast<std::size_t>(count * columns) * sizeof(float)) != 0) return false;
    }
    return true;
  }

  // The tensors of a layer, or those of no layer in front of the layers or behind them.
  void add_all(std::uint32_t layer, bool front) {
    for (const Role role : kAllRoles) {
      TensorSpec spec = {};
      tensor_spec(plan_.config, role, &spec);
      if (spec.in_layer != (layer != kNoLayer)) continue;
      if (layer == kNoLayer && (role < Role::ln_1_weight) != front) continue;
      add(role, layer, spec);
    }
  }

  void add(Role role, std::uint32_t layer, const TensorSpec& spec) {
    const Config& c = plan_.config;
    const bool tied_head = role == Role::lm_head_weight && c.output == Output::tied;
    const std::vector<const StoredTensor*> pieces = found_.pieces_of(layer, role);
    PlannedTensor planned = {role, layer, spec, usual_type(c, role, spec), {}, {}};
    if (role == Role::rotary_frequencies && c.positions == Positions::rotary) {
      planned.values = rotary_frequencies(c.rotary_dims, c.rotary_base, found_.family->rotates_back);
    } else if (role == Role::wpe && c.positions == Positions::sinusoidal) {
      planned.values = sinusoidal_table(c.block_size, c.n_embd);
    } else if (!pieces.empty() && !tied_head) {
      planned.sources = take_pieces(role, layer, spec);
    } else {
      if (!tied_head && (is_needed(*found_.family, role) || spec.presence == Presence::required)) {
        refuse_missing(found_, {layer, role, Part::whole, 0});
      }
      return;
    }
    plan_.tensors.push_back(std::move(planned));
  }

  std::vector<StoredTensor> take_pieces(Role role, std::uint32_t layer, const TensorSpec& spec) const {
    const Config& c = plan_.config;
    if (spec.presence == Presence::forbidden) {
      refuse("the tensor ", quoted(found_.pieces_of(layer, role)[0]->name), " does not belong to a model of ",
             found_.family->name, "; expected a model without; this is another kind of model");
    }
    std::vector<StoredTensor> out;
    const std::vector<const StoredTensor*> whole = found_.pieces_of(layer, role, Part::whole);
    if (!whole.empty()) {
      if (found_.pieces_of(layer, role).size() != 1) {
        refuse("the tensor ", quoted(whole[0]->name), " is there joined and in parts; expected one of both; ",
               "save the state dict of one model");
      }
      out.push_back(take(*whole[0], role, spec, spec.rows == 1 ? spec.columns : spec.rows));
      return out;
    }
    const bool apart = has_heads_apart(*found_.family);
    for (const Part part : {Part::q, Part::k, Part::v}) {
      const std::uint32_t heads = part == Part::q ? c.n_head : c.n_kv_head;
      const std::uint32_t count = apart ? heads : 1;
      for (std::uint32_t head = 0; head < count; ++head) {
        const PieceKey key = {layer, role, part, head};
        const auto at = found_.pieces.find(key);
        if (at == found_.pieces.end()) refuse_missing(found_, key);
        out.push_back(take(*at->second, role, spec, std::uint64_t{heads} / count * c.head_size));
      }
    }
    if (out.size() != found_.pieces_of(layer, role).size()) {
      refuse("layer ", layer, " has ", found_.pieces_of(layer, role).size(), " pieces of ", quoted(spec.name),
             "; expected ", out.size(), ", as many as in layer 0; save the state dict of one model");
    }
    return out;
  }

  // `size`: rows of a matrix, elements of a vector.
  StoredTensor take(const StoredTensor& tensor, Role role, const TensorSpec& spec, std::uint64_t size) const {
    const bool vector = role != Role::wpe && !spec.matrix;
    const StoredTensor out = oriented(found_, tensor, role, vector ? 1 : 2);
    const bool fits = vector ? out.shape[0] == size : out.shape[0] == size && out.shape[1] == spec.columns;
    if (!fits) {
      const bool turned = is_transposed(found_, role);
      const std::string expected =
          vector ? concat("[", size, "]")
                 : concat("[", turned ? spec.columns : size, ", ", turned ? size : spec.columns, "]");
      refuse("the tensor ", quoted(tensor.name), " has the shape ", shape_text(tensor), "; expected ", expected,
             "; this is no model of ", found_.family->name);
    }
    // It could also ask for far more memory than the file has bytes.
    if (overlaps_itself(out)) {
      refuse("the tensor ", quoted(tensor.name), " ", shape_text(tensor), " repeats elements of its storage of ",
             out.storage_elements, "; expected weights of its own; save it with .contiguous()");
    }
    return out;
  }

  const Checkpoint& checkpoint_;
  const Recognised& found_;
  ModelPlan plan_;
};

}  // namespace

ModelPlan plan_model(const Checkpoint& checkpoint, const PlanOptions& options) {
  const Recognised found = recognise(checkpoint);
  return TensorPlanner(checkpoint, found, options).plan();
}

}  // namespace minnow::convert
