// tools/loss.hpp: against std::exp and std::log in double.
#include "tools/loss.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/rng.hpp"

namespace minnow {

TEST_CASE("loss: minus the log of the softmax") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<float> logits(1 + seed);
    const float spread = seed % 2 == 0 ? 3.0f : 300.0f;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      logits[i] = (static_cast<float>(unit_interval(draw64(seed, i))) - 0.5f) * spread;
    }
    const Token target = static_cast<Token>(draw64(seed, 1000) % logits.size());
    double largest = -1e300;
    for (const float x : logits) largest = std::max(largest, static_cast<double>(x));
    double sum = 0;
    for (const float x : logits) sum += std::exp(static_cast<double>(x) - largest);
    const double expected = std::log(sum) + largest - static_cast<double>(logits[static_cast<std::size_t>(target)]);
    CHECK(token_loss({logits.data(), logits.size()}, target) == doctest::Approx(expected).epsilon(1e-13));
  }
  const std::vector<float> equal(65, -7.25f);
  CHECK(token_loss({equal.data(), 65}, 3) == doctest::Approx(std::log(65.0)).epsilon(1e-14));
  const std::vector<float> sure = {3e38f, -3e38f};
  CHECK(token_loss({sure.data(), 2}, 0) == 0);
}

}  // namespace minnow
