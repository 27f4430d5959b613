// Names matched against the tables of every family. Depends on recognise and refusal.
#include "tools/convert/recognise.hpp"

#include <algorithm>
#include <set>

#include "tools/convert/bare_names.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

namespace {

// Buffers that were saved with the weights: causal masks and tables of rotary positions.
constexpr std::string_view kMasks[] = {"bias", "mask", "tril", "causal_mask"};  // [T, T] or [1, 1, T, T]
constexpr std::string_view kScalars[] = {"masked_bias"};
constexpr std::string_view kRotaryTables[] = {"freqs_cos", "freqs_sin"};  // [T, head_size / 2]

// A number without leading zeros at the front of *text.
bool take_number(std::string_view* text, std::uint32_t* out) {
  const std::size_t digits = std::min(text->find_first_not_of("0123456789"), text->size());
  if (digits == 0 || digits > 6 || (digits > 1 && text->front() == '0')) return false;
  *out = 0;
  for (const char c : text->substr(0, digits)) *out = *out * 10 + static_cast<std::uint32_t>(c - '0');
  text->remove_prefix(digits);
  return true;
}

bool matches(std::string_view pattern, std::string_view name, PieceKey* key) {
  for (const char c : pattern) {
    if (c == '#' || c == '@') {
      if (!take_number(&name, c == '#' ? &key->layer : &key->head)) return false;
    } else {
      if (name.empty() || name.front() != c) return false;
      name.remove_prefix(1);
    }
  }
  return name.empty();
}

const NamePattern* find_pattern(const Family& family, std::string_view name, PieceKey* key) {
  for (const NamePattern& pattern : family.patterns) {
    *key = {kNoLayer, pattern.role, pattern.part, 0};
    if (matches(pattern.name, name, key)) return &pattern;
  }
  return nullptr;
}

// Notes what a buffer shows; false: it is none.
bool read_buffer(const StoredTensor& tensor, Recognised* out) {
  const std::string_view name = tensor.name;
  const std::string_view last = name.substr(name.rfind('.') + 1);
  const auto is_one_of = [&](auto& names) {
    return std::find(std::begin(names), std::end(names), last) != std::end(names);
  };
  const std::size_t rank = tensor.rank;
  if (is_one_of(kScalars)) return rank == 0 || (rank == 1 && tensor.shape[0] == 1);
  if (is_one_of(kMasks) && rank >= 2 && tensor.shape[rank - 1] == tensor.shape[rank - 2] &&
      tensor.shape[rank - 1] != 0) {
    const std::uint64_t size = tensor.shape[rank - 1];
    if (size <= tensor.storage_elements / size) out->mask_size = size;  // else it is a repeated view
    return true;
  }
  if (is_one_of(kRotaryTables) && rank == 2 && tensor.shape[1] != 0) {
    out->mask_size = tensor.shape[0];
    out->rotary_pairs = tensor.shape[1];
    return true;
  }
  return false;
}

struct NamedTensor {
  std::string name;  // bare
  const StoredTensor* tensor;
};
using NamedTensors = std::vector<NamedTensor>;

struct Match {
  const Family* family = nullptr;
  std::size_t known = 0;
  std::vector<const StoredTensor*> left_over;
  bool has_masks = false;
};

Match match(const NamedTensors& tensors, const Family& family) {
  Match out;
  out.family = &family;
  Recognised ignored;
  for (const NamedTensor& each : tensors) {
    PieceKey key;
    if (find_pattern(family, each.name, &key) != nullptr) {
      ++out.known;
    } else if (read_buffer(*each.tensor, &ignored)) {
      out.has_masks = true;
    } else {
      out.left_over.push_back(each.tensor);
    }
  }
  return out;
}

std::string list_tensors(const std::vector<const StoredTensor*>& tensors) {
  constexpr std::size_t kListed = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(kListed, tensors.size()); ++i) {
    out += concat(i == 0 ? "" : ", ", quoted(tensors[i]->name), " ", shape_text(*tensors[i]));
  }
  if (tensors.size() > kListed) out += concat(" and ", tensors.size() - kListed, " more");
  return out;
}

// The names of all families, each once.
std::string list_families() {
  std::string out;
  for (const Family& family : families()) out += concat(out.empty() ? "" : ", ", family.name);
  return out;
}

// A tensor that the family's models have, and this checkpoint in no layer; or empty.
std::string find_missing(const NamedTensors& tensors, const Family& family) {
  std::set<Role> found;
  for (const NamedTensor& each : tensors) {
    PieceKey key;
    const NamePattern* const pattern = find_pattern(family, each.name, &key);
    if (pattern != nullptr && pattern->feature == nullptr) found.insert(pattern->role);
  }
  for (const NamePattern& pattern : family.patterns) {
    if (pattern.feature != nullptr || found.count(pattern.role) != 0 || !is_needed(family, pattern.role)) continue;
    return family_name_of(family, {0, pattern.role, Part::whole, 0});
  }
  return {};
}

[[noreturn]] void refuse_strangers(const NamedTensors& tensors) {
  std::vector<const StoredTensor*> all;
  for (const NamedTensor& each : tensors) all.push_back(each.tensor);
  refuse("no tensor has a name that is known: ", all.empty() ? "there are none" : list_tensors(all),
         "; expected the names of ", list_families(), "; -v lists all tensors");
}

[[noreturn]] void refuse_left_over(const NamedTensors& tensors, const Match& nearest) {
  const std::string missing = find_missing(tensors, *nearest.family);
  refuse("the names are nearest to those of ", nearest.family->name, ", but ", list_tensors(nearest.left_over),
         nearest.left_over.size() == 1 ? " is unknown" : " are unknown",
         missing.empty() ? std::string() : concat(" and ", quoted(missing), " is missing"),
         "; expected the tensors of one family alone; -v lists all tensors");
}

// Whether a matrix of the embedding's width `columns` is stored [in, out]. Square ones show nothing.
bool is_transposed(const StoredTensor& tensor, std::uint64_t columns) {
  return tensor.rank == 2 && tensor.shape[0] == columns && tensor.shape[1] != columns;
}

bool has_clue(const Checkpoint& checkpoint, const Match& match, const Recognised& found) {
  const auto piece = [&](std::uint32_t layer, Role role) -> const StoredTensor* {
    const auto at = found.pieces.find({layer, role, Part::whole, 0});
    return at == found.pieces.end() ? nullptr : at->second;
  };
  const StoredTensor* const wte = piece(kNoLayer, Role::wte);
  const StoredTensor* const head = piece(kNoLayer, Role::lm_head_weight);
  const StoredTensor* const attention = piece(0, Role::c_attn_weight);
  const StoredTensor* const mlp = piece(0, Role::c_fc_weight);
  switch (match.family->clue) {
    case Clue::none:
      return true;
    case Clue::conv1d:
      if (wte == nullptr) return false;
      return attention != nullptr ? is_transposed(*attention, wte->columns())
                                  : mlp != nullptr && is_transposed(*mlp, wte->columns());
    case Clue::header:
      return checkpoint.settings_source == "the header";
    case Clue::config_object:
      return checkpoint.settings_source == "config" && checkpoint.settings.count("bias") == 0 &&
             checkpoint.settings.count("dropout") == 0;
    case Clue::no_bias_flag:
      return checkpoint.settings_source == "model_args" && match.has_masks && checkpoint.settings.count("bias") == 0;
    case Clue::untied:
      return checkpoint.settings_source != "model_args" && match.has_masks && wte != nullptr && head != nullptr &&
             !is_same_view(*wte, *head);
  }
  return false;
}

Recognised sort_out(const NamedTensors& tensors, const Family& family) {
  Recognised out;
  out.family = &family;
  for (const NamedTensor& each : tensors) {
    const StoredTensor& tensor = *each.tensor;
    PieceKey key;
    const NamePattern* const pattern = find_pattern(family, each.name, &key);
    if (pattern == nullptr) {
      read_buffer(tensor, &out);
      continue;
    }
    if (pattern->feature != nullptr) {
      refuse("the model has ", pattern->feature, ": ", quoted(tensor.name), " ", shape_text(tensor),
             "; expected a model of ", family.name, " without it; this feature is not supported");
    }
    const auto [at, is_new] = out.pieces.emplace(key, &tensor);
    if (!is_new) {
      refuse("the tensor ", quoted(tensor.name), " is there twice, once as ", quoted(at->second->name),
             "; expected one; save the state dict of one model");
    }
  }
  // A writer that stores shared tensors once may have kept the output's name.
  const auto head = out.pieces.find({kNoLayer, Role::lm_head_weight, Part::whole, 0});
  if (head != out.pieces.end() && !family.own_output) {
    out.pieces.emplace(PieceKey{kNoLayer, Role::wte, Part::whole, 0}, head->second);
  }
  return out;
}

std::vector<Match> match_all(const NamedTensors& tensors) {
  std::vector<Match> out;
  for (const Family& family : families()) out.push_back(match(tensors, family));
  return out;
}

const Match& nearest_of(const std::vector<Match>& all) {
  return *std::max_element(all.begin(), all.end(), [](const Match& a, const Match& b) { return a.known < b.known; });
}

constexpr int kDeepest = 8;  // of models inside others

// Bare names; where no family knows any of them, without what they have in common.
NamedTensors name_tensors(const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  for (const StoredTensor& tensor : checkpoint.tensors) names.push_back(bare_name(tensor.name));
  for (int dropped = 0;; ++dropped) {
    NamedTensors out;
    for (std::size_t i = 0; i < names.size(); ++i) out.push_back({names[i], &checkpoint.tensors[i]});
    const bool known = nearest_of(match_all(out)).known != 0;
    if (known || dropped == kDeepest || !drop_common_part(&names)) return out;
  }
}

}  // namespace

std::string family_name_of(const Family& family, const PieceKey& key) {
  for (const NamePattern& pattern : family.patterns) {
    if (pattern.role != key.role || pattern.feature != nullptr) continue;
    if (key.part != Part::whole && key.part != pattern.part) continue;
    std::string out;
    for (const char c : std::string_view(pattern.name)) {
      if (c == '#' || c == '@') {
        out += concat(c == '#' ? key.layer : key.head);
      } else {
        out += c;
      }
    }
    return out;
  }
  return {};
}

bool is_needed(const Family& family, Role role) {
  switch (role) {
    case Role::wte:
      return true;
    case Role::ln_1_weight:
    case Role::c_attn_weight:
    case Role::attn_c_proj_weight:
    case Role::ln_2_weight:
    case Role::c_fc_weight:
    case Role::c_gate_weight:
    case Role::mlp_c_proj_weight:
    case Role::ln_f_weight:
      return !family_name_of(family, {0, role, Part::whole, 0}).empty();
    case Role::lm_head_weight:
      return family.own_output;
    default:
      return false;
  }
}

std::vector<const StoredTensor*> Recognised::pieces_of(std::uint32_t layer, Role role, std::optional<Part> part) const {
  std::vector<const StoredTensor*> out;
  for (auto at = pieces.lower_bound({layer, role, Part::whole, 0}); at != pieces.end(); ++at) {
    if (at->first.layer != layer || at->first.role != role) break;
    if (!part || at->first.part == *part) out.push_back(at->second);
  }
  return out;
}

Recognised recognise(const Checkpoint& checkpoint) {
  const NamedTensors tensors = name_tensors(checkpoint);
  std::vector<Match> all = match_all(tensors);
  Match nearest = nearest_of(all);
  if (nearest.known == 0) refuse_strangers(tensors);
  Recognised out = sort_out(tensors, *nearest.family);
  // Of the families with these names the first that the rest of the checkpoint speaks for.
  for (const Match& each : all) {
    if (each.family->patterns.data() != nearest.family->patterns.data() || !has_clue(checkpoint, each, out)) continue;
    nearest = each;
    break;
  }
  if (!nearest.left_over.empty()) refuse_left_over(tensors, nearest);
  out.family = nearest.family;
  return out;
}

}  // namespace minnow::convert
