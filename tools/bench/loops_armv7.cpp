// The limits of NEON on 32-bit Arm with VFPv4.
#include "tools/bench/loops.hpp"

#if defined(__arm__)
#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)

#include "tools/bench/loops_arm.hpp"

namespace minnow {
const LimitLoops kArmv7Loops = {read, multiply_float, multiply_int8<Widen>};
}

#else

namespace minnow {
const LimitLoops kArmv7Loops = {};  // the compiler cannot make it
}

#endif
#endif
