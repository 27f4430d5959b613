// What can be known of a caller's pointer before anything is read or written there. Depends on public types.
#pragma once

#include "minnow/types.hpp"

namespace minnow {

// No struct that carries its size is larger, in any version: a struct_size beyond it was never set.
inline constexpr std::size_t kLargestStruct = 4096;

inline bool is_aligned(const void* p, std::size_t alignment) noexcept {
  return reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
}

// A pointer to one T.
template <class T>
Status check_pointer(const T* p) noexcept {
  if (p == nullptr) return Status::bad_argument;
  return is_aligned(p, alignof(T)) ? Status::ok : Status::misaligned;
}

// The same, or null.
template <class T>
Status check_optional(const T* p) noexcept {
  return p == nullptr ? Status::ok : check_pointer(p);
}

// Room for `count` elements, or for none.
template <class T>
Status check_room(const T* p, std::size_t count) noexcept {
  return count == 0 ? Status::ok : check_pointer(p);
}

// `count` elements that will be read: no more than an object can have, all within the address space.
template <class T>
Status check_input(const T* p, std::size_t count) noexcept {
  const std::uintptr_t behind = UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(p);
  if (count > PTRDIFF_MAX / sizeof(T) || count > behind / sizeof(T)) return Status::bad_argument;
  return check_room(p, count);
}

// The first of several that is not ok.
template <class... More>
Status first_error(Status first, More... more) noexcept {
  if constexpr (sizeof...(more) != 0) return first == Status::ok ? first_error(more...) : first;
  return first;
}

}  // namespace minnow
