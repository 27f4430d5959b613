// How both VNNI encodings sum four products, for kernels_vnni_evex.cpp and kernels_vnni_vex.cpp alone. Internal
// linkage.
#pragma once

#include "kernels/matmul_x86.hpp"
#include "kernels/shared.hpp"

namespace minnow {
namespace {

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
  static __m256i start(__m256i sum) { return _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(sum, 7)); }
  static __m256i step(__m256i dot, Weights w, __m256i x) { return dot4(dot, w, x); }
  static __m256i total(__m256i dot, __m256i) { return dot; }
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
  static __m256i start(__m256i sum) { return _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(sum, 3)); }
  static __m256i step(__m256i dot, Weights w, __m256i x) { return dot4(dot, w, x); }
  static __m256i total(__m256i dot, __m256i) { return dot; }
};

constexpr Kernels vnni_table(const char* name) {
  return vector_table(Isa::vnni, name, matmul_int<VnniQ8>, matmul_int<VnniQ4>);
}

}  // namespace
}  // namespace minnow
