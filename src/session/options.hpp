// From options to the shape and size of a session, without memory. `plan` asks here for models that do not exist yet.
#pragma once

#include "session/state.hpp"

namespace minnow {

// Resolves defaults. Errors: bad_argument (an option out of range), unsupported (an option that this model, build or
// CPU does not have).
Status session_shape(const Config& config, const SessionConfig& options, SessionShape* out) noexcept;

// The exact bytes of a session's block. Errors: memory_too_small (more than size_t counts).
Status session_bytes(const Config& config, const SessionShape& shape, std::size_t* bytes) noexcept;

}  // namespace minnow
