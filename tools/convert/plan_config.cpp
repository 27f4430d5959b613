// Depends on plan_config, named_settings and refusal.
#include "tools/convert/plan_config.hpp"

#include <algorithm>
#include <cmath>

#include "tools/convert/named_settings.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/sidecar.hpp"

namespace minnow::convert {

namespace {

constexpr std::uint64_t kMaxTableElements = 1u << 24;  // of positions that are computed, in memory at once

bool is_gelu(Activation activation) {
  return activation == Activation::gelu_erf || activation == Activation::gelu_tanh;
}

class Planner {
 public:
  Planner(const Checkpoint& checkpoint, const Recognised& found, const PlanOptions& options)
      : found_(found),
        family_(*found.family),
        options_(options),
        settings_(checkpoint, *found.family),
        has_sidecar_(!checkpoint.sidecar.empty()) {}

  Config plan() {
    settings_.require_features_off();
    config_ = family_.config;
    plan_width();
    plan_heads();
    plan_positions();
    plan_arithmetic();
    require_biases();
    config_.weight_type = static_cast<std::uint32_t>(options_.type);
    return config_;
  }

 private:
  StoredTensor matrix(std::uint32_t layer, Role role) const {
    const std::vector<const StoredTensor*> pieces = found_.pieces_of(layer, role);
    if (pieces.empty()) refuse_missing(found_, {layer, role, Part::whole, 0});
    return oriented(found_, *pieces[0], role, 2);
  }

  // What the tensors say, unless the settings contradict it.
  std::uint32_t take_size(Field field, const char* name, std::uint64_t size) const {
    const std::optional<std::uint64_t> stated = settings_.size(field);
    if (stated && *stated != size) {
      refuse(settings_.name_of(field), " is ", *stated, " but the tensors say ", size,
             "; expected the same; save the settings that the model was trained with");
    }
    return require_dimension(name, size);
  }

  static std::uint32_t require_dimension(const char* name, std::uint64_t size) {
    if (size == 0 || size > kMaxDimension) {
      refuse(name, " is ", size, "; expected 1 to ", kMaxDimension, "; this is no model that can be run");
    }
    return static_cast<std::uint32_t>(size);
  }

  void plan_width() {
    const StoredTensor wte = matrix(kNoLayer, Role::wte);
    std::uint32_t n_layer = 0;
    for (const auto& item : found_.pieces) {
      if (item.first.layer != kNoLayer) n_layer = std::max(n_layer, item.first.layer + 1);
    }
    config_.n_layer = take_size(Field::n_layer, "n_layer", n_layer);
    config_.n_embd = take_size(Field::n_embd, "n_embd", wte.shape[1]);
    config_.n_hidden = take_size(Field::n_hidden, "n_hidden", matrix(0, Role::c_fc_weight).shape[0]);
    const std::optional<std::uint64_t> stated = settings_.size(Field::vocab_size);
    if (family_.padded_vocabulary && stated && *stated < wte.shape[0]) {
      config_.vocab_size = require_dimension("vocab_size", wte.shape[0]);
      config_.n_tokens = static_cast<std::uint32_t>(*stated);
    } else {
      config_.vocab_size = take_size(Field::vocab_size, "vocab_size", wte.shape[0]);
      config_.n_tokens = config_.vocab_size;
    }
  }

  // The setting, if it is there, is what the tensors show.
  void require_biases() const {
    const std::optional<bool> stated = settings_.flag(Field::biased);
    if (!stated) return;
    const StoredTensor* bias = nullptr;
    for (const auto& item : found_.pieces) {
      const std::string_view name = role_name(item.first.role);
      if (name.size() > 5 && name.substr(name.size() - 5) == ".bias") bias = item.second;
    }
    if (*stated == (bias != nullptr)) return;
    const std::string shown = bias == nullptr ? "no tensor is a bias" : concat(quoted(bias->name), " is there");
    refuse(settings_.name_of(Field::biased), *stated ? " is true but " : " is false but ", shown,
           "; expected the same; save the settings that the model was trained with");
  }

  // Rows of all q or all k of layer 0; 0 where they are joined.
  std::uint64_t rows_of(Part part) const {
    std::uint64_t rows = 0;
    for (const StoredTensor* const piece : found_.pieces_of(0, Role::c_attn_weight, part)) {
      rows += oriented(found_, *piece, Role::c_attn_weight, 2).shape[0];
    }
    return rows;
  }

  void plan_heads() {
    const std::uint64_t q_rows = rows_of(Part::q) != 0 ? rows_of(Part::q) : config_.n_embd;
    const std::uint64_t n_head = choose_n_head(q_rows);
    if (n_head > q_rows || q_rows % n_head != 0) {
      const std::string width =
          q_rows == config_.n_embd ? concat("n_embd ", q_rows) : concat("the ", q_rows, " rows of the queries");
      refuse("n_head is ", n_head, ", which does not divide ", width, "; expected a divisor; ", heads_advice());
    }
    config_.n_head = require_dimension("n_head", n_head);
    config_.head_size = require_dimension("head_size", q_rows / n_head);
    const bool any_keys = rows_of(Part::k) != 0 && !has_heads_apart(family_);
    const std::uint64_t k_rows = any_keys ? rows_of(Part::k) : q_rows;
    if (k_rows % config_.head_size != 0 || n_head % (k_rows / config_.head_size) != 0) {
      refuse("the keys have ", k_rows, " rows, which are no whole heads of ", config_.head_size, " that divide n_head ",
             n_head, "; expected such a number; ", heads_advice());
    }
    config_.n_kv_head = take_size(Field::n_kv_head, "n_kv_head", k_rows / config_.head_size);
  }

  std::uint64_t choose_n_head(std::uint64_t q_rows) {
    const std::optional<std::uint64_t> stated = settings_.size(Field::n_head);
    std::optional<std::uint64_t> shown;
    if (has_heads_apart(family_)) {
      shown = found_.pieces_of(0, Role::c_attn_weight, Part::q).size();
    } else if (found_.rotary_pairs && q_rows % (2 * *found_.rotary_pairs) == 0) {
      shown = q_rows / (2 * *found_.rotary_pairs);
    }
    if (shown && *shown == 0) refuse_missing(found_, {0, Role::c_attn_weight, Part::q, 0});
    if (shown && stated && *shown != *stated) {
      refuse(settings_.name_of(Field::n_head), " is ", *stated, " but the tensors say ", *shown,
             "; expected the same; save the settings that the model was trained with");
    }
    const std::optional<std::uint64_t> known = stated ? stated : shown;
    if (options_.n_head && known && *options_.n_head != *known) {
      refuse(stated ? settings_.name_of(Field::n_head) : std::string("n_head of the tensors"), " is ", *known,
             " but --n-head says ", *options_.n_head, "; expected the same; leave --n-head out");
    }
    if (known) return *known;
    heads_chosen_ = options_.n_head.has_value();
    if (heads_chosen_) return *options_.n_head;
    refuse("the checkpoint does not say n_head, and the tensors do not show it; expected the number of heads; ",
           "give it with --n-head", or_sidecar());
  }

  // What to do about a number of heads that does not fit the tensors.
  const char* heads_advice() const {
    return heads_chosen_ ? "give the right one with --n-head"
                         : "the checkpoint contradicts itself: save the settings that the model was trained with";
  }

  // Behind the advice of an option whose value the family's file of settings would have said.
  std::string or_sidecar() const {
    const std::string name = sidecar_name(family_);
    return name.empty() || has_sidecar_ ? std::string()
                                        : concat(", or put the model's ", name, " beside the checkpoint");
  }

  void plan_positions() {
    const bool has_table = !found_.pieces_of(kNoLayer, Role::wpe).empty();
    if (config_.positions == Positions::learned && !has_table) {
      if (!options_.positions) {
        refuse("the tensor ", quoted(family_name_of(family_, {kNoLayer, Role::wpe, Part::whole, 0})),
               " is missing; expected the positions of a model of ", family_.name,
               "; if it was trained without a table, say how with --positions sinusoidal or none");
      }
      config_.positions = *options_.positions;
    } else if (options_.positions) {
      refuse("--positions is given but the model has ", has_table ? "a table of positions" : "rotary positions",
             "; expected a model without; leave it out");
    }
    config_.block_size = has_table ? take_table_size() : choose_block_size();
    if (config_.positions == Positions::sinusoidal && config_.block_size > kMaxTableElements / config_.n_embd) {
      refuse("a table of ", config_.block_size, " positions of ", config_.n_embd, " numbers; expected at most ",
             kMaxTableElements, " numbers; give a smaller --block-size");
    }
    if (config_.positions != Positions::rotary) return;
    config_.rotary_dims = config_.head_size;
    if (config_.head_size % 2 != 0) {
      refuse("a head has ", config_.head_size, " numbers; expected an even count, whose pairs are rotated; ",
             heads_advice());
    }
  }

  std::uint32_t take_table_size() const {
    const std::uint32_t size = take_size(Field::block_size, "block_size", matrix(kNoLayer, Role::wpe).shape[0]);
    if (options_.block_size && *options_.block_size != size) {
      refuse("the table of positions has ", size, " rows but --block-size says ", *options_.block_size,
             "; expected the same; leave --block-size out");
    }
    return size;
  }

  // Of a model that would run with any.
  std::uint32_t choose_block_size() const {
    std::optional<std::uint64_t> size = options_.block_size;
    if (!size) size = settings_.size(Field::block_size);
    if (!size) size = found_.mask_size;
    if (!size) {
      refuse("the checkpoint does not say block_size, and the tensors do not show it; ",
             "expected the longest context that the model was trained with; give it with --block-size", or_sidecar());
    }
    return require_dimension("block_size", *size);
  }

  void plan_arithmetic() {
    if (const std::optional<double> eps = settings_.number(Field::norm_eps)) {
      if (*eps > 1) refuse(settings_.name_of(Field::norm_eps), " is above 1; expected a small number; check the file");
      config_.norm_eps = static_cast<float>(*eps);
    }
    const std::optional<Activation> stated = settings_.activation();
    if (stated) config_.activation = *stated;
    if (options_.gelu) {
      if (!is_gelu(config_.activation)) {
        refuse("--gelu is given but the model does not use GELU; expected one that does; leave it out");
      }
      if (stated && *stated != *options_.gelu) {
        refuse(settings_.name_of(Field::activation), " is not what --gelu says; expected the same; leave --gelu out");
      }
      config_.activation = *options_.gelu;
    }
    if (!settings_.flag(Field::scaled_scores).value_or(true)) config_.attention_scale = 1;
    if (!options_.attention_scale) return;
    if (config_.attention_scale != 0) {
      refuse(settings_.name_of(Field::scaled_scores), " is false but --attn-scale is given; leave it out");
    }
    if (*options_.attention_scale == AttentionScale::embd) {
      config_.attention_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(config_.n_embd)));
    }
  }

  const Recognised& found_;
  const Family& family_;
  const PlanOptions& options_;
  NamedSettings settings_;
  bool has_sidecar_;
  bool heads_chosen_ = false;  // by the option: nothing else says n_head
  Config config_;
};

}  // namespace

void refuse_missing(const Recognised& found, const PieceKey& key) {
  refuse("the tensor ", quoted(family_name_of(*found.family, key)), " is missing; expected a whole model of ",
         found.family->name, "; save its state dict again");
}

bool is_transposed(const Recognised& found, Role role) {
  if (found.family->clue != Clue::conv1d) return false;
  return role == Role::c_attn_weight || role == Role::attn_c_proj_weight || role == Role::c_fc_weight ||
         role == Role::mlp_c_proj_weight;
}

StoredTensor oriented(const Recognised& found, const StoredTensor& tensor, Role role, std::size_t rank) {
  StoredTensor out = tensor;
  while (out.rank > rank && out.shape[0] == 1) {  // [1, T, C]
    std::copy(out.shape + 1, out.shape + out.rank, out.shape);
    std::copy(out.stride + 1, out.stride + out.rank, out.stride);
    --out.rank;
  }
  if (out.rank != rank) {
    refuse("the tensor ", quoted(tensor.name), " has the shape ", shape_text(tensor), "; expected ", rank,
           rank == 1 ? " dimension" : " dimensions", "; this is no model of ", found.family->name);
  }
  if (rank == 2 && is_transposed(found, role)) {
    std::swap(out.shape[0], out.shape[1]);
    std::swap(out.stride[0], out.stride[1]);
  }
  return out;
}

bool has_heads_apart(const Family& family) {
  for (const NamePattern& pattern : family.patterns) {
    if (std::string_view(pattern.name).find('@') != std::string_view::npos) return true;
  }
  return false;
}

Config plan_config(const Checkpoint& checkpoint, const Recognised& found, const PlanOptions& options) {
  return Planner(checkpoint, found, options).plan();
}

}  // namespace minnow::convert
