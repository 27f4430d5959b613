// The limits of NEON without the dot product: two widening multiplies a half, then a pairwise addition into 32 bits.
#include "tools/bench/loops.hpp"

#if defined(__aarch64__)

#include "tools/bench/loops_arm.hpp"

namespace minnow {
namespace {

struct Widen {
  static constexpr std::uint64_t kProducts = 16;
  static int32x4_t step(int32x4_t sum, int8x16_t w, int8x16_t x) {
    const int16x8_t low = vmull_s8(vget_low_s8(w), vget_low_s8(x));
    return vpadalq_s16(sum, vmlal_high_s8(low, w, x));
  }
};

}  // namespace

const LimitLoops kNeonLoops = {read, multiply_float, multiply_int8<Widen>};

}  // namespace minnow

#endif
