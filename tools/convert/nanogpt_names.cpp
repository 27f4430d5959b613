// The one place that knows how nanoGPT and the programs around it name tensors. Depends on model_plan.
#include <algorithm>
#include <cstring>
#include <map>

#include "tools/convert/model_plan.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

namespace {

// Put in front of every name by torch.compile and by data parallel training, in any order and number.
constexpr std::string_view kWrappers[] = {"_orig_mod.", "module."};

enum class Use { tensor, ignored };

// '#' stands for the number of the layer.
struct NamePattern {
  std::string_view name;
  Use use;
  Role role;
};
constexpr NamePattern kNanogpt[] = {
    {"transformer.wte.weight", Use::tensor, Role::wte},
    {"transformer.wpe.weight", Use::tensor, Role::wpe},
    {"transformer.h.#.ln_1.weight", Use::tensor, Role::ln_1_weight},
    {"transformer.h.#.ln_1.bias", Use::tensor, Role::ln_1_bias},
    {"transformer.h.#.attn.c_attn.weight", Use::tensor, Role::c_attn_weight},
    {"transformer.h.#.attn.c_attn.bias", Use::tensor, Role::c_attn_bias},
    {"transformer.h.#.attn.c_proj.weight", Use::tensor, Role::attn_c_proj_weight},
    {"transformer.h.#.attn.c_proj.bias", Use::tensor, Role::attn_c_proj_bias},
    {"transformer.h.#.ln_2.weight", Use::tensor, Role::ln_2_weight},
    {"transformer.h.#.ln_2.bias", Use::tensor, Role::ln_2_bias},
    {"transformer.h.#.mlp.c_fc.weight", Use::tensor, Role::c_fc_weight},
    {"transformer.h.#.mlp.c_fc.bias", Use::tensor, Role::c_fc_bias},
    {"transformer.h.#.mlp.c_proj.weight", Use::tensor, Role::mlp_c_proj_weight},
    {"transformer.h.#.mlp.c_proj.bias", Use::tensor, Role::mlp_c_proj_bias},
    {"transformer.ln_f.weight", Use::tensor, Role::ln_f_weight},
    {"transformer.ln_f.bias", Use::tensor, Role::ln_f_bias},
    {"lm_head.weight", Use::tensor, Role::lm_head_weight},
    // Buffers of the causal mask, saved before PyTorch 2.
    {"transformer.h.#.attn.bias", Use::ignored, Role::wte},
    {"transformer.h.#.attn.masked_bias", Use::ignored, Role::wte},
};

std::string_view without_wrappers(std::string_view name) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view wrapper : kWrappers) {
      if (name.substr(0, wrapper.size()) != wrapper) continue;
      name.remove_prefix(wrapper.size());
      again = true;
    }
  }
  return name;
}

// Whether `name` is `pattern`; *layer is the number at '#', or kNoLayer.
bool matches(std::string_view pattern, std::string_view name, std::uint32_t* layer) {
  *layer = kNoLayer;
  const std::size_t hash = pattern.find('#');
  if (hash == std::string_view::npos) return name == pattern;
  if (name.substr(0, hash) != pattern.substr(0, hash)) return false;
  const std::size_t end = std::min(name.find('.', hash), name.size());
  if (name.substr(end) != pattern.substr(hash + 1)) return false;
  const std::string_view digits = name.substr(hash, end - hash);
  if (digits.empty() || digits.size() > 6 || (digits.size() > 1 && digits[0] == '0')) return false;
  std::uint32_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  *layer = number;
  return true;
}

using Key = std::pair<std::uint32_t, Role>;  // layer, role
using Found = std::map<Key, const StoredTensor*>;

std::string role_text(const Key& key) {
  const std::string name = role_name(key.second);
  return key.first == kNoLayer ? quoted(name) : concat(quoted(name), " of layer ", key.first);
}

Found find_tensors(const Checkpoint& checkpoint) {
  Found found;
  for (const StoredTensor& tensor : checkpoint.tensors) {
    const std::string_view name = without_wrappers(tensor.name);
    std::uint32_t layer = 0;
    const NamePattern* pattern = std::find_if(std::begin(kNanogpt), std::end(kNanogpt),
                                              [&](const NamePattern& p) { return matches(p.name, name, &layer); });
    if (pattern == std::end(kNanogpt)) {
      refuse("the tensor ", quoted(tensor.name), " ", shape_text(tensor),
             " is unknown; expected the names of nanoGPT's GPT; other models are not supported yet");
    }
    if (pattern->use == Use::ignored) continue;
    if (!found.emplace(Key(layer, pattern->role), &tensor).second) {
      refuse("the tensor ", role_text(Key(layer, pattern->role)), " is there twice, once as ", quoted(tensor.name),
             "; expected one; save the state dict of one model");
    }
  }
  return found;
}

const StoredTensor& require(const Found& found, std::uint32_t layer, Role role, std::size_t rank) {
  const auto at = found.find(Key(layer, role));
  if (at == found.end()) {
    refuse("the tensor ", role_text(Key(layer, role)),
           " is missing; expected a whole nanoGPT model; save its state dict again");
  }
  if (at->second->rank != rank) {
    refuse("the tensor ", quoted(at->second->name), " has the shape ", shape_text(*at->second), "; expected ", rank,
           " dimensions; this is no nanoGPT model");
  }
  return *at->second;
}

// A positive number of model_args, if it is there.
std::optional<std::uint64_t> stated_size(const Checkpoint& checkpoint, const char* name) {
  const auto at = checkpoint.settings.find(name);
  if (at == checkpoint.settings.end() || at->second.kind == Setting::Kind::none) return std::nullopt;
  const Setting& setting = at->second;
  const bool whole = setting.kind == Setting::Kind::integer || setting.kind == Setting::Kind::boolean;
  if (!whole || setting.integer <= 0) {
    refuse("model_args['", name,
           "'] is not a positive number; expected nanoGPT's model_args; save them as train.py does");
  }
  return static_cast<std::uint64_t>(setting.integer);
}

std::uint32_t take_dimension(const Checkpoint& checkpoint, const char* name, std::uint64_t size) {
  const std::optional<std::uint64_t> stated = stated_size(checkpoint, name);
  if (stated && *stated != size) {
    refuse("model_args['", name, "'] is ", *stated, " but the tensors say ", size,
           "; expected the same; save the checkpoint as train.py does");
  }
  if (size == 0 || size > kMaxDimension) {
    refuse(name, " is ", size, "; expected 1 to ", kMaxDimension, "; this is no model that can be run");
  }
  return static_cast<std::uint32_t>(size);
}

std::uint32_t choose_n_head(const Checkpoint& checkpoint, const PlanOptions& options, std::uint32_t n_embd) {
  const std::optional<std::uint64_t> stated = stated_size(checkpoint, "n_head");
  if (options.n_head && stated && *options.n_head != *stated) {
    refuse("model_args['n_head'] is ", *stated, " but --n-head says ", *options.n_head,
           "; expected the same; leave --n-head out");
  }
  const std::optional<std::uint64_t> n_head = options.n_head ? options.n_head : stated;
  if (!n_head) {
    refuse(
        "the checkpoint has no model_args['n_head'], and the tensors do not show it; expected the number of heads; "
        "give it with --n-head");
  }
  if (*n_head == 0 || *n_head > n_embd || n_embd % *n_head != 0) {
    refuse("n_head is ", *n_head, ", which does not divide n_embd ", n_embd,
           "; expected a divisor; give it with --n-head");
  }
  return static_cast<std::uint32_t>(*n_head);
}

Config make_config(const Found& found, const Checkpoint& checkpoint, const PlanOptions& options) {
  const StoredTensor& wte = require(found, kNoLayer, Role::wte, 2);
  const StoredTensor& wpe = require(found, kNoLayer, Role::wpe, 2);
  std::uint32_t n_layer = 0;
  for (const auto& item : found) {
    if (item.first.first != kNoLayer) n_layer = std::max(n_layer, item.first.first + 1);
  }
  Config config;
  config.n_layer = take_dimension(checkpoint, "n_layer", n_layer);
  config.n_embd = take_dimension(checkpoint, "n_embd", wte.shape[1]);
  config.vocab_size = take_dimension(checkpoint, "vocab_size", wte.shape[0]);
  config.block_size = take_dimension(checkpoint, "block_size", wpe.shape[0]);
  config.n_hidden = take_dimension(checkpoint, "n_hidden", require(found, 0, Role::c_fc_weight, 2).shape[0]);
  config.n_head = choose_n_head(checkpoint, options, config.n_embd);
  config.n_kv_head = config.n_head;
  config.head_size = config.n_embd / config.n_head;
  config.n_tokens = config.vocab_size;
  config.norm_eps = 1e-5f;  // in nanoGPT's code, not in its checkpoints
  config.activation = options.activation;
  config.weight_type = static_cast<std::uint32_t>(options.type);
  return config;
}

// nanoGPT ties the output matrix to the embedding; a checkpoint that was cast or copied holds it twice.
void require_tied(const Checkpoint& checkpoint, const StoredTensor& wte, const StoredTensor& head) {
  if (is_same_view(wte, head)) return;
  bool equal = head.rank == 2 && head.shape[0] == wte.shape[0] && head.shape[1] == wte.shape[1];
  const std::uint64_t columns = wte.columns();
  const std::uint64_t step = rows_per_read(columns);
  std::vector<float> a(static_cast<std::size_t>(step * columns)), b(a.size());
  RowReader read_wte(checkpoint.file_of(wte), wte), read_head(checkpoint.file_of(head), head);
  for (std::uint64_t row = 0; equal && row < wte.rows(); row += step) {
    const std::uint64_t count = std::min(step, wte.rows() - row);
    read_wte.read(row, count, a.data());
    read_head.read(row, count, b.data());
    equal = std::memcmp(a.data(), b.data(), static_cast<std::size_t>(count * columns) * sizeof(float)) == 0;
  }
  if (!equal) {
    refuse(quoted(head.name), " ", shape_text(head), " differs from ", quoted(wte.name), " ", shape_text(wte),
           "; expected the tied output of nanoGPT; a separate output is not supported yet");
  }
}

void add_tensor(const Found& found, const Config& config, Role role, std::uint32_t layer, ModelPlan* plan) {
  TensorSpec spec = {};
  tensor_spec(config, role, &spec);
  const auto at = found.find(Key(layer, role));
  if (at == found.end() && spec.presence != Presence::required) {
    if (role == Role::ln_1_weight || role == Role::ln_2_weight || role == Role::ln_f_weight)
      require(found, layer, role, 1);
    return;
  }
  const bool vector = role != Role::wpe && !spec.matrix;
  const StoredTensor& source = require(found, layer, role, vector ? 1 : 2);
  if (source.rows() != spec.rows || source.columns() != spec.columns) {
    const std::string expected =
        vector ? concat("[", spec.columns, "]") : concat("[", spec.rows, ", ", spec.columns, "]");
    refuse("the tensor ", quoted(source.name), " has the shape ", shape_text(source), "; expected ", expected,
           "; this is no nanoGPT model");
  }
  // An expanded view repeats its elements: it could ask for far more memory than the file has bytes.
  if (spec.rows * spec.columns > source.storage_elements) {
    refuse("the tensor ", quoted(source.name), " ", shape_text(source), " repeats a storage of ",
           source.storage_elements, " elements; expected weights of its own; save it with .contiguous()");
  }
  const WeightType type = spec.matrix ? static_cast<WeightType>(config.weight_type) : WeightType::f32;
  plan->tensors.push_back({role, layer, spec, type, {source}});
}

}  // namespace

ModelPlan plan_model(const Checkpoint& checkpoint, const PlanOptions& options) {
  Found found = find_tensors(checkpoint);
  ModelPlan plan;
  plan.config = make_config(found, checkpoint, options);
  if (const auto head = found.find(Key(kNoLayer, Role::lm_head_weight)); head != found.end()) {
    require_tied(checkpoint, *found.at(Key(kNoLayer, Role::wte)), *head->second);
    found.erase(head);
  }
  const auto add_all = [&](std::uint32_t layer, bool front) {
    for (const Role role : kAllRoles) {
      TensorSpec spec = {};
      tensor_spec(plan.config, role, &spec);
      if (spec.in_layer != (layer != kNoLayer) || spec.presence == Presence::forbidden) continue;
      if (layer == kNoLayer && (role < Role::ln_1_weight) != front) continue;
      add_tensor(found, plan.config, role, layer, &plan);
    }
  };
  add_all(kNoLayer, true);
  for (std::uint32_t layer = 0; layer < plan.config.n_layer; ++layer) add_all(layer, false);
  add_all(kNoLayer, false);
  return plan;
}

}  // namespace minnow::convert
