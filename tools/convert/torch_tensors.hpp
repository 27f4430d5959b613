// Tensors as PyTorch pickles them: a view that is rebuilt from a storage beside the pickle. Depends on pickle and
// tensor_source.
#pragma once

#include "tools/convert/pickle.hpp"
#include "tools/convert/tensor_source.hpp"

namespace minnow::convert {

// Where the storages of one checkpoint are.
class TorchStorages {
 public:
  virtual ~TorchStorages() = default;

  // Sets the tensor's file, storage and storage_offset; name, dtype and storage_elements are set. Throws Refusal unless
  // the storage is there and holds as many elements.
  virtual void place(std::string_view key, StoredTensor* tensor) = 0;
};

// The class of a storage, "torch.FloatStorage"; false if it is not one that is read.
bool storage_dtype(const PickleTree& tree, NodeId storage_class, Dtype* out);

// Whether the node is a tensor or a parameter, of whatever kind.
bool is_torch_tensor(const PickleTree& tree, NodeId node);

// Throws Refusal for what is no plain tensor; `name` is for messages and becomes the tensor's.
StoredTensor read_torch_tensor(const PickleTree& tree, const std::string& name, NodeId node, TorchStorages* storages);

}  // namespace minnow::convert
