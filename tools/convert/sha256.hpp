// SHA-256 (FIPS 180-4), for the provenance of a model. Depends on file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "tools/convert/file.hpp"

namespace minnow::convert {

class Sha256 {
 public:
  void update(const void* data, std::size_t bytes);
  std::string finish();  // 64 hexadecimal digits; the object is used up

 private:
  void add_block(const unsigned char* block);

  std::uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned char pending_[64] = {};
  std::size_t pending_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
};

// Of a whole file. `progress`: bytes read, of how many; may be empty. Throws Refusal, Interrupted.
std::string hash_file(const InputFile& file, const std::function<void(std::uint64_t, std::uint64_t)>& progress = {});

}  // namespace minnow::convert
