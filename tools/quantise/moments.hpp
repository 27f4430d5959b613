// The second moments of a matrix product's inputs: what an error of its weights costs. Depends on square and workers.
#pragma once

#include "tools/quantise/square.hpp"
#include "tools/quantise/workers.hpp"

namespace minnow::quantise {

class Moments {
 public:
  Moments(std::size_t columns, const Workers& workers);

  // Adds x x^T of each of `count` inputs, rows[count][pitch].
  void add(const float* rows, std::size_t pitch, std::size_t count);

  // sum x x^T, the lower triangle. Nothing can be added afterwards.
  Square take();

 private:
  void flush();

  const Workers& workers_;
  Square sum_;
  std::vector<double> panel_;  // [kPanel][sum_.pitch()]: inputs that are not in the sum yet
  std::size_t held_ = 0;
};

}  // namespace minnow::quantise
