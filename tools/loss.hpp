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
  for (const float x : logits) sum += static_cast<double>(exp_f32(x - largest));
  return log_f64(sum) + (static_cast<double>(largest) - static_cast<double>(logits[static_cast<std::size_t>(target)]));
}

// exp in double: a float's worth of digits first, then Newton's method on the logarithm, which doubles them each time.
inline double exp_f64(double x) {
  double y = static_cast<double>(exp_f32(static_cast<float>(x)));
  for (int i = 0; i < 3; ++i) y += y * (x - log_f64(y));
  return y;
}

}  // namespace minnow
