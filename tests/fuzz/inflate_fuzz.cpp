// Any bytes as deflated data, given in pieces of a size that they choose, too.
#include <algorithm>
#include <cstring>

#include "tools/convert/inflate.hpp"
#include "tools/convert/refusal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace minnow::convert;
  if (size < 3) return 0;
  const std::uint64_t expected = data[0] + 256u * data[1];
  const std::size_t piece = data[2] % 64 + 1u;
  std::size_t at = 3;
  std::uint64_t written = 0;
  try {
    inflate(
        [&](unsigned char* out, std::size_t capacity) {
          const std::size_t n = std::min({capacity, piece, size - at});
          std::memcpy(out, data + at, n);
          at += n;
          return n;
        },
        expected, [&](const unsigned char*, std::size_t bytes) { written += bytes; });
    if (written != expected) __builtin_trap();
  } catch (const Refusal&) {
    if (written > expected) __builtin_trap();
  }
  return 0;
}
