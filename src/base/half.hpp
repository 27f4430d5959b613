// IEEE 754 half floats, portable and exact. Every instruction set's own conversion gives the same bits for finite
// values.
#pragma once

#include "base/bits.hpp"

namespace minnow {

using Half = std::uint16_t;  // bits of a binary16

inline constexpr float kHalfMax = 65504.0f;

[[gnu::always_inline]] inline float half_to_float(Half h) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t magnitude = h & 0x7fffu;
  if (magnitude >= 0x7c00u) return bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x0400u) return bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  const float value = static_cast<float>(magnitude) * 0x1p-24f;  // denormal halves are normal floats
  return sign != 0 ? -value : value;
}

// Rounds to nearest even; beyond the largest half saturates to +-65504; NaN stays NaN.
inline Half float_to_half(float x) noexcept {
  const std::uint32_t bits = bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<Half>(sign | 0x7e00u);
  if (magnitude >= 0x477fe000u) return static_cast<Half>(sign | 0x7bffu);  // >= 65504
  if (magnitude < 0x38800000u) {                                           // below 2^-14: a multiple of 2^-24
    const float shifted = bit_cast<float>(magnitude) + 0.5f;  // the last bit of a float in [0.5, 1) is 2^-24
    return static_cast<Half>(sign | (bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<Half>(sign | ((rounded - (112u << 23)) >> 13));
}

}  // namespace minnow
