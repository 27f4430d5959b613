// How both VNNI encodings sum four products, for kernels_vnni_evex.cpp and kernels_vnni_vex.cpp alone. Internal
// linkage.
#pragma once

#include "kernels/coefficients.hpp"
#include "kernels/matmul_x86.hpp"
#include "kernels/shared.hpp"

namespace minnow {
namespace {

// A sum of magnitude below 2^22 that starts here is the bits of 1.5 * 2^23 plus that sum as a float. Taking the float
// away again converts it exactly, and on Intel's recent cores on a port that the products leave free, unlike a
// conversion.
constexpr std::int32_t kSumStart = 0x4b400000;
static_assert(kRoundMagic == 8388608 + (kSumStart - 0x4b000000), "0x4b000000 is 2^23, where a bit is 1");
static_assert(32 * 127 * 128 < 1 << 22, "a group's sum, with the largest activations and weights");
__m256 float_sum(__m256i dot) { return _mm256_sub_ps(_mm256_castsi256_ps(dot), _mm256_set1_ps(kRoundMagic)); }

// Four products in one instruction, unsigned times signed. q8: flipping a weight's sign bit adds 128 to it, and
// starting at -128 times the sum of the activations takes that away again.
struct VnniQ8 {
  using Group = Q8Group;
  using Weights = __m256i;
  static constexpr int kTokens = 6;
  static constexpr int kParts = 1;
  template <int Part>
  static Weights prepare(__m256i load) {
    return _mm256_xor_si256(load, _mm256_set1_epi8(-128));
  }
  static __m256i start(std::int32_t sum) { return _mm256_set1_epi32(kSumStart - 128 * sum); }
  static __m256i step(__m256i dot, Weights w, __m256i x) { return dot4(dot, w, x); }
  static __m256 total(__m256i dot, std::int32_t) { return float_sum(dot); }
};

// q4: nibbles are weights plus 8.
struct VnniQ4 {
  using Group = Q4Group;
  using Weights = __m256i;
  static constexpr int kTokens = 6;
  static constexpr int kParts = 2;
  template <int Part>
  static Weights prepare(__m256i load) {
    return _mm256_and_si256(Part == 0 ? load : _mm256_srli_epi16(load, 4), _mm256_set1_epi8(15));
  }
  static __m256i start(std::int32_t sum) { return _mm256_set1_epi32(kSumStart - 8 * sum); }
  static __m256i step(__m256i dot, Weights w, __m256i x) { return dot4(dot, w, x); }
  static __m256 total(__m256i dot, std::int32_t) { return float_sum(dot); }
};

constexpr Kernels vnni_table(const char* name) {
  return vector_table(Isa::vnni, name, matmul_int<VnniQ8>, matmul_int<VnniQ4>);
}

}  // namespace
}  // namespace minnow
