// The sizes, offsets and values that kernels are tried with: one list for tests and benchmarks.
// All within the contract of kernels.hpp: finite, and no intermediate result is a non-zero denormal.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/half.hpp"
#include "base/rng.hpp"
#include "kernels/layout.hpp"

namespace minnow::test {

inline constexpr std::uint32_t kWidths[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 128, 384, 385};
inline constexpr std::uint32_t kHeadSizes[] = {1, 2, 3, 5, 8, 12, 16, 31, 32, 40, 64, 72, 96, 104, 128};
inline constexpr std::uint32_t kFirstSlots[] = {0, 1, 4, 7, 8, 13, 63};
inline constexpr std::uint32_t kMostTokens = 17;

// Elements between a buffer's end and the unreadable page: 0 finds every read past the end, 1 makes the start odd.
inline constexpr std::uint32_t kSlacks[] = {0, 1};

struct MatmulCase {
  std::uint32_t groups;
  std::uint32_t block_begin;
  std::uint32_t block_end;
};
inline constexpr MatmulCase kMatmulCases[] = {{1, 0, 1},  {1, 0, 2},  {2, 0, 3},  {4, 0, 4},  {3, 1, 6},   {1, 3, 9},
                                              {2, 2, 9},  {1, 0, 8},  {2, 1, 10}, {1, 5, 15}, {1, 15, 26}, {1, 1, 13},
                                              {2, 7, 20}, {1, 0, 19}, {5, 3, 4},  {12, 0, 2}, {2, 5, 5}};

// Deterministic random numbers.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t bits() { return draw64(seed_, index_++); }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(bits() >> 32) % n; }
  double unit() { return unit_interval(bits()); }  // [0, 1)
  float uniform(float low, float high) { return static_cast<float>(low + unit() * (high - low)); }
  double normal() { return std::sqrt(-2 * std::log(1 - unit())) * std::cos(6.283185307179586 * unit()); }

 private:
  std::uint64_t seed_;
  std::uint64_t index_ = 0;
};

enum class Values {
  plain,   // normal distribution, as activations are
  mixed,   // magnitudes from 2^-24 to 2^12, both signs
  sparse,  // mostly zeros, of either sign
  ties,    // halves of integers with the largest magnitude 127: every rounding is a tie
  near,    // the same times 1.1: every rounding is all but a tie
  equal,   // one value over and over
  zeros,   // +0 and -0
};
inline constexpr Values kValues[] = {Values::plain, Values::mixed, Values::sparse, Values::ties,
                                     Values::near,  Values::equal, Values::zeros};

inline float one_value(Values kind, Random& random, std::size_t i) {
  switch (kind) {
    case Values::plain:
      return static_cast<float>(random.normal());
    case Values::mixed: {
      const float magnitude = std::ldexp(random.uniform(1, 2), static_cast<int>(random.below(36)) - 24);
      return random.below(2) != 0 ? magnitude : -magnitude;
    }
    case Values::sparse:
      if (random.below(8) == 0) return static_cast<float>(random.normal());
      return random.below(2) != 0 ? 0.0f : -0.0f;
    case Values::ties:
    case Values::near: {
      const float unit = kind == Values::near ? 1.1f : 1.0f;
      if (i % kGroupColumns == 3) return -127.0f * unit;
      return (static_cast<float>(static_cast<int>(random.below(253)) - 126) + 0.5f) * unit;
    }
    case Values::equal:
      return 0.7f;
    case Values::zeros:
      return random.below(2) != 0 ? 0.0f : -0.0f;
  }
  return 0;
}

inline void fill(float* x, std::size_t n, Values kind, Random& random) {
  for (std::size_t i = 0; i < n; ++i) x[i] = one_value(kind, random, i);
}

// Finite halves: denormal ones, zeros of both signs, the largest.
inline Half any_half(Random& random) {
  switch (random.below(8)) {
    case 0:
      return static_cast<Half>((random.bits() & 0x8000u) | random.below(0x400));  // zero or denormal
    case 1:
      return static_cast<Half>((random.bits() & 0x8000u) | 0x7bffu);
    default:
      return float_to_half(static_cast<float>(random.normal()));
  }
}

// Groups of q8 or q4 weights: every byte value, in q8 also -128, all nibbles at either end, and scales that are 0,
// denormal, negative and ordinary.
template <class Group>
void fill_groups(std::byte* at, std::size_t groups, Random& random) {
  for (std::size_t g = 0; g < groups; ++g, at += sizeof(Group)) {
    Group group;
    const std::uint32_t kind = random.below(7);
    for (Half& scale : group.scale) {
      scale = float_to_half(random.uniform(0.0001f, 0.02f));
      if (kind == 0) scale = static_cast<Half>(random.below(0x400));
      if (kind == 1) scale = 0;
      if (kind == 2 || (kind == 0 && random.below(2) != 0)) scale = static_cast<Half>(scale | 0x8000u);
    }
    auto* const bytes = reinterpret_cast<std::uint8_t*>(group.w);
    for (std::size_t i = 0; i < sizeof group.w; ++i) {
      bytes[i] = static_cast<std::uint8_t>(random.below(256));
      if (kind == 3) bytes[i] = sizeof(Group) == sizeof(Q8Group) ? 0x80 : 0x00;  // the least weight
      if (kind == 4) bytes[i] = sizeof(Group) == sizeof(Q8Group) ? 0x7f : 0xff;  // the largest
    }
    std::memcpy(at, &group, sizeof group);
  }
}
inline void fill_quantised(WeightType type, std::byte* at, std::size_t bytes, Random& random) {
  if (type == WeightType::q8) fill_groups<Q8Group>(at, bytes / sizeof(Q8Group), random);
  if (type == WeightType::q4) fill_groups<Q4Group>(at, bytes / sizeof(Q4Group), random);
}

}  // namespace minnow::test
