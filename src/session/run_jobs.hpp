// Splits work over the session's workers. Job i of at most shape.workers may use the i-th worker's scratch.
#pragma once

#include "base/float_mode.hpp"
#include "session/state.hpp"

namespace minnow {

// A job must be worth handing over, which costs about a microsecond: bytes that it reads and computes with.
inline constexpr std::uint64_t kJobBytes = 16 * 1024;
// Jobs beyond one a worker, so that one who is held up leaves some of its share to others, cost less but not nothing.
inline constexpr std::uint64_t kShareBytes = 64 * 1024;

// Jobs of equal size that `bytes` of work may be cut into: the same number for each worker, at most `most`, or fewer
// jobs than workers.
constexpr std::uint32_t worthwhile_jobs(std::uint64_t bytes, std::uint32_t workers, std::uint32_t most) noexcept {
  const std::uint64_t jobs = bytes / kJobBytes;
  if (jobs == 0 || workers == 1) return 1;
  if (jobs < workers) return static_cast<std::uint32_t>(jobs);
  const std::uint64_t shares = bytes / kShareBytes / workers;
  return workers * (shares >= most ? most : shares == 0 ? 1 : static_cast<std::uint32_t>(shares));
}

// Calls body(part, begin, end) for `parts` parts that cover 0 .. count - 1 in order, none empty; on the calling thread
// alone when one part is enough. Body: a callable; parts may run in any order and at once.
template <class Body>
void for_parts(const Executor& executor, std::uint32_t count, std::uint32_t parts, const Body& body) noexcept {
  if (parts > count) parts = count;
  if (parts <= 1 || executor.run == nullptr) {
    body(0u, 0u, count);
    return;
  }
  struct Call {
    const Body* body;
    std::uint32_t count;
    std::uint32_t parts;
  } call = {&body, count, parts};
  const Job job = [](void* arg, std::uint32_t i) {
    const FloatMode mode;  // of this thread, which may be the host's own
    const Call& c = *static_cast<const Call*>(arg);
    const auto bound = [&](std::uint32_t k) {
      return static_cast<std::uint32_t>(std::uint64_t{c.count} * k / c.parts);
    };
    (*c.body)(i, bound(i), bound(i + 1));
  };
  executor.run(executor.self, parts, job, &call);
}
template <class Body>
void for_parts(const SessionState& s, std::uint32_t count, std::uint32_t parts, const Body& body) noexcept {
  for_parts(s.executor, count, parts, body);
}

}  // namespace minnow
