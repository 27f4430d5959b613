// The model file that a checkpoint becomes: its config, its tensors in the file's order and where each comes from.
// Depends on model/tensors.hpp and checkpoint.
#pragma once

#include "model/tensors.hpp"
#include "tools/convert/checkpoint.hpp"

namespace minnow::convert {

struct PlannedTensor {
  Role role;
  std::uint32_t layer;  // or kNoLayer
  TensorSpec spec;      // shape, and whether it is stored in blocks
  WeightType type;
  std::vector<StoredTensor> sources;  // one after another they are the rows; of a vector, the elements
  std::vector<float> values;          // [rows][columns], of a tensor that is computed: it has no sources
};

struct ModelPlan {
  Config config;
  std::vector<PlannedTensor> tensors;
  std::string family;    // for people: "nanoGPT"
  bool counted = false;  // n_tokens is what the family's settings count, not the rows, which others pad in silence
  // What the tensors cannot show and an option, its default or a file beside the checkpoint decided, as "key=value":
  // "attn_scale=head", "gelu=erf (assumed)", "settings=config.json".
  std::vector<std::string> choices;
};

enum class AttentionScale : std::uint32_t { head, embd };  // scores times 1 / sqrt(head_size), or 1 / sqrt(n_embd)

// What the checkpoint cannot say. An option that contradicts it is refused.
struct PlanOptions {
  WeightType type = WeightType::q8;
  std::optional<Activation> gelu;
  std::optional<AttentionScale> attention_scale;
  std::optional<Positions> positions;  // sinusoidal or none, where there is no table
  std::optional<std::uint64_t> n_head;
  std::optional<std::uint64_t> block_size;
};

// Recognises the family of models by the tensors' names. n_tokens is set to vocab_size, or what the settings say of it
// where rows may be padded. Throws Refusal.
ModelPlan plan_model(const Checkpoint& checkpoint, const PlanOptions& options);

}  // namespace minnow::convert
