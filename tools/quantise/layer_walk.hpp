// Rounds the layers of a model to 4 bits, in order, each on the inputs that the rounded ones before it give. Depends
// on round_block, moments, memory_model and the session's stages.
#pragma once

#include <functional>
#include <map>

#include "tools/quantise/memory_model.hpp"
#include "tools/quantise/workers.hpp"

namespace minnow::quantise {

// Tokens in windows of one length, each a sequence from its beginning.
struct Windows {
  std::size_t length = 0;
  std::vector<Token> tokens;  // [windows][length]

  std::size_t count() const { return length == 0 ? 0 : tokens.size() / length; }
  const Token* window(std::size_t i) const { return tokens.data() + i * length; }
};

// Matrices as they lie in a model file, by role and layer.
using PackedTensors = std::map<std::pair<Role, std::uint32_t>, std::vector<std::byte>>;

using Progress = std::function<void(double)>;  // how much is done, 0 to 1

// `model`: of f32 weights. Its matrices become what the returned ones stand for. Throws Refusal, Interrupted.
PackedTensors round_layers(MemoryModel* model, const Windows& windows, const Workers& workers,
                           const Progress& progress);

}  // namespace minnow::quantise
