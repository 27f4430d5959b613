// Names of tensors without what wrapped the model that was saved. Depends on nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace minnow::convert {

// Without what programs put in front of every name, in any order and number ("module.", "model."), without the parts
// that compilers and sharding put anywhere ("_orig_mod."), and without GPT-2's "transformer.".
std::string bare_name(std::string_view name);

// Takes away a part that all names begin with, as the name of a variable that held the model: "net.". False: there is
// none, and nothing was changed.
bool drop_common_part(std::vector<std::string>* names);

}  // namespace minnow::convert
