// A read-only mapping of a regular file. Needs POSIX.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "minnow/hosted.hpp"

namespace minnow {
namespace {

// Returns 0 or an errno value. An empty file gives an empty span, since nothing can be mapped.
int map_file(int descriptor, Span<const std::byte>* out) noexcept {
  struct stat info = {};
  if (::fstat(descriptor, &info) != 0) return errno;
  if (S_ISDIR(info.st_mode)) return EISDIR;
  if (!S_ISREG(info.st_mode)) return ENODEV;
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (bytes > SIZE_MAX) return EFBIG;
  *out = {};
  if (bytes == 0) return 0;
  void* const at = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (at == MAP_FAILED) return errno;
  *out = {static_cast<const std::byte*>(at), static_cast<std::size_t>(bytes)};
  return 0;
}

void unmap(Span<const std::byte> bytes) noexcept {
  if (!bytes.empty()) ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

}  // namespace

FileMap::~FileMap() { unmap(bytes_); }

FileMap::FileMap(FileMap&& other) noexcept : bytes_(other.bytes_) { other.bytes_ = {}; }

FileMap& FileMap::operator=(FileMap&& other) noexcept {
  if (this != &other) {
    unmap(bytes_);
    bytes_ = other.bytes_;
    other.bytes_ = {};
  }
  return *this;
}

Status FileMap::open(const char* path, FileMap* out, int* error_or_null) noexcept {
  if (path == nullptr || out == nullptr) return Status::bad_argument;
  int descriptor = -1;
  do {
    descriptor = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // non-blocking: a fifo must not wait for a writer
  } while (descriptor < 0 && errno == EINTR);
  FileMap map;
  const int error = descriptor < 0 ? errno : map_file(descriptor, &map.bytes_);
  if (descriptor >= 0) ::close(descriptor);
  if (error != 0) {
    if (error_or_null != nullptr) *error_or_null = error;
    return Status::io_error;
  }
  *out = static_cast<FileMap&&>(map);
  return Status::ok;
}

}  // namespace minnow
