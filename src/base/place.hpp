// Handles of the C interface: C++ objects in memory that the caller gives. Depends on public types.
#pragma once

#include <new>

#include "minnow/types.hpp"

namespace minnow {

// Moves `value` into the caller's memory, aligned as uint64_t is. Errors: bad_argument, misaligned, memory_too_small.
template <class Handle>
Status place(Handle value, void* memory, std::size_t memory_size, Handle** out) noexcept {
  static_assert(alignof(Handle) <= alignof(std::uint64_t));
  if (memory == nullptr || out == nullptr) return Status::bad_argument;
  if (reinterpret_cast<std::uintptr_t>(memory) % alignof(std::uint64_t) != 0) return Status::misaligned;
  if (memory_size < sizeof(Handle)) return Status::memory_too_small;
  *out = new (memory) Handle(static_cast<Handle&&>(value));
  return Status::ok;
}

}  // namespace minnow
