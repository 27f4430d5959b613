// Writes the file that model/format.hpp describes, one tensor's rows at a time. Depends on model_plan, pack and file.
#pragma once

#include <functional>

#include "tools/convert/model_plan.hpp"

namespace minnow::convert {

struct WriteOptions {
  bool allow_nonfinite = false;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // bytes of weights; may be empty
};

// Writes the whole model through `out`; committing it is the caller's. `tokenizer` may be empty: none.
// Throws Refusal.
void write_model(const Checkpoint& checkpoint, const ModelPlan& plan, std::string_view tokenizer,
                 std::string_view provenance, const WriteOptions& options, OutputFile* out);

}  // namespace minnow::convert
