// The four classes of characters that GPT-2's splitting rule knows. Depends on nothing.
#pragma once

#include <cstdint>

namespace minnow {

enum class CharClass : std::uint8_t { letter, number, space, other };

// The Unicode property White_Space.
constexpr bool is_white_space(std::uint32_t code) noexcept {
  return (code >= 0x09 && code <= 0x0d) || code == 0x20 || code == 0x85 || code == 0xa0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
         code == 0x3000;
}

// letter: general category L*; number: N*; space: White_Space; other: the rest, marks and what is not assigned
// included.
CharClass class_of(std::uint32_t code) noexcept;

}  // namespace minnow
