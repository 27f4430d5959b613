// The loops of the scalar reference, and which loops belong to which table.
#include "tools/bench/loops.hpp"

#include <cstring>

#include "kernels/exact_math.hpp"
#include "kernels/tables.hpp"

namespace minnow {
namespace {

template <class T>
void opaque(T& value) {  // the compiler must not know what a loop computes with, nor leave it out
  __asm__ volatile("" : "+r"(value));
}

std::uint64_t read(const std::byte* at, std::size_t bytes) {
  std::uint64_t sum[8] = {};
  for (; bytes >= sizeof sum; bytes -= sizeof sum, at += sizeof sum) {
    std::uint64_t word[8];
    std::memcpy(word, at, sizeof word);
    for (int i = 0; i < 8; ++i) sum[i] += word[i];
  }
  std::uint64_t total = 0;
  for (const std::uint64_t s : sum) total += s;
  return total;
}

std::uint64_t multiply_float(std::uint64_t rounds) {
  std::uint32_t bits = 0x3f000000u;  // 0.5
  float sum[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (std::uint64_t round = 0; round < rounds; ++round) {
    opaque(bits);
    const float x = bit_cast<float>(bits);
    for (float& s : sum) s = fused(x, s, x);
  }
  for (float& s : sum) {
    std::uint32_t used = bit_cast<std::uint32_t>(s);
    opaque(used);
  }
  return rounds * 8;
}

std::uint64_t multiply_int8(std::uint64_t rounds) {
  std::int32_t sum[8] = {};
  std::int32_t a = 3;
  std::int32_t b = 5;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::int32_t& s : sum) {
      opaque(a);
      opaque(b);
      s += static_cast<std::int8_t>(a) * static_cast<std::int8_t>(b);
      opaque(s);
    }
  }
  return rounds * 8;
}

}  // namespace

const LimitLoops kPortableLoops = {read, multiply_float, multiply_int8};

const LimitLoops& limit_loops(const Kernels& kernels) {
#if MINNOW_SIMD >= 1 && defined(__x86_64__)
  if (&kernels == &kAvx2Kernels) return kAvx2Loops;
#if MINNOW_SIMD >= 2
  if (&kernels == &kVnniEvexKernels) return kVnniEvexLoops;
  if (&kernels == &kVnniVexKernels) return kVnniVexLoops;
#endif
#elif MINNOW_SIMD >= 1 && defined(__aarch64__)
  if (&kernels == &kNeonKernels) return kNeonLoops;
#if MINNOW_SIMD >= 2
  if (&kernels == &kDotprodKernels) return kDotprodLoops;
#endif
#elif MINNOW_SIMD >= 1 && defined(__arm__)
  if (&kernels == &kArmv7Kernels) return kArmv7Loops;
#endif
  static_cast<void>(kernels);
  return kPortableLoops;
}

}  // namespace minnow
