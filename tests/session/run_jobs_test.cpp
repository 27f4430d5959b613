// How work is cut into jobs: none that costs more to hand over than to do, the same number for each worker, every part
// once, whatever the executor does.
#include "session/run_jobs.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace minnow;

TEST_CASE("run_jobs: jobs are worth handing over, and as many for each worker") {
  CHECK(worthwhile_jobs(0, 2, 4) == 1);
  CHECK(worthwhile_jobs(2 * kJobBytes - 1, 2, 4) == 1);  // two jobs would be too small
  CHECK(worthwhile_jobs(2 * kJobBytes, 2, 4) == 2);
  CHECK(worthwhile_jobs(3 * kJobBytes, 2, 4) == 2);  // not 3, of which one worker would get two
  CHECK(worthwhile_jobs(3 * kJobBytes, 8, 4) == 3);
  CHECK(worthwhile_jobs(3 * kShareBytes, 2, 4) == 2);
  CHECK(worthwhile_jobs(4 * kShareBytes, 2, 4) == 4);
  CHECK(worthwhile_jobs(100 * kShareBytes, 2, 4) == 8);
  CHECK(worthwhile_jobs(UINT64_MAX, 256, 4) == 1024);
  CHECK(worthwhile_jobs(UINT64_MAX, 1, 4) == 1);
}

namespace {

struct Calls {
  std::uint32_t runs = 0;
  std::uint32_t jobs = 0;
};

// Runs jobs from the last to the first.
void run_backwards(void* self, std::uint32_t jobs, Job job, void* arg) {
  Calls& calls = *static_cast<Calls*>(self);
  ++calls.runs;
  calls.jobs += jobs;
  while (jobs-- > 0) job(arg, jobs);
}

}  // namespace

TEST_CASE("run_jobs: parts cover everything once, in order of their number, none empty") {
  Calls calls;
  SessionState s;
  s.executor = {run_backwards, &calls, 4};
  for (std::uint32_t count = 0; count < 20; ++count) {
    for (std::uint32_t parts = 0; parts < 25; ++parts) {
      CAPTURE(count);
      CAPTURE(parts);
      calls = {};
      std::vector<std::uint32_t> part_of(count, 1000);
      std::uint32_t bodies = 0;
      for_parts(s, count, parts, [&](std::uint32_t part, std::uint32_t begin, std::uint32_t end) {
        ++bodies;
        CHECK((begin < end || count == 0));
        for (std::uint32_t i = begin; i < end; ++i) {
          CHECK(part_of[i] == 1000);
          part_of[i] = part;
        }
      });
      for (std::uint32_t i = 0; i < count; ++i) {
        CHECK(part_of[i] < parts + (parts == 0));
        CHECK((i == 0 || part_of[i] >= part_of[i - 1]));
      }
      const std::uint32_t wanted = parts < count ? parts : count;
      CHECK(calls.runs == (wanted > 1 ? 1 : 0));  // one part needs no executor
      CHECK(bodies == (wanted > 1 ? wanted : 1));
    }
  }
}
