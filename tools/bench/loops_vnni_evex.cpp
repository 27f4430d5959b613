// The limits of AVX2 with 256-bit VNNI in its AVX-512 encoding.
#include "tools/bench/loops.hpp"

#if defined(__x86_64__)

#include "tools/bench/loops_x86.hpp"

namespace minnow {
namespace {

struct Dpbusd {
  static __m256i step(__m256i sum, __m256i w, __m256i x) { return _mm256_dpbusd_epi32(sum, w, x); }
};

}  // namespace

const LimitLoops kVnniEvexLoops = {read, multiply_float, multiply_int8<Dpbusd>};

}  // namespace minnow

#endif
