// Splits work over the session's workers. Job i of at most shape.workers may use the i-th worker's scratch.
#pragma once

#include "session/state.hpp"

namespace minnow {

// Calls body(worker, begin, end) with parts that cover 0 .. count - 1, each a multiple of nothing in particular; on the
// calling thread alone when one part is enough. Body: a callable; parts may run in any order and at once.
template <class Body>
void for_parts(SessionState& s, std::uint32_t count, const Body& body) noexcept {
  const std::uint32_t parts = s.shape.workers < count ? s.shape.workers : count;
  if (parts <= 1 || s.executor.run == nullptr) {
    body(0u, 0u, count);
    return;
  }
  struct Call {
    const Body* body;
    std::uint32_t count;
    std::uint32_t parts;
  } call = {&body, count, parts};
  const Job job = [](void* arg, std::uint32_t i) {
    const Call& c = *static_cast<const Call*>(arg);
    const auto bound = [&](std::uint32_t k) {
      return static_cast<std::uint32_t>(std::uint64_t{c.count} * k / c.parts);
    };
    (*c.body)(i, bound(i), bound(i + 1));
  };
  s.executor.run(s.executor.self, parts, job, &call);
}

}  // namespace minnow
