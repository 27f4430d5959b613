// What a model file says of where it comes from. Depends on checkpoint, vocabulary and model_plan.
#pragma once

#include "tools/convert/model_plan.hpp"
#include "tools/convert/vocabulary.hpp"

namespace minnow::convert {

// The files whose hashes are recorded, the checkpoint first.
std::vector<std::shared_ptr<const InputFile>> hashed_files(const Checkpoint& checkpoint);

// Lines key=value. `hashes`: SHA-256 of these files; without any, text of the same length. `calibration`: more lines.
std::string make_provenance(const Checkpoint& checkpoint, const std::vector<std::string>& hashes,
                            const Vocabulary& vocabulary, const ModelPlan& plan,
                            const std::vector<std::string>& calibration);

}  // namespace minnow::convert
