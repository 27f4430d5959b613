// NEON with the dot product instruction (Raspberry Pi 5, recent phones and Apple processors).
// Only intrinsics and internal functions here and in kernels_arm.hpp: no weak symbols.
#include "kernels/kernels.hpp"

#if defined(__aarch64__)

#include "kernels/kernels_arm.hpp"
#include "kernels/tables.hpp"

namespace minnow {
namespace {

// The sums of 8 rows of one token: a lane is a row.
struct DotSdot {
  static constexpr int kTile = 4;

  int32x4_t low = vdupq_n_s32(0);
  int32x4_t high = vdupq_n_s32(0);

  // Two steps, times columns 4 Lane .. 4 Lane + 7 of x.
  template <int Lane>
  void add(const Steps& w, int8x16_t x) {
    low = vdotq_laneq_s32(low, w.first_low, x, Lane);
    high = vdotq_laneq_s32(high, w.first_high, x, Lane);
    low = vdotq_laneq_s32(low, w.second_low, x, Lane + 1);
    high = vdotq_laneq_s32(high, w.second_high, x, Lane + 1);
  }

  Floats total() const { return {vcvtq_f32_s32(low), vcvtq_f32_s32(high)}; }
};

}  // namespace

const Kernels kDotprodKernels = arm_table<DotSdot>(Isa::dotprod, "dotprod");

}  // namespace minnow

#endif
