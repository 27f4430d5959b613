// How both VNNI encodings sum four products, for kernels_vnni_evex.cpp and kernels_vnni_vex.cpp alone. Internal
// linkage.
#pragma once

#include "kernels/kernels_x86.hpp"

namespace minnow {
namespace {

// 8 rows x 4 columns of products in one instruction, unsigned times signed: flipping a weight's sign bit adds 128 to
// it, and starting at -128 times the sum of the activations takes that away again.
struct DotVnni {
  using Weights = __m256i;
  static Weights prepare(__m256i w) { return _mm256_xor_si256(w, _mm256_set1_epi8(-128)); }
  static __m256i start(std::int32_t sum) { return _mm256_set1_epi32(-128 * sum); }
  static __m256i step(__m256i acc, Weights w, __m256i x) { return dot4(acc, w, x); }
};

}  // namespace
}  // namespace minnow
