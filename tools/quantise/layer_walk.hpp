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

// `model`: of f32 weights. Its matrices become what the returned ones stand for; the embedding, and a separate output,
// what they are as q8. With `round_output` the output matrix is rounded to 4 bits too, first of all, on the inputs
// that it gets from the f32 model, since a tied one is also what the layers begin with. Throws Refusal, Interrupted.
PackedTensors round_layers(MemoryModel* model, bool round_output, const Windows& windows, const Workers& workers,
                           const Progress& progress);

}  // namespace minnow::quantise
