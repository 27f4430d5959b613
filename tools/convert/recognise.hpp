// Which family of models a checkpoint's tensors belong to, and which part of the model each one is. Depends on family
// and checkpoint.
#pragma once

#include <map>
#include <tuple>

#include "tools/convert/checkpoint.hpp"
#include "tools/convert/family.hpp"

namespace minnow::convert {

// In the order of a joined tensor's rows: the heads of q, of k, of v.
struct PieceKey {
  std::uint32_t layer = kNoLayer;
  Role role = Role::wte;
  Part part = Part::whole;
  std::uint32_t head = 0;
  bool operator<(const PieceKey& other) const {
    return std::tie(layer, role, part, head) < std::tie(other.layer, other.role, other.part, other.head);
  }
};

struct Recognised {
  const Family* family = nullptr;
  std::map<PieceKey, const StoredTensor*> pieces;
  // What buffers show that are no weights: the context of a causal mask, half the size of a head.
  std::optional<std::uint64_t> mask_size;
  std::optional<std::uint64_t> rotary_pairs;

  // All pieces of one tensor, in the order of its rows; empty: it is not there.
  std::vector<const StoredTensor*> pieces_of(std::uint32_t layer, Role role, std::optional<Part> part = {}) const;
};

// As the family calls it: "layers.3.attention.wq.weight". `whole` is also the first part of a tensor that is always
// apart. Empty: the family has no such tensor.
std::string family_name_of(const Family& family, const PieceKey& key);

// Whether every model of the family has this tensor, or its parts.
bool is_needed(const Family& family, Role role);

// Throws Refusal: for names of no family, names that are there twice, and features that are not supported.
Recognised recognise(const Checkpoint& checkpoint);

}  // namespace minnow::convert
