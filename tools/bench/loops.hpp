// What the machine can do at most, as loops that do nothing else: reading memory, and multiplying in registers with the
// instructions that a table of kernels multiplies with. `minnow bench` holds the kernels against them. Depends on
// kernels.
#pragma once

#include "kernels/kernels.hpp"

namespace minnow {

struct LimitLoops {
  // Sums all bytes as numbers of 64 bits or more, from front to back, several sums at once; a rest below one round is
  // left out. Returns a number that depends on all of them, so that nothing can be left out by the compiler.
  std::uint64_t (*read)(const std::byte* at, std::size_t bytes) = nullptr;
  // Multiply-adds of floats as the table does them, and of int8 with sums of 32 bits, on operands in registers and
  // enough sums at once to hide their latency. Both return how many they did.
  std::uint64_t (*multiply_float)(std::uint64_t rounds) = nullptr;
  std::uint64_t (*multiply_int8)(std::uint64_t rounds) = nullptr;
};

// Those of a table. Every table has some.
const LimitLoops& limit_loops(const Kernels& kernels);

extern const LimitLoops kPortableLoops;
#if defined(__x86_64__)
extern const LimitLoops kAvx2Loops;
extern const LimitLoops kVnniEvexLoops;
extern const LimitLoops kVnniVexLoops;  // all null if the compiler cannot make it
#elif defined(__aarch64__)
extern const LimitLoops kNeonLoops;
extern const LimitLoops kDotprodLoops;
#elif defined(__arm__)
extern const LimitLoops kArmv7Loops;
#endif

}  // namespace minnow
