// Depends on position_tables and kernels/exact_math.hpp.
#include "tools/convert/position_tables.hpp"

#include "kernels/exact_math.hpp"

namespace minnow::convert {

namespace {

// base^(-2 i / dims)
double frequency(double base, std::uint32_t i, std::uint32_t dims) {
  return exp_f64(-(2.0 * i / dims) * log_f64(base));
}

}  // namespace

std::vector<float> rotary_frequencies(std::uint32_t dims, double base, bool backwards) {
  std::vector<float> out(dims / 2);
  for (std::uint32_t i = 0; i < dims / 2; ++i) {
    const float f = static_cast<float>(frequency(base, i, dims));
    out[i] = backwards ? -f : f;
  }
  return out;
}

std::vector<float> sinusoidal_table(std::uint32_t block_size, std::uint32_t n_embd) {
  std::vector<float> out(std::size_t{block_size} * n_embd);
  for (std::uint32_t i = 0; 2 * i < n_embd; ++i) {
    const double f = frequency(10000, i, n_embd);
    for (std::uint32_t p = 0; p < block_size; ++p) {
      double sine = 0;
      double cosine = 0;
      sincos_f64(p * f, &sine, &cosine);
      float* const at = &out[std::size_t{p} * n_embd + 2 * i];
      at[0] = static_cast<float>(sine);
      if (2 * i + 1 < n_embd) at[1] = static_cast<float>(cosine);
    }
  }
  return out;
}

}  // namespace minnow::convert
