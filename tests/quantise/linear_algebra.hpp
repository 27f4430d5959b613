// Plain, slow linear algebra to compare with, and random problems.
#pragma once

#include <cmath>
#include <vector>

#include "base/rng.hpp"
#include "tools/quantise/square.hpp"

namespace minnow::quantise::test {

inline double uniform(std::uint64_t seed, std::uint64_t index) { return unit_interval(draw64(seed, index)) * 2 - 1; }

// Inputs with columns of very different sizes that depend on one another, as those of a network do.
inline std::vector<float> make_inputs(std::size_t count, std::size_t columns, std::uint64_t seed) {
  std::vector<float> x(count * columns);
  for (std::size_t t = 0; t < count; ++t) {
    const double common = uniform(seed + 1, t);
    for (std::size_t c = 0; c < columns; ++c) {
      const double size = 0.05 + 2 * std::fabs(uniform(seed + 2, c));
      x[t * columns + c] =
          static_cast<float>(size * (uniform(seed, t * columns + c) + 2 * common * uniform(seed + 3, c)));
    }
  }
  return x;
}

// Both triangles of sum x x^T, by hand.
inline std::vector<double> full_moments(const std::vector<float>& x, std::size_t columns) {
  std::vector<double> h(columns * columns);
  for (std::size_t t = 0; t < x.size() / columns; ++t) {
    for (std::size_t i = 0; i < columns; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        h[i * columns + j] += static_cast<double>(x[t * columns + i]) * static_cast<double>(x[t * columns + j]);
      }
    }
  }
  return h;
}

inline Square lower_triangle(const std::vector<double>& h, std::size_t n) {
  Square out(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) out.row(i)[j] = h[i * n + j];
  }
  return out;
}

// The inverse by elimination without pivots, which a positive definite matrix does not need.
inline std::vector<double> inverse(std::vector<double> a, std::size_t n) {
  std::vector<double> out(n * n);
  for (std::size_t i = 0; i < n; ++i) out[i * n + i] = 1;
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = a[k * n + k];
    for (std::size_t j = 0; j < n; ++j) a[k * n + j] /= pivot, out[k * n + j] /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = a[i * n + k];
      if (i == k) continue;
      for (std::size_t j = 0; j < n; ++j) {
        a[i * n + j] -= factor * a[k * n + j];
        out[i * n + j] -= factor * out[k * n + j];
      }
    }
  }
  return out;
}

}  // namespace minnow::quantise::test
