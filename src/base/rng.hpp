// The one source of random numbers: a 64-bit draw as a pure function of (seed, index), so that any draw can be
// replayed. The mixing function is the finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, OOPSLA 2014).
#pragma once

#include <cstdint>

namespace minnow {

constexpr std::uint64_t mix64(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Seeds are hashed before the index is added, so that neighbouring seeds give unrelated sequences.
constexpr std::uint64_t draw64(std::uint64_t seed, std::uint64_t index) noexcept {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;
  return mix64(mix64(seed + kGolden) + (index + 1) * kGolden);
}

// A draw as a double in [0, 1), a multiple of 2^-53.
constexpr double unit_interval(std::uint64_t draw) noexcept { return static_cast<double>(draw >> 11) * 0x1p-53; }

}  // namespace minnow
