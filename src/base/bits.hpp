// Checked integer arithmetic, bit casts and other small things about numbers. Depends on the standard library only.
#pragma once

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "minnow cannot be compiled with -ffast-math or -ffinite-math-only: results would differ, and NaN go unseen"
#endif
#if defined(__i386__) && __FLT_EVAL_METHOD__ != 0
#error "minnow needs -msse2 -mfpmath=sse on 32-bit x86: the x87 would round differently"
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace minnow {

// Rounds n up to a multiple of `unit`, a power of two. The caller knows that it does not overflow.
template <class T>
constexpr T round_up(T n, T unit) noexcept {
  return static_cast<T>((n + (unit - 1)) & ~(unit - 1));
}

// False if the exact result does not fit; *out is then untouched.
inline bool checked_add(std::uint64_t a, std::uint64_t b, std::uint64_t* out) noexcept {
  if (a > UINT64_MAX - b) return false;
  *out = a + b;
  return true;
}
inline bool checked_multiply(std::uint64_t a, std::uint64_t b, std::uint64_t* out) noexcept {
  if (b != 0 && a > UINT64_MAX / b) return false;
  *out = a * b;
  return true;
}
inline bool checked_round_up(std::uint64_t n, std::uint64_t unit, std::uint64_t* out) noexcept {
  if (n > UINT64_MAX - (unit - 1)) return false;
  *out = round_up(n, unit);
  return true;
}

// C++20's std::bit_cast, for types of one size.
template <class To, class From>
inline To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From), "bit_cast needs equal sizes");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Neither NaN nor infinite.
constexpr bool is_finite(float x) noexcept { return x - x == 0.0f; }

constexpr bool host_is_little_endian() noexcept {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return false;
#else
  return true;
#endif
}

}  // namespace minnow
