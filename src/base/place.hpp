// Handles of the C interface: C++ objects in memory that the caller gives. Depends on base/arguments.hpp.
#pragma once

#include <new>

#include "base/arguments.hpp"

namespace minnow {

// The first member of a handle: tells it from other memory, zeros and handles of other kinds among it.
template <std::uint32_t kValue>
struct Tag {
  std::uint32_t value = kValue;
  bool holds() const noexcept { return value == kValue; }
};

// Errors: bad_argument (null), misaligned, wrong_state (no such handle is there).
template <class Handle>
Status check_handle(const Handle* handle) noexcept {
  const Status status = check_pointer(handle);
  if (status != Status::ok) return status;
  return handle->tag.holds() ? Status::ok : Status::wrong_state;
}

// Whether place() would succeed. Errors: bad_argument, misaligned, memory_too_small.
template <class Handle>
Status check_place(const void* memory, std::size_t memory_size, Handle** out) noexcept {
  static_assert(alignof(Handle) <= alignof(std::uint64_t));
  const Status status = check_pointer(out);
  if (status != Status::ok) return status;
  if (memory == nullptr && memory_size != 0) return Status::bad_argument;
  if (!is_aligned(memory, alignof(std::uint64_t))) return Status::misaligned;
  return memory_size < sizeof(Handle) ? Status::memory_too_small : Status::ok;
}

// Moves `value` into the caller's memory, aligned as uint64_t is. Errors: as above.
template <class Handle>
Status place(Handle value, void* memory, std::size_t memory_size, Handle** out) noexcept {
  const Status status = check_place(memory, memory_size, out);
  if (status == Status::ok) *out = new (memory) Handle(static_cast<Handle&&>(value));
  return status;
}

}  // namespace minnow
