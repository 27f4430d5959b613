// The limits of AVX2 with FMA: int8 products by vpmaddubsw, vpmaddwd and an addition, without the signs' preparation.
#include "tools/bench/loops.hpp"

#if defined(__x86_64__)

#include "tools/bench/loops_x86.hpp"

namespace minnow {
namespace {

struct Maddubs {
  static __m256i step(__m256i sum, __m256i w, __m256i x) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(w, x), _mm256_set1_epi16(1)));
  }
};

}  // namespace

const LimitLoops kAvx2Loops = {read, multiply_float, multiply_int8<Maddubs>};

}  // namespace minnow

#endif
