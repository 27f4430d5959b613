// Settings in a file beside a checkpoint that has none of its own: config.json, or nanochat's meta_<step>.json. Depends
// on checkpoint and json_reader.
#pragma once

#include "tools/convert/checkpoint.hpp"

namespace minnow::convert {

// Replaces checkpoint->settings by those of the first such file whose content is a model's settings. Does nothing if
// the checkpoint itself has a model's, or there is no such file. Throws Refusal, with the path, if that file cannot be
// read.
void read_sidecar(Checkpoint* checkpoint);

}  // namespace minnow::convert
