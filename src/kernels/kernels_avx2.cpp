// AVX2 with FMA and F16C: the reference's operations, 8 lanes at a time, in the same order.
// Only intrinsics and functions that are not inline here: no weak symbol may carry AVX2 code into the portable path.
#include "kernels/kernels.hpp"

#if defined(__x86_64__) && MINNOW_SIMD >= 1

#include "kernels/kernels_x86.hpp"
#include "kernels/tables.hpp"

namespace minnow {
namespace {

// q8: |w| as unsigned times x with w's sign. Never |x|: activations stay within +-127, so that any weight byte, -128
// included, is exact, and a pair of products stays below 2^15.
struct MaddubsQ8 {
  using Group = Q8Group;
  struct Weights {
    __m256i w, magnitude;
  };
  static constexpr int kTokens = 4;
  static constexpr int kParts = 1;
  template <int Part>
  static Weights prepare(__m256i load) {
    return {load, _mm256_abs_epi8(load)};
  }
  static __m256i start(std::int32_t) { return _mm256_setzero_si256(); }
  static __m256i step(__m256i dot, const Weights& rows, __m256i x) {
    const __m256i pairs = _mm256_maddubs_epi16(rows.magnitude, _mm256_sign_epi8(x, rows.w));
    return _mm256_add_epi32(dot, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  static __m256 total(__m256i dot, std::int32_t) { return _mm256_cvtepi32_ps(dot); }
};

// q4: nibbles as unsigned. The 8 steps of a group sum to at most 16 * 15 * 127 = 30480 a 16-bit lane, so they are
// widened once a group; 8 times the activations' sum makes up for the nibbles' offset.
struct MaddubsQ4 {
  using Group = Q4Group;
  using Weights = __m256i;
  static constexpr int kTokens = 4;
  static constexpr int kParts = 2;
  template <int Part>
  static Weights prepare(__m256i load) {
    return _mm256_and_si256(Part == 0 ? load : _mm256_srli_epi16(load, 4), _mm256_set1_epi8(15));
  }
  static __m256i start(std::int32_t) { return _mm256_setzero_si256(); }
  static __m256i step(__m256i dot, Weights w, __m256i x) { return _mm256_add_epi16(dot, _mm256_maddubs_epi16(w, x)); }
  static __m256 total(__m256i dot, std::int32_t sum) {
    const __m256i more = _mm256_slli_epi32(_mm256_set1_epi32(sum), 3);
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_madd_epi16(dot, _mm256_set1_epi16(1)), more));
  }
};

}  // namespace

const Kernels kAvx2Kernels = vector_table(Isa::avx2, "avx2", matmul_int<MaddubsQ8>, matmul_int<MaddubsQ4>);

}  // namespace minnow

#endif
