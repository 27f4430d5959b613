// Floats of all magnitudes, for tests of functions of one number.
#pragma once

#include <cstdint>

#include "base/bits.hpp"

namespace minnow::test {

// Calls body(x) for floats of both signs whose magnitudes are spread evenly over the bit patterns of low .. high.
template <class Body>
void sweep(float low, float high, std::uint32_t step, const Body& body) {
  for (std::uint32_t bits = bit_cast<std::uint32_t>(low); bits <= bit_cast<std::uint32_t>(high); bits += step) {
    body(bit_cast<float>(bits));
    body(-bit_cast<float>(bits));
  }
}

}  // namespace minnow::test
