// NEON of 32-bit Arm with VFPv4 (Raspberry Pi 2, and any later one under a 32-bit system). The kernels of
// kernels_arm.hpp; vector_armv7.hpp stands in for what is missing.
// Only intrinsics and internal functions here and there: no weak symbols.
#include "kernels/kernels.hpp"

#if defined(__arm__)

#include "kernels/tables.hpp"

#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)

#include "kernels/kernels_arm.hpp"

namespace minnow {
namespace {

// The sums of 8 rows of one token. A product is at most 128 * 127, so two of them fit into 16 bits.
struct DotWiden {
  static constexpr int kTile = 1;

  int32x4_t rows01 = vdupq_n_s32(0);  // two sums a row, to be added at the end
  int32x4_t rows23 = vdupq_n_s32(0);
  int32x4_t rows45 = vdupq_n_s32(0);
  int32x4_t rows67 = vdupq_n_s32(0);

  // Two steps, times columns 4 Lane .. 4 Lane + 7 of x.
  template <int Lane>
  void add(const Steps& w, int8x16_t x) {
    const int8x16_t first = vreinterpretq_s8_s32(vdupq_laneq_s32(vreinterpretq_s32_s8(x), Lane));
    const int8x16_t second = vreinterpretq_s8_s32(vdupq_laneq_s32(vreinterpretq_s32_s8(x), Lane + 1));
    rows01 = vpadalq_s16(rows01, low_products(w.first_low, first, w.second_low, second));
    rows23 = vpadalq_s16(rows23, high_products(w.first_low, first, w.second_low, second));
    rows45 = vpadalq_s16(rows45, low_products(w.first_high, first, w.second_high, second));
    rows67 = vpadalq_s16(rows67, high_products(w.first_high, first, w.second_high, second));
  }

  Floats total() const {
    return {vcvtq_f32_s32(vpaddq_s32(rows01, rows23)), vcvtq_f32_s32(vpaddq_s32(rows45, rows67))};
  }

 private:
  // a * b + c * d in 16 bits, for the low and the high 8 bytes.
  static int16x8_t low_products(int8x16_t a, int8x16_t b, int8x16_t c, int8x16_t d) {
    return vmlal_s8(vmull_s8(vget_low_s8(a), vget_low_s8(b)), vget_low_s8(c), vget_low_s8(d));
  }
  static int16x8_t high_products(int8x16_t a, int8x16_t b, int8x16_t c, int8x16_t d) {
    return vmlal_high_s8(vmull_high_s8(a, b), c, d);
  }
};

}  // namespace

const Kernels kArmv7Kernels = arm_table<DotWiden>(Isa::armv7, "armv7");

}  // namespace minnow

#else

namespace minnow {
const Kernels kArmv7Kernels = {};
}

#endif
#endif
