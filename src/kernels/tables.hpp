// The tables of the instruction-set files, for select.cpp and for each other. A file whose architecture, compiler or
// MINNOW_SIMD does not fit defines nothing, and select.cpp asks for no table that is not there. Depends on kernels.hpp.
#pragma once

#include "kernels/kernels.hpp"

namespace minnow {

extern const Kernels kReferenceKernels;

#if MINNOW_SIMD >= 1 && defined(__x86_64__)
extern const Kernels kAvx2Kernels;
#if MINNOW_SIMD >= 2
extern const Kernels kVnniEvexKernels;
extern const Kernels kVnniVexKernels;  // isa == reference if the compiler cannot make it
#endif
#endif

#if MINNOW_SIMD >= 1 && defined(__aarch64__)
extern const Kernels kNeonKernels;
#if MINNOW_SIMD >= 2
extern const Kernels kDotprodKernels;
#endif
#endif

#if MINNOW_SIMD >= 1 && defined(__arm__)
extern const Kernels kArmv7Kernels;  // isa == reference if the target passes no floats in registers, or is older
#endif

}  // namespace minnow
