// What the fuzz targets share: bytes as a file without a disk. Linux only.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "tools/convert/file.hpp"

namespace minnow::fuzz {

// A file in memory that holds `data`, with a path while it lives.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0) std::abort();
    for (std::size_t done = 0; done < size;) {
      const ssize_t n = write(descriptor_, data + done, size - done);
      if (n <= 0) std::abort();
      done += static_cast<std::size_t>(n);
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  std::shared_ptr<const convert::InputFile> open() const { return std::make_shared<const convert::InputFile>(path()); }

 private:
  int descriptor_;
};

}  // namespace minnow::fuzz
