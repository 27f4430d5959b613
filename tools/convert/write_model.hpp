// Writes the file that model/format.hpp describes, one tensor's rows at a time. Depends on model_plan, pack and file.
#pragma once

#include <functional>

#include "tools/convert/model_plan.hpp"

namespace minnow::convert {

struct WriteOptions {
  bool allow_nonfinite = false;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // bytes of weights; may be empty
  // Asked once the weights are written: what takes the place of `provenance`, as long as that. May be empty.
  std::function<std::string()> final_provenance;
  // A matrix that is rounded already, as it will lie in the file; null: pack it. May be empty.
  std::function<const std::vector<std::byte>*(Role role, std::uint32_t layer)> packed;
};

// Writes the whole model through `out`; committing it is the caller's. `tokenizer` may be empty: none.
// Throws Refusal.
void write_model(const Checkpoint& checkpoint, const ModelPlan& plan, std::string_view tokenizer,
                 std::string_view provenance, const WriteOptions& options, ByteSink* out);

}  // namespace minnow::convert
