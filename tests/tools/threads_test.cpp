// How many threads a model gets when nobody says.
#include "tools/load.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace minnow;

TEST_CASE("threads: by the size of a layer, up to the cores") {
  const std::uint32_t cores = std::min(ThreadPool::usable_cores(), 8u);
  SessionOptions options;
  CHECK(threads_for(options, 0, 1) == 1);
  CHECK(threads_for(options, 100000, 4) == 1);                    // threads would only wait for one another
  CHECK(threads_for(options, 884544, 4) == std::min(cores, 2u));  // 4 layers of 128, q8
  CHECK(threads_for(options, 884544, 0) == cores);
  CHECK(threads_for(options, 134897152, 12) == cores);  // 124 M weights
  CHECK(threads_for(options, UINT64_MAX, 1) == cores);
  options.threads = 5;
  CHECK(threads_for(options, 0, 1) == 5);
}
