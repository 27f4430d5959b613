// tools/quantise/moments.cpp and factor.cpp: against sums and inverses by hand, and the same bits on any number of
// threads.
#include "tools/quantise/factor.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "base/crc32.hpp"
#include "tests/quantise/linear_algebra.hpp"
#include "tools/quantise/moments.hpp"

namespace minnow::quantise::test {

namespace {

Square moments_of(const std::vector<float>& x, std::size_t columns, std::size_t batch, const Workers& workers) {
  Moments moments(columns, workers);
  for (std::size_t t = 0; t < x.size() / columns; t += batch) {
    moments.add(x.data() + t * columns, columns, std::min(batch, x.size() / columns - t));
  }
  return moments.take();
}

bool same_lower(const Square& a, const Square& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(a.row(i), b.row(i), i * sizeof(double)) != 0) return false;
  }
  return true;
}

double damped(const std::vector<double>& h, std::size_t n, double damping) {
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) trace += h[i * n + i];
  return damping * trace / static_cast<double>(n);
}

}  // namespace

TEST_CASE("moments: every sum of products, in the order of the inputs") {
  const Workers one(1);
  for (const std::size_t columns : {1u, 3u, 31u, 64u, 65u, 150u}) {
    for (const std::size_t count : {1u, 127u, 128u, 300u}) {
      const std::vector<float> x = make_inputs(count, columns, columns + count);
      const std::vector<double> expected = full_moments(x, columns);
      const Square h = moments_of(x, columns, 7, one);
      bool same = true;
      for (std::size_t i = 0; i < columns; ++i) {
        for (std::size_t j = 0; j <= i; ++j) same = same && h.row(i)[j] == expected[i * columns + j];
      }
      CHECK_MESSAGE(same, columns, " columns, ", count, " inputs");
    }
  }
}

TEST_CASE("moments: columns behind the matrix's are not read") {
  const Workers one(1);
  std::vector<float> x(3 * 8, 1e30f);
  for (std::size_t t = 0; t < 3; ++t) x[t * 8] = 1, x[t * 8 + 1] = 2;
  Moments moments(2, one);
  moments.add(x.data(), 8, 3);
  const Square h = moments.take();
  CHECK(h.row(0)[0] == 3);
  CHECK(h.row(1)[0] == 6);
  CHECK(h.row(1)[1] == 12);
}

TEST_CASE("factor: a known matrix") {
  // [[4 2 1], [2 5 3], [1 3 6]] = U D U^T: D2 = 6, U12 = 1/2, U02 = 1/6; D1 = 5 - 6/4 = 7/2, ..
  Square h(3);
  h.row(0)[0] = 4;
  h.row(1)[0] = 2, h.row(1)[1] = 5;
  h.row(2)[0] = 1, h.row(2)[1] = 3, h.row(2)[2] = 6;
  const Factor f = factorise(std::move(h), 0, Workers(1));
  CHECK(f.d[2] == doctest::Approx(6));
  CHECK(f.u.row(2)[1] == doctest::Approx(0.5));
  CHECK(f.u.row(2)[0] == doctest::Approx(1.0 / 6));
  CHECK(f.d[1] == doctest::Approx(3.5));
  CHECK(f.u.row(1)[0] == doctest::Approx((2 - 0.5) / 3.5));
  CHECK(f.d[0] == doctest::Approx(4 - 1.0 / 6 - 1.5 * 1.5 / 3.5));
}

TEST_CASE("factor: U D U^T is the damped matrix, whatever its size") {
  const Workers two(2);
  for (const std::size_t n : {1u, 2u, 63u, 64u, 65u, 130u, 200u}) {
    const std::vector<double> h = full_moments(make_inputs(2 * n + 5, n, n), n);
    const double added = damped(h, n, 0.01);
    const Factor f = factorise(lower_triangle(h, n), 0.01, two);
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = 0;
        for (std::size_t k = i; k < n; ++k) {
          const double ui = k == i ? 1 : f.u.row(k)[i];
          const double uj = k == j ? 1 : f.u.row(k)[j];
          sum += ui * f.d[k] * uj;
        }
        const double expected = h[i * n + j] + (i == j ? added : 0);
        largest = std::max(largest, std::fabs(sum - expected) / added);
      }
    }
    CHECK_MESSAGE(largest < 1e-9, n);
  }
}

TEST_CASE("factor: fed back are the numbers of GPTQ, which takes them from the inverse") {
  // The Cholesky factor C of the inverse, C^T C = H^-1, has C[j][k] / C[j][j]: what an error of column j asks of k.
  // Rounding by either gives the same; U^-1 is that factor with a unit diagonal, D its diagonal to the power -2.
  const std::size_t n = 40;
  std::vector<double> h = full_moments(make_inputs(100, n, 5), n);
  const Factor f = factorise(lower_triangle(h, n), 0.01, Workers(1));
  const double added = damped(h, n, 0.01);
  for (std::size_t i = 0; i < n; ++i) h[i * n + i] += added;
  const std::vector<double> inv = inverse(h, n);
  // H^-1 = U^-T D^-1 U^-1, so H^-1 U = U^-T D^-1, lower triangular with 1 / D on its diagonal.
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i <= k; ++i) {
      double sum = inv[i * n + k];
      for (std::size_t j = 0; j < k; ++j) sum += inv[i * n + j] * f.u.row(k)[j];
      const double expected = i == k ? 1 / f.d[k] : 0;
      CHECK(std::fabs(sum - expected) < 1e-9 / added);
    }
  }
}

TEST_CASE("factor: inputs that are always zero, and no inputs at all") {
  const Workers one(1);
  std::vector<float> x = make_inputs(50, 70, 3);
  for (std::size_t t = 0; t < 50; ++t) x[t * 70 + 9] = 0;
  const Factor f = factorise(moments_of(x, 70, 50, one), 0.01, one);
  for (const double d : f.d) CHECK(d > 0);
  for (std::size_t j = 0; j < 9; ++j) CHECK(f.u.row(9)[j] == 0);
  const Factor none = factorise(Square(5), 0.01, one);
  for (const double d : none.d) CHECK(d == 1);
}

TEST_CASE("moments and factor: the same bits for any number of threads, on every machine") {
  const std::size_t n = 150;
  const std::vector<float> x = make_inputs(400, n, 11);
  const Workers one(1);
  const Square h = moments_of(x, n, 50, one);
  const Factor f = factorise(moments_of(x, n, 50, one), 0.01, one);
  for (const std::uint32_t threads : {2u, 5u}) {
    const Workers workers(threads);
    CHECK(same_lower(moments_of(x, n, 33, workers), h));
    const Factor g = factorise(moments_of(x, n, 50, workers), 0.01, workers);
    CHECK(same_lower(g.u, f.u));
    CHECK(g.d == f.d);
  }
  std::uint32_t crc = crc32(0, f.d.data(), n * sizeof(double));
  for (std::size_t k = 0; k < n; ++k) crc = crc32(crc, f.u.row(k), k * sizeof(double));
  CHECK(crc == 1750159444u);
}

}  // namespace minnow::quantise::test
