// The AVX2 table with 256-bit VNNI in its AVX-512 encoding (AVX512-VNNI and VL: servers, some laptops).
#include "kernels/kernels.hpp"

#if defined(__x86_64__) && MINNOW_SIMD >= 2

#include <immintrin.h>

namespace {
inline __m256i dot4(__m256i acc, __m256i w, __m256i x) { return _mm256_dpbusd_epi32(acc, w, x); }
}  // namespace

#include "kernels/kernels_vnni.hpp"
#include "kernels/tables.hpp"

namespace minnow {
const Kernels kVnniEvexKernels = vnni_table("vnni (EVEX)");
}

#endif
