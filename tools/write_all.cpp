#include "tools/write_all.hpp"

#include <algorithm>
#include <cerrno>

#include "tools/signals.hpp"
#include "tools/system.hpp"

namespace minnow {

bool write_all(int descriptor, std::uint64_t offset, const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    if (interrupted()) {
      errno = EINTR;
      return false;
    }
    const std::int64_t put = system::write_at(descriptor, offset, from, std::min(bytes, kMaxTransfer));
    if (put < 0 && errno == EINTR) continue;
    if (put == 0) errno = ENOSPC;  // no system says why
    if (put <= 0) return false;
    from += put;
    bytes -= static_cast<std::size_t>(put);
    offset += static_cast<std::uint64_t>(put);
  }
  return true;
}

}  // namespace minnow
