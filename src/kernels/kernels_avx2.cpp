// AVX2 with FMA and F16C: the reference's operations, 8 lanes at a time, in the same order.
// Only intrinsics and internal functions here: no weak symbol may carry AVX2 code into the portable path.
#include "kernels/kernels.hpp"

#if defined(__x86_64__)

#include "kernels/kernels_x86.hpp"
#include "kernels/tables.hpp"

namespace minnow {
namespace {

// 8 rows x 4 columns of products: |w| as unsigned times x with w's sign. Never |x|: activations stay within +-127, so
// that any weight byte, -128 included, is exact, and a pair of products stays below 2^15.
struct DotMaddubs {
  using Weights = __m256i;
  static Weights prepare(__m256i w) { return w; }
  static __m256i start(std::int32_t) { return _mm256_setzero_si256(); }
  static __m256i step(__m256i acc, Weights w, __m256i x) {
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
    return _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

}  // namespace

const Kernels kAvx2Kernels = x86_table<DotMaddubs>(Isa::avx2, "avx2");

}  // namespace minnow

#endif
