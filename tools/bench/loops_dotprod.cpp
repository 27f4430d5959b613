// The limits of NEON with the dot product instruction.
#include "tools/bench/loops.hpp"

#if defined(__aarch64__)

#include "tools/bench/loops_arm.hpp"

namespace minnow {
namespace {

struct Sdot {
  static constexpr std::uint64_t kProducts = 16;
  static int32x4_t step(int32x4_t sum, int8x16_t w, int8x16_t x) { return vdotq_laneq_s32(sum, w, x, 1); }
};

}  // namespace

const LimitLoops kDotprodLoops = {read, multiply_float, multiply_int8<Sdot>};

}  // namespace minnow

#endif
