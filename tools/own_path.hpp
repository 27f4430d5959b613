// Where the running program is. Depends on tools/system.hpp.
#pragma once

#include <string>
#include <vector>

namespace minnow {

// Paths that should open this program's own file, the surest first. `argv0` may be null, and is anything the caller
// wanted it to be.
std::vector<std::string> own_paths(const char* argv0);

}  // namespace minnow
