// Writes that are whole, for whatever is written to disk. Depends on tools/system.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace minnow {

inline constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;  // one read or write call

// Writes all of it. False: errno says why; EINTR: a signal came that ends the program (tools/signals.hpp).
bool write_all(int descriptor, std::uint64_t offset, const void* data, std::size_t bytes);

}  // namespace minnow
