// The loss of a prediction, the same bits on every machine. Depends on kernels/exact_math.hpp.
#pragma once

#include "kernels/exact_math.hpp"
#include "minnow/minnow.hpp"

namespace minnow {

// -log softmax(logits)[target] in nats. All logits are finite.
inline double token_loss(Span<const float> logits, Token target) {
  float largest = logits[0];
  for (const float x : logits) largest = x > largest ? x : largest;
  double sum = 0;
  for (const float x : logits) sum += exp_f64(static_cast<double>(x) - static_cast<double>(largest));
  return log_f64(sum) + (static_cast<double>(largest) - static_cast<double>(logits[static_cast<std::size_t>(target)]));
}

}  // namespace minnow
