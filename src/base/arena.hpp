// A bump allocator that either counts or carves. One layout function is run over both kinds, so the size it reports and
// the size it takes cannot differ. Every take is rounded to kAlign, and so is the block, so the count is exact.
#pragma once

#include <type_traits>

#include "base/bits.hpp"
#include "minnow/types.hpp"

namespace minnow {

class Arena {
 public:
  Arena() noexcept = default;                                        // counting: take() returns null
  explicit Arena(Span<std::byte> block) noexcept : block_(block) {}  // carving: block starts on kAlign

  // Room for `count` objects of T, uninitialised. Null when counting, after an overflow, or past the end of the block.
  template <class T>
  T* take(std::uint64_t count) noexcept {
    static_assert(std::is_trivially_destructible_v<T>, "nothing in an arena is ever destroyed");
    static_assert(alignof(T) <= kAlign, "the block is aligned to kAlign only");
    std::uint64_t bytes = 0;
    std::uint64_t end = 0;
    if (!checked_multiply(count, sizeof(T), &bytes) || !checked_round_up(bytes, kAlign, &bytes) ||
        !checked_add(used_, bytes, &end) || end > SIZE_MAX) {
      overflowed_ = true;
      return nullptr;
    }
    std::byte* const at = block_.data() != nullptr && end <= block_.size() ? block_.data() + used_ : nullptr;
    used_ = end;
    return reinterpret_cast<T*>(at);
  }

  std::uint64_t used() const noexcept { return used_; }  // bytes
  bool overflowed() const noexcept { return overflowed_; }

 private:
  Span<std::byte> block_;
  std::uint64_t used_ = 0;
  bool overflowed_ = false;
};

}  // namespace minnow
