// The config of a model out of its tensors' shapes, the checkpoint's settings and the options. Depends on recognise and
// model_plan.
#pragma once

#include "tools/convert/model_plan.hpp"
#include "tools/convert/recognise.hpp"

namespace minnow::convert {

// Refuses a checkpoint that lacks this tensor.
[[noreturn]] void refuse_missing(const Recognised& found, const PieceKey& key);

// Whether the family stores this tensor [in, out].
bool is_transposed(const Recognised& found, Role role);

// The tensor as a vector or as a matrix [out, in]: ones in front of its shape left out, transposed ones turned.
// Refuses another rank.
StoredTensor oriented(const Recognised& found, const StoredTensor& tensor, Role role, std::size_t rank);

// Whether q, k and v of each head are tensors of their own.
bool has_heads_apart(const Family& family);

// Everything but `output`, which is left `tied`. Throws Refusal.
Config plan_config(const Checkpoint& checkpoint, const Recognised& found, const PlanOptions& options);

}  // namespace minnow::convert
