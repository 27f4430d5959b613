// Workers: every job once, and what a job throws reaches the caller.
#include "tools/quantise/workers.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <new>
#include <vector>

using namespace minnow::quantise;

TEST_CASE("workers: what a job throws is thrown once all have ended") {
  for (const std::uint32_t threads : {1u, 4u}) {
    CAPTURE(threads);
    const Workers workers(threads);
    std::vector<std::atomic<int>> runs(64);
    const auto job = [&](std::size_t i) {
      runs[i].fetch_add(1);
      if (i % 8 == 7) throw std::bad_alloc();
    };
    CHECK_THROWS_AS(workers.run(runs.size(), job), std::bad_alloc);
    for (const auto& each : runs) CHECK((threads == 1 || each == 1));
    std::atomic<int> sum{0};
    workers.run(100, [&](std::size_t i) { sum += static_cast<int>(i); });
    CHECK(sum == 4950);
  }
}
