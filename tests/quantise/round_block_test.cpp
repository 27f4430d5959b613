// tools/quantise/round_block.cpp: against plain rounding, textbook GPTQ and a search of every scale.
#include "tools/quantise/round_block.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/crc32.hpp"
#include "tests/quantise/linear_algebra.hpp"
#include "tools/convert/pack.hpp"

namespace minnow::quantise::test {

namespace {

struct Problem {
  std::size_t columns;
  std::vector<double> h;  // damped
  Factor factor;
  std::vector<float> weights;  // [columns padded to 32][8]

  Problem(std::size_t n, std::uint64_t seed) : columns(n), h(full_moments(make_inputs(3 * n, n, seed), n)) {
    factor = factorise(lower_triangle(h, n), 0.01, Workers(1));
    double trace = 0;
    for (std::size_t i = 0; i < n; ++i) trace += h[i * n + i];
    for (std::size_t i = 0; i < n; ++i) h[i * n + i] += 0.01 * trace / static_cast<double>(n);
    weights.resize((n + 31) / 32 * 32 * kBlockRows);
    for (std::size_t i = 0; i < n * kBlockRows; ++i) weights[i] = static_cast<float>(uniform(seed + 9, i));
  }

  std::vector<RoundedGroup> round(double* loss = nullptr) const {
    std::vector<RoundedGroup> out((columns + 31) / 32);
    const double found = BlockRounder(factor).round(weights.data(), out.data());
    if (loss != nullptr) *loss = found;
    return out;
  }

  double error(const std::vector<RoundedGroup>& groups, std::size_t row, std::size_t column) const {
    const RoundedGroup& g = groups[column / 32];
    return static_cast<double>(weights[column * kBlockRows + row]) -
           static_cast<double>(half_to_float(g.scale[row])) * g.code[column % 32][row];
  }

  // E H E^T of one row.
  double loss(const std::vector<RoundedGroup>& groups, std::size_t row) const {
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        sum += error(groups, row, i) * h[i * columns + j] * error(groups, row, j);
      }
    }
    return sum;
  }

  // Each weight to the nearest, as --calibrate none does.
  std::vector<RoundedGroup> plain() const {
    std::vector<RoundedGroup> out((columns + 31) / 32);
    for (std::size_t row = 0; row < kBlockRows; ++row) {
      for (std::size_t first = 0; first < columns; first += 32) {
        const std::size_t count = std::min<std::size_t>(32, columns - first);
        float largest = 0;
        for (std::size_t c = 0; c < count; ++c) {
          const float w = weights[(first + c) * kBlockRows + row];
          if (std::fabs(w) > std::fabs(largest)) largest = w;
        }
        RoundedGroup& g = out[first / 32];
        g.scale[row] = float_to_half(largest / -8);
        for (std::size_t c = 0; c < count; ++c) {
          const float code = std::nearbyint(weights[(first + c) * kBlockRows + row] / half_to_float(g.scale[row]));
          g.code[c][row] = static_cast<std::int8_t>(std::min(std::max(code, -8.0f), 7.0f));
        }
      }
    }
    return out;
  }
};

// GPTQ as its paper has it, with the scales that were found: the inverse, its upper Cholesky factor, and every error
// given to all columns behind it.
std::vector<int> textbook(const Problem& p, const std::vector<RoundedGroup>& scales, std::size_t row) {
  const std::size_t n = p.columns;
  std::vector<double> inv = inverse(p.h, n);
  std::vector<double> c(n * n);  // C^T C = inv, upper
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) {
      double sum = inv[i * n + j];
      for (std::size_t k = 0; k < i; ++k) sum -= c[k * n + i] * c[k * n + j];
      c[i * n + j] = i == j ? std::sqrt(sum) : sum / c[i * n + i];
    }
  }
  std::vector<double> w(n);
  for (std::size_t i = 0; i < n; ++i) w[i] = static_cast<double>(p.weights[i * kBlockRows + row]);
  std::vector<int> codes(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double scale = static_cast<double>(half_to_float(scales[i / 32].scale[row]));
    codes[i] = static_cast<int>(std::min(std::max(std::nearbyint(w[i] / scale), -8.0), 7.0));
    const double error = (w[i] - codes[i] * scale) / c[i * n + i];
    for (std::size_t j = i; j < n; ++j) w[j] -= error * c[i * n + j];
  }
  return codes;
}

}  // namespace

TEST_CASE("round: the loss that is reported is that of the moments, and never more than plain rounding's") {
  for (const std::size_t columns : {1u, 5u, 32u, 33u, 64u, 100u}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Problem p(columns, 100 * columns + seed);
      double reported = 0;
      const std::vector<RoundedGroup> groups = p.round(&reported);
      const std::vector<RoundedGroup> plain = p.plain();
      double sum = 0;
      double plain_sum = 0;
      for (std::size_t row = 0; row < kBlockRows; ++row) {
        sum += p.loss(groups, row);
        plain_sum += p.loss(plain, row);
      }
      CHECK(sum <= plain_sum);
      CHECK(reported == doctest::Approx(sum).epsilon(1e-6));
    }
  }
}

TEST_CASE("round: with its scales the codes are those of GPTQ by the inverse") {
  for (const std::size_t columns : {8u, 48u, 96u}) {
    const Problem p(columns, columns);
    const std::vector<RoundedGroup> groups = p.round();
    for (std::size_t row = 0; row < kBlockRows; ++row) {
      const std::vector<int> expected = textbook(p, groups, row);
      std::size_t different = 0;
      for (std::size_t c = 0; c < columns; ++c) different += expected[c] != groups[c / 32].code[c % 32][row];
      CHECK(different == 0);
    }
  }
}

TEST_CASE("round: the scale is nearly the best of all halves, of either sign") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Problem p(32, 300 + seed);
    p.factor = no_feedback(32);
    const std::vector<RoundedGroup> groups = p.round();
    for (std::size_t row = 0; row < kBlockRows; ++row) {
      double found = 0;
      double largest = 0;
      for (std::size_t c = 0; c < 32; ++c) {
        found += p.error(groups, row, c) * p.error(groups, row, c);
        largest = std::max(largest, std::fabs(static_cast<double>(p.weights[c * kBlockRows + row])));
      }
      double best = found;
      for (std::uint32_t h = 1; h < 0xfc00u; ++h) {
        if ((h & 0x7fffu) >= 0x7c00u) continue;
        const double scale = static_cast<double>(half_to_float(static_cast<Half>(h)));
        if (std::fabs(scale) > largest / 4 || std::fabs(scale) < largest / 20) continue;
        double sum = 0;
        for (std::size_t c = 0; c < 32; ++c) {
          const double w = static_cast<double>(p.weights[c * kBlockRows + row]);
          const double left = w - scale * std::min(std::max(std::nearbyint(w / scale), -8.0), 7.0);
          sum += left * left;
        }
        best = std::min(best, sum);
      }
      CHECK(found <= best * 1.1);
    }
  }
}

TEST_CASE("round: rows of zeros, of one number, of tiny and of huge ones") {
  Problem p(40, 1);
  const auto all = [&](float value) { std::fill_n(p.weights.begin(), 40 * kBlockRows, value); };
  double loss = 0;
  all(0);
  for (const RoundedGroup& g : p.round(&loss)) {
    for (std::size_t r = 0; r < kBlockRows; ++r) CHECK(g.scale[r] == 0);
  }
  CHECK(loss == 0);
  all(-3.5f);
  p.factor = no_feedback(40);
  for (std::size_t c = 0; c < 40; ++c) CHECK(std::fabs(p.error(p.round(), 3, c)) < 0.02);
  all(1e-30f);
  for (const RoundedGroup& g : p.round()) CHECK(g.scale[0] == 0);
  all(1e9f);
  p.round(&loss);
  CHECK(std::isinf(loss));
}

TEST_CASE("round: columns that only pad a group have no weight") {
  const Problem p(37, 2);
  const std::vector<RoundedGroup> groups = p.round();
  for (std::size_t c = 5; c < 32; ++c) {
    for (std::size_t r = 0; r < kBlockRows; ++r) CHECK(groups[1].code[c][r] == 0);
  }
}

TEST_CASE("round: the same bits on every machine") {
  const Problem p(96, 77);
  const std::vector<RoundedGroup> groups = p.round();
  CHECK(crc32(0, groups.data(), groups.size() * sizeof(RoundedGroup)) == 2968209041u);
}

}  // namespace minnow::quantise::test
