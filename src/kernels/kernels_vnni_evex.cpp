// The AVX2 table with 256-bit VNNI in its AVX-512 encoding (AVX512-VNNI and VL: servers, some laptops).
#include "kernels/kernels.hpp"

#if defined(__x86_64__) && MINNOW_SIMD >= 2

#include <immintrin.h>

namespace {
inline __m256i dot4(__m256i acc, __m256i w, __m256i x) { return _mm256_dpbusd_epi32(acc, w, x); }
}  // namespace

#include "kernels/attention_x86.hpp"
#include "kernels/kernels_vnni.hpp"
#include "kernels/tables.hpp"

namespace minnow {
namespace {

// Keys and values in halves: the encoding has 32 registers, and 16 sums of 8 queries hide better than 8 what each waits
// for. Fewer queries are left to the AVX2 kernels.
void attention_scores_evex(const ScoreArgs& a) {
  if (a.queries < 8) return shared::attention_scores_f16(a);
  const std::uint32_t left = attention_scores<F16, 2, true>(a);
  if (left == 0) return;
  ScoreArgs tail = a;
  tail.q += (a.queries - left) * a.q_pitch;
  tail.out += (a.queries - left) * a.out_pitch;
  tail.queries = left;
  shared::attention_scores_f16(tail);
}

void attention_mix_evex(const MixArgs& a) {
  if (a.queries < 8) return shared::attention_mix_f16(a);
  const std::uint32_t left = attention_mix<F16, 2, true>(a);
  if (left == 0) return;
  MixArgs tail = a;
  tail.p += (a.queries - left) * a.p_pitch;
  tail.c += a.queries - left;
  tail.o += (a.queries - left) * a.o_pitch;
  tail.queries = left;
  shared::attention_mix_f16(tail);
}

constexpr Kernels evex_table() {
  Kernels table = vnni_table("vnni (EVEX)");
  table.attention_scores[1] = attention_scores_evex;
  table.attention_mix[1] = attention_mix_evex;
  return table;
}

}  // namespace

const Kernels kVnniEvexKernels = evex_table();

}  // namespace minnow

#endif
