// The AVX2 table with 256-bit VNNI in its VEX encoding (AVX-VNNI: recent laptops without AVX-512).
#include "kernels/kernels.hpp"

#if defined(__x86_64__) && MINNOW_SIMD >= 2

#include "kernels/tables.hpp"

#if defined(__AVXVNNI__)

#include <immintrin.h>

namespace {
inline __m256i dot4(__m256i acc, __m256i w, __m256i x) { return _mm256_dpbusd_avx_epi32(acc, w, x); }
}  // namespace

#include "kernels/kernels_vnni.hpp"

namespace minnow {
const Kernels kVnniVexKernels = vnni_table("vnni (VEX)");
}

#else

namespace minnow {
const Kernels kVnniVexKernels = {};  // the compiler is older than the instruction
}

#endif
#endif
