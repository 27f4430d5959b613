// What a checkpoint of torch.save says of its model in words and numbers. Depends on pickle and checkpoint.
#pragma once

#include "tools/convert/checkpoint.hpp"
#include "tools/convert/pickle.hpp"

namespace minnow::convert {

// Looks for model_args, config and the like in a dict, and fills settings, settings_source and dataset.
void read_torch_settings(const PickleTree& tree, NodeId holder, Checkpoint* out);

}  // namespace minnow::convert
