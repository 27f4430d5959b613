// How many tokens the cache holds after more were fed than the context has room for: counting only, for the session
// and for whoever keeps no more of a long prompt than decides the result. Depends on the public types.
#pragma once

#include "minnow/types.hpp"

namespace minnow {

// How many of the newest tokens stay when the context is full and a token comes.
constexpr std::uint32_t kept_when_full(WhenFull when_full, std::uint32_t context) noexcept {
  return when_full == WhenFull::slide ? context - 1 : context / 2;
}

// How many tokens the window holds at least, once an edge was crossed: the kept ones and the one that came.
constexpr std::uint32_t fewest_after_edge(WhenFull when_full, std::uint32_t context) noexcept {
  return kept_when_full(when_full, context) + 1;
}

// Tokens in the cache once `fed` more, singly or at once, followed `held` that were in it. Feeding as many of the
// newest tokens to an empty cache gives the same. Not for WhenFull::stop beyond the context, which feeds nothing then.
constexpr std::uint32_t tokens_in_window(WhenFull when_full, std::uint32_t context, std::uint32_t held,
                                         std::uint64_t fed) noexcept {
  const std::uint32_t room = context - held;
  if (fed <= room) return held + static_cast<std::uint32_t>(fed);
  const std::uint32_t kept = kept_when_full(when_full, context);
  const std::uint64_t beyond = fed - room;    // tokens fed after the context was first full
  const std::uint32_t step = context - kept;  // of them between two shifts
  return kept + static_cast<std::uint32_t>((beyond - 1) % step) + 1;
}

}  // namespace minnow
