// Room on disk for what does not stay in memory: files without a name, and writes that are whole. Needs POSIX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace minnow {

inline constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;  // one read or write call

std::string temporary_folder();  // $TMPDIR, or /tmp

// The descriptor of a new file in `folder` that has no name, so that nothing can be left behind; -1: errno says why.
int open_temporary(const std::string& folder);

// Writes all of it. False: errno says why; EINTR: a signal came that ends the program (tools/signals.hpp).
bool write_all(int descriptor, std::uint64_t offset, const void* data, std::size_t bytes);

}  // namespace minnow
