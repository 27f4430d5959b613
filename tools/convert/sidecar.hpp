// Settings in a file beside a checkpoint that has none of its own. Depends on checkpoint, family and json_reader.
#pragma once

#include "tools/convert/checkpoint.hpp"
#include "tools/convert/family.hpp"

namespace minnow::convert {

// Replaces checkpoint->settings by those of the file that the family's programs write, and of no other: what another
// program left there says nothing of this model. Does nothing if the checkpoint itself has a model's settings, or there
// is no such file, or its content is no model's settings. Throws Refusal, with the path, if the file cannot be read.
void read_sidecar(const Family& family, Checkpoint* checkpoint);

// What to call the family's sidecar in a message: "config.json"; empty: it has none.
std::string sidecar_name(const Family& family);

}  // namespace minnow::convert
