// What the x86-64 loops share, for loops_avx2.cpp and loops_vnni_*.cpp alone, each compiled with its own flags.
// Internal linkage: an instruction-set file defines no weak symbols.
#pragma once

#include <immintrin.h>

#include "tools/bench/loops.hpp"

namespace minnow {
namespace {

// Registers are named, not an array, and hidden from the compiler: else it merges equal sums or keeps them in memory.
#define MINNOW_TEN(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9)
#define MINNOW_OPAQUE(a, b) __asm__ volatile("" : "+x"(a), "+x"(b))

std::uint64_t read(const std::byte* at, std::size_t bytes) {
  __m256i a = _mm256_setzero_si256();
  __m256i b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  const auto load = [&at](int i) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at) + i); };
  for (; bytes >= 256; bytes -= 256, at += 256) {
    a = _mm256_add_epi64(a, load(0));
    b = _mm256_add_epi64(b, load(1));
    c = _mm256_add_epi64(c, load(2));
    d = _mm256_add_epi64(d, load(3));
    e = _mm256_add_epi64(e, load(4));
    f = _mm256_add_epi64(f, load(5));
    g = _mm256_add_epi64(g, load(6));
    h = _mm256_add_epi64(h, load(7));
  }
  a = _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d));
  e = _mm256_add_epi64(_mm256_add_epi64(e, f), _mm256_add_epi64(g, h));
  a = _mm256_add_epi64(a, e);
  const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(half)) + static_cast<std::uint64_t>(_mm_extract_epi64(half, 1));
}

std::uint64_t multiply_float(std::uint64_t rounds) {
  __m256 x = _mm256_set1_ps(0.5f);
  __m256 y = _mm256_set1_ps(0.25f);
#define MINNOW_DECLARE(i) __m256 a##i = _mm256_set1_ps(1.0f + i);
#define MINNOW_STEP(i)                \
  a##i = _mm256_fmadd_ps(x, y, a##i); \
  MINNOW_OPAQUE(a##i, x);
#define MINNOW_USE(i) MINNOW_OPAQUE(a##i, x);
  MINNOW_TEN(MINNOW_DECLARE)
  for (std::uint64_t round = 0; round < rounds; ++round) {
    MINNOW_TEN(MINNOW_STEP)
    MINNOW_TEN(MINNOW_STEP)
  }
  MINNOW_TEN(MINNOW_USE)
#undef MINNOW_DECLARE
#undef MINNOW_STEP
#undef MINNOW_USE
  return rounds * 20 * 8;
}

// Step: a type with `static __m256i step(__m256i sum, __m256i w, __m256i x)`, 32 products a call.
template <class Step>
std::uint64_t multiply_int8(std::uint64_t rounds) {
  __m256i w = _mm256_set1_epi8(3);
  __m256i x = _mm256_set1_epi8(5);
#define MINNOW_DECLARE(i) __m256i a##i = _mm256_set1_epi32(i);
#define MINNOW_STEP(i)           \
  a##i = Step::step(a##i, w, x); \
  MINNOW_OPAQUE(a##i, w);
#define MINNOW_USE(i) MINNOW_OPAQUE(a##i, x);
  MINNOW_TEN(MINNOW_DECLARE)
  for (std::uint64_t round = 0; round < rounds; ++round) {
    MINNOW_TEN(MINNOW_STEP)
    MINNOW_TEN(MINNOW_STEP)
  }
  MINNOW_TEN(MINNOW_USE)
#undef MINNOW_DECLARE
#undef MINNOW_STEP
#undef MINNOW_USE
  return rounds * 20 * 32;
}

}  // namespace
}  // namespace minnow
