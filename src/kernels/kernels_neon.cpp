// NEON of any aarch64 (Raspberry Pi 3 and 4): int8 products by widening multiplies.
// Only intrinsics and functions that are not inline here and in kernels_arm.hpp: no weak symbols.
#include "kernels/kernels.hpp"

#if defined(__aarch64__) && MINNOW_SIMD >= 1

#include "kernels/kernels_arm.hpp"
#include "kernels/tables.hpp"
#include "kernels/widen_arm.hpp"

namespace minnow {

const Kernels kNeonKernels = vector_table(Isa::neon, "neon", matmul_int<WidenQ8<2>>, matmul_int<WidenQ4<2>>);

}  // namespace minnow

#endif
