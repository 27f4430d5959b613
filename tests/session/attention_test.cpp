// session/attention.hpp: the tile loop against double precision; the same bits on every instruction set, and wherever
// in the ring the positions lie.
#include "session/attention.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/kernels/cases.hpp"
#include "tests/kernels/exact.hpp"
#include "tests/session/cache.hpp"

namespace minnow::test {
namespace {

struct Problem {
  Problem(std::uint32_t head_size, std::uint32_t count, bool half) : q(head_size), keys(count, q), values(count, q) {
    Random random(head_size * 1000 + count);
    fill(q.data(), q.size(), Values::plain, random);
    for (std::uint32_t i = 0; i < count; ++i) {
      fill(keys[i].data(), head_size, Values::plain, random);
      fill(values[i].data(), head_size, Values::plain, random);
      if (!half) continue;
      for (float& x : keys[i]) x = half_to_float(float_to_half(x));
      for (float& x : values[i]) x = half_to_float(float_to_half(x));
    }
  }

  std::vector<float> q;
  Rows keys, values;
};

// softmax(scale * K q)^T V in double precision.
void exact_attention(const Problem& problem, double scale, std::vector<double>* p, std::vector<double>* out) {
  double largest = -HUGE_VAL, sum = 0;
  p->clear();
  for (const auto& key : problem.keys) {
    double score = 0;
    for (std::size_t dim = 0; dim < key.size(); ++dim) score += static_cast<double>(problem.q[dim]) * key[dim];
    p->push_back(score * scale);
    largest = std::fmax(largest, p->back());
  }
  for (double& x : *p) sum += x = std::exp(x - largest);
  for (double& x : *p) x /= sum;
  out->assign(problem.q.size(), 0);
  for (std::size_t i = 0; i < p->size(); ++i) {
    for (std::size_t dim = 0; dim < out->size(); ++dim) (*out)[dim] += (*p)[i] * problem.values[i][dim];
  }
}

}  // namespace

TEST_CASE("truth: attention within 2e-6") {
  double worst_p = 0, worst_out = 0;
  for (const std::uint32_t head_size : {1u, 12u, 64u, 128u}) {
    for (const std::uint32_t count : {1u, 2u, 63u, 64u, 65u, 200u, 700u}) {
      for (const bool half : {false, true}) {
        const Problem problem(head_size, count, half);
        const Cache cache(problem.keys, problem.values, half, count, 0);
        const float scale = 1 / std::sqrt(static_cast<float>(head_size));
        const Cache::Result computed = cache.attend(*select_kernels(Isa::reference), problem.q, count, scale);
        std::vector<double> p, out;
        exact_attention(problem, static_cast<double>(scale), &p, &out);
        for (std::uint32_t i = 0; i < count; ++i)
          worst_p = std::fmax(worst_p, std::fabs(computed.probabilities[i] - p[i]));
        for (std::uint32_t dim = 0; dim < head_size; ++dim) {
          worst_out = std::fmax(worst_out, std::fabs(computed.out[dim] - out[dim]));
        }
      }
    }
  }
  CHECK(worst_p < 1e-6);
  CHECK(worst_out < 2e-6);
}

TEST_CASE("exact: attention, on every instruction set and wherever the ring wraps") {
  for (const std::uint32_t head_size : {3u, 12u, 64u}) {
    for (const std::uint32_t count : {1u, 7u, 64u, 65u, 130u}) {
      for (const bool half : {false, true}) {
        CAPTURE(head_size);
        CAPTURE(count);
        CAPTURE(half);
        const Problem problem(head_size, count, half);
        const Cache straight(problem.keys, problem.values, half, count, 0);
        const Cache::Result expected = straight.attend(*select_kernels(Isa::reference), problem.q, count, 0.3f);
        for (const Kernels* kernels : tables()) {
          CAPTURE(kernels->name);
          for (const std::uint32_t slots : {count, count + 1, count + 13}) {
            for (const std::uint32_t oldest : {0u, 1u, slots / 2, slots - 1}) {
              CAPTURE(slots);
              CAPTURE(oldest);
              const Cache ring(problem.keys, problem.values, half, slots, oldest % slots);
              const Cache::Result got = ring.attend(*kernels, problem.q, count, 0.3f);
              CHECK(got.out == expected.out);  // values compare equal only with equal bits here: none is zero or NaN
              CHECK(got.probabilities == expected.probabilities);
            }
          }
        }
      }
    }
  }
}

// Query j of several sees j positions more than the first. The cache beyond what the last one sees holds NaN.
TEST_CASE("exact: queries that attend together get what each gets alone") {
  for (const std::uint32_t head_size : {3u, 12u, 64u}) {
    for (const std::uint32_t count : {1u, 5u, 57u, 60u, 64u, 65u, 126u}) {
      for (const bool half : {false, true}) {
        CAPTURE(head_size);
        CAPTURE(count);
        CAPTURE(half);
        for (std::uint32_t n = 1; n <= kAttendQueries; ++n) {
          CAPTURE(n);
          const std::uint32_t held = count + n - 1;
          const Problem problem(head_size, held, half);
          const std::uint32_t slots = held + 9;
          Rows queries;
          for (std::uint32_t j = 0; j < n; ++j) queries.push_back(problem.keys[(j * 7) % held]);
          for (const std::uint32_t oldest : {0u, 10u + count / 2}) {
            const Cache cache(problem.keys, problem.values, half, slots, oldest % slots);
            std::vector<float> alone;
            for (std::uint32_t j = 0; j < n; ++j) {
              const Cache::Result one = cache.attend(*select_kernels(Isa::reference), queries[j], count + j, 0.3f);
              alone.insert(alone.end(), one.out.begin(), one.out.end());
            }
            for (const Kernels* kernels : tables()) {
              CAPTURE(kernels->name);
              CHECK(cache.attend(*kernels, queries, count, 0.3f) == alone);
            }
          }
        }
      }
    }
  }
}

}  // namespace minnow::test
