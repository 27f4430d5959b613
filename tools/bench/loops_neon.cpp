// The limits of NEON on any aarch64, without the dot product.
#include "tools/bench/loops.hpp"

#if defined(__aarch64__)

#include "tools/bench/loops_arm.hpp"

namespace minnow {
const LimitLoops kNeonLoops = {read, multiply_float, multiply_int8<Widen>};
}

#endif
