// The bytes of a regular file, mapped or read into large pages. Depends on hosted/system.hpp.
#include "hosted/system.hpp"
#include "minnow/hosted.hpp"

namespace minnow {

FileMap::~FileMap() { system::release(bytes_); }

FileMap::FileMap(FileMap&& other) noexcept : bytes_(other.bytes_) { other.bytes_ = {}; }

FileMap& FileMap::operator=(FileMap&& other) noexcept {
  if (this != &other) {
    system::release(bytes_);
    bytes_ = other.bytes_;
    other.bytes_ = {};
  }
  return *this;
}

Status FileMap::open(const char* path, FileMap* out, int* error_or_null) noexcept {
  return load(path, system::map_file, out, error_or_null);
}

Status FileMap::read(const char* path, FileMap* out, int* error_or_null) noexcept {
  return load(path, system::read_file, out, error_or_null);
}

Status FileMap::load(const char* path, Loader* loader, FileMap* out, int* error_or_null) noexcept {
  if (path == nullptr || out == nullptr) return Status::bad_argument;
  FileMap map;
  const int error = loader(path, &map.bytes_);
  if (error != 0) {
    if (error_or_null != nullptr) *error_or_null = error;
    return Status::io_error;
  }
  *out = static_cast<FileMap&&>(map);
  return Status::ok;
}

}  // namespace minnow
