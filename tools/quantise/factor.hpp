// The factor by which errors of weights are fed back. Depends on square and workers.
#pragma once

#include "tools/quantise/square.hpp"
#include "tools/quantise/workers.hpp"

namespace minnow::quantise {

// H = U D U^T with U unit upper triangular and D diagonal. With E = w - rounded w, a row's error costs
// E H E^T = sum over columns k of D[k] (E[k] + sum over j < k of E[j] U[j][k])^2: so rounding column k to what
// w[k] + sum E[j] U[j][k] is nearest to is all that is left to do for it. These are the numbers of GPTQ, which gets
// them as the Cholesky factor of H's inverse; taken from H itself, last column first, no inverse is needed.
struct Factor {
  Square u;               // row k: U[j][k] for j < k; the rest is of no use
  std::vector<double> d;  // [n]
};

// Of the moments H, the lower triangle, plus `damping` times the mean of its diagonal on the diagonal (1 where that is
// zero). H is finite.
Factor factorise(Square h, double damping, const Workers& workers);

// Of the identity: every column costs the same and nothing is fed back.
Factor no_feedback(std::size_t n);

}  // namespace minnow::quantise
