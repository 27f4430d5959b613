// The object that torch.save wrote: where its weights are, and what else it says of the model. The same for every
// container. Depends on torch_tensors and checkpoint.
#pragma once

#include "tools/convert/checkpoint.hpp"
#include "tools/convert/torch_tensors.hpp"

namespace minnow::convert {

struct TorchObject {
  Checkpoint checkpoint;  // without its files
  // The loss of the training run where it is a tensor: to be read when the files are there.
  std::optional<StoredTensor> best_val_loss;
};

// Throws Refusal.
TorchObject read_torch_object(const PickleTree& tree, TorchStorages* storages);

// With its files in place: the checkpoint, and the loss in it.
Checkpoint finish_torch_object(TorchObject object);

}  // namespace minnow::convert
