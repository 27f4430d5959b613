// NEON of 32-bit Arm with VFPv4 (Raspberry Pi 2, and any later one under a 32-bit system). The kernels of
// kernels_arm.hpp; vector_armv7.hpp stands in for what is missing.
// Only intrinsics and functions that are not inline here and there: no weak symbols.
#include "kernels/kernels.hpp"

#if defined(__arm__) && MINNOW_SIMD >= 1

#include "kernels/tables.hpp"

#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)

#include "kernels/kernels_arm.hpp"
#include "kernels/widen_arm.hpp"

namespace minnow {

const Kernels kArmv7Kernels = vector_table(Isa::armv7, "armv7", matmul_int<WidenQ8<1>>, matmul_int<WidenQ4<1>>);

}  // namespace minnow

#else

namespace minnow {
const Kernels kArmv7Kernels = {};
}

#endif
#endif
