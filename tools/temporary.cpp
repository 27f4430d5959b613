#if !defined(_FILE_OFFSET_BITS)
#define _FILE_OFFSET_BITS 64  // 32-bit systems: files beyond 2 GiB
#endif
#include "tools/temporary.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "tools/signals.hpp"

namespace minnow {

std::string temporary_folder() {
  const char* const folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

int open_temporary(const std::string& folder) {
  std::string path = folder + "/minnow-XXXXXX";
  const int descriptor = mkstemp(path.data());
  if (descriptor < 0) return -1;
  unlink(path.c_str());
  static_cast<void>(fcntl(descriptor, F_SETFD, FD_CLOEXEC));
  return descriptor;
}

bool write_all(int descriptor, std::uint64_t offset, const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    if (interrupted()) {
      errno = EINTR;
      return false;
    }
    const ssize_t put = pwrite(descriptor, from, std::min(bytes, kMaxTransfer), static_cast<off_t>(offset));
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
