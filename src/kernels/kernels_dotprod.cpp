// The NEON table with the dot product instruction (Raspberry Pi 5, recent phones and Apple processors).
// Only intrinsics and internal functions here and in matmul_arm.hpp: no weak symbols.
#include "kernels/kernels.hpp"

#if defined(__aarch64__) && MINNOW_SIMD >= 2

#include "kernels/matmul_arm.hpp"
#include "kernels/shared.hpp"
#include "kernels/tables.hpp"

namespace minnow {
namespace {

// A lane is a row.
template <class Load>
struct Sdot : Load {
  static constexpr int kTile = 4;

  int32x4_t low = {};
  int32x4_t high = {};

  template <int Lane>
  void add(const Steps& w, int8x16_t x) {
    low = vdotq_laneq_s32(low, w.first_low, x, Lane);
    high = vdotq_laneq_s32(high, w.first_high, x, Lane);
    low = vdotq_laneq_s32(low, w.second_low, x, Lane + 1);
    high = vdotq_laneq_s32(high, w.second_high, x, Lane + 1);
  }
};

struct SdotQ8 : Sdot<LoadQ8> {
  Floats total(std::int32_t) const { return {vcvtq_f32_s32(low), vcvtq_f32_s32(high)}; }
};

// Nibbles are weights plus 8.
struct SdotQ4 : Sdot<LoadQ4> {
  Floats total(std::int32_t sum) const {
    const int32x4_t less = vdupq_n_s32(8 * sum);
    return {vcvtq_f32_s32(vsubq_s32(low, less)), vcvtq_f32_s32(vsubq_s32(high, less))};
  }
};

}  // namespace

const Kernels kDotprodKernels = vector_table(Isa::dotprod, "dotprod", matmul_int<SdotQ8>, matmul_int<SdotQ4>);

}  // namespace minnow

#endif
