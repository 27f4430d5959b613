// The tables of the instruction-set files, for select.cpp and for each other. A file whose architecture or compiler
// does not fit defines nothing, and select.cpp asks for no table that is not there. Depends on kernels.hpp.
#pragma once

#include "kernels/kernels.hpp"

namespace minnow {

extern const Kernels kReferenceKernels;

#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kVnniEvexKernels;
extern const Kernels kVnniVexKernels;  // isa == reference if the compiler cannot make it
#endif

#if defined(__aarch64__)
extern const Kernels kNeonKernels;
extern const Kernels kDotprodKernels;
#endif

#if defined(__arm__)
extern const Kernels kArmv7Kernels;  // isa == reference if the target passes no floats in registers, or is older
#endif

}  // namespace minnow
