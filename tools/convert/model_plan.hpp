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
};

struct ModelPlan {
  Config config;
  std::vector<PlannedTensor> tensors;
};

struct PlanOptions {
  WeightType type = WeightType::q8;
  Activation activation = Activation::gelu_erf;
  std::optional<std::uint64_t> n_head;
};

// Recognises the family of models by the tensors' names. n_tokens is set to vocab_size. Throws Refusal.
ModelPlan plan_model(const Checkpoint& checkpoint, const PlanOptions& options);

}  // namespace minnow::convert
