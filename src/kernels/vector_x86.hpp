// Vectors of 8 floats from memory on x86-64, for the kernels_*.cpp of x86 alone. Internal linkage, compiled with each
// file's own flags.
#pragma once

#include <immintrin.h>

#include "kernels/layout.hpp"

namespace minnow {
namespace {

// Eight elements as floats, from storage of either type.
struct F32 {
  static constexpr std::size_t kBytes = 4;
  static __m256 load8(const std::byte* at) { return _mm256_loadu_ps(reinterpret_cast<const float*>(at)); }
};
struct F16 {
  static constexpr std::size_t kBytes = 2;
  static __m256 load8(const std::byte* at) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
  }
};

// Asks for `Bytes` bytes that lie `distance` beyond `from`. Beyond the end of memory it does nothing.
template <std::size_t Bytes>
void prefetch(const std::byte* from, std::size_t distance) {
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(from) + distance;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < Bytes; i += 64) _mm_prefetch(reinterpret_cast<const char*>(at + i), _MM_HINT_T0);
}

}  // namespace
}  // namespace minnow
