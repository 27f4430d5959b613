// Slot arithmetic of the KV ring: which cache slot holds the i-th position counted from the oldest. Knows no data.
#pragma once

#include <cstdint>

namespace minnow {

struct Ring {
  std::uint32_t slots = 0;   // capacity
  std::uint32_t oldest = 0;  // slot of position 0; < slots
  std::uint32_t count = 0;   // positions held; <= slots

  bool full() const noexcept { return count == slots; }
  // position < slots.
  std::uint32_t slot(std::uint32_t position) const noexcept {
    const std::uint32_t until_wrap = slots - oldest;  // no division: this is asked many times a token
    return position < until_wrap ? oldest + position : position - until_wrap;
  }
  // How many of `wanted` positions from `position` on lie in consecutive slots.
  std::uint32_t contiguous(std::uint32_t position, std::uint32_t wanted) const noexcept {
    const std::uint32_t until_wrap = slots - slot(position);
    return wanted < until_wrap ? wanted : until_wrap;
  }
  void clear() noexcept {
    oldest = 0;
    count = 0;
  }
};

}  // namespace minnow
