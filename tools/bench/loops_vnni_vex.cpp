// The limits of AVX2 with 256-bit VNNI in its VEX encoding.
#include "tools/bench/loops.hpp"

#if defined(__x86_64__)
#if defined(__AVXVNNI__)

#include "tools/bench/loops_x86.hpp"

namespace minnow {
namespace {

struct Dpbusd {
  static __m256i step(__m256i sum, __m256i w, __m256i x) { return _mm256_dpbusd_avx_epi32(sum, w, x); }
};

}  // namespace

const LimitLoops kVnniVexLoops = {read, multiply_float, multiply_int8<Dpbusd>};

}  // namespace minnow

#else

namespace minnow {
const LimitLoops kVnniVexLoops = {};  // the compiler is older than the instruction
}

#endif
#endif
