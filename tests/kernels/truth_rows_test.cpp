// The reference kernels on rows of numbers against double precision, each within a stated bound. What they are measured
// to reach stands beside the bound.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/tables.hpp"
#include "tests/kernels/cases.hpp"
#include "tests/kernels/sweep.hpp"

namespace minnow::test {
namespace {

constexpr double kEpsilon = 0x1p-24;  // half a unit in the last place of a float, relative

// The largest |computed - exact| / |x| of a kernel over -32 .. 32.
template <class Kernel, class Exact>
double error_of(const Kernel& kernel, const Exact& exact) {
  std::vector<float> x;
  sweep(0x1p-40f, 32.0f, 9973, [&](float v) { x.push_back(v); });
  x.resize(x.size() / 8 * 8);
  std::vector<float> y = x;
  kernel(y.data(), static_cast<std::uint32_t>(y.size()));
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::fmax(worst, std::fabs(static_cast<double>(y[i]) - exact(static_cast<double>(x[i]))) / std::fabs(x[i]));
  }
  return worst;
}

}  // namespace

TEST_CASE("truth: gelu within 1.5e-7 |x|") {
  const double erf_form = error_of(kReferenceKernels.gelu_erf, [](double x) {  // 8.6e-8
    return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
  });
  CHECK(erf_form < 1.5e-7);
  const double tanh_form = error_of(kReferenceKernels.gelu_tanh, [](double x) {  // 1.3e-7
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
  });
  CHECK(tanh_form < 1.5e-7);
}

TEST_CASE("truth: layer_norm") {
  for (const std::uint32_t n : {1u, 7u, 48u, 384u, 1600u}) {
    CAPTURE(n);
    Random random(n);
    std::vector<float> x(round_up(n, 8u)), weight(x.size()), bias(x.size()), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(3 * random.normal() + 1);
      weight[i] = random.uniform(0.5f, 2);
      bias[i] = random.uniform(-1, 1);
    }
    kReferenceKernels.layer_norm(x.data(), weight.data(), bias.data(), n, 1e-5f, y.data());
    double mean = 0, variance = 0;
    for (std::uint32_t i = 0; i < n; ++i) mean += static_cast<double>(x[i]) / n;
    for (std::uint32_t i = 0; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean) / n;
    double worst = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      const double t = (x[i] - mean) / std::sqrt(variance + static_cast<double>(1e-5f)) * weight[i];
      worst = std::fmax(worst, std::fabs(y[i] - (t + bias[i])) / (1 + std::fabs(t)));
    }
    CHECK(worst < 6e-7);  // 3.1e-7
  }
  // A constant row is its bias: no variance, no division by zero.
  std::vector<float> x(8, 3.25f), weight(8, 2.0f), bias(8, 0.5f);
  kReferenceKernels.layer_norm(x.data(), weight.data(), bias.data(), 8, 1e-5f, x.data());
  for (const float v : x) CHECK(v == 0.5f);
}

TEST_CASE("truth: rms_norm, layer_norm without weight or bias") {
  for (const std::uint32_t n : {1u, 5u, 7u, 48u, 384u, 1600u}) {
    CAPTURE(n);
    Random random(n);
    std::vector<float> x(round_up(n, 8u)), weight(x.size()), bias(x.size()), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(3 * random.normal() + 1);
      weight[i] = random.uniform(0.5f, 2);
      bias[i] = random.uniform(-1, 1);
    }
    const double eps = static_cast<double>(1e-5f);
    double mean = 0, square = 0, variance = 0;
    for (std::uint32_t i = 0; i < n; ++i) mean += static_cast<double>(x[i]) / n;
    for (std::uint32_t i = 0; i < n; ++i) square += static_cast<double>(x[i]) * x[i] / n;
    for (std::uint32_t i = 0; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean) / n;
    const auto worst = [&](const auto& exact) {
      double error = 0;
      for (std::uint32_t i = 0; i < n; ++i) {
        error = std::fmax(error, std::fabs(y[i] - exact(i)) / (1 + std::fabs(exact(i))));
      }
      return error;
    };
    kReferenceKernels.rms_norm(x.data(), nullptr, n, 1e-5f, y.data());
    CHECK(worst([&](std::uint32_t i) { return x[i] / std::sqrt(square + eps); }) < 3e-7);
    kReferenceKernels.rms_norm(x.data(), weight.data(), n, 1e-5f, y.data());
    CHECK(worst([&](std::uint32_t i) { return x[i] / std::sqrt(square + eps) * weight[i]; }) < 3e-7);
    kReferenceKernels.layer_norm(x.data(), nullptr, nullptr, n, 1e-5f, y.data());
    CHECK(worst([&](std::uint32_t i) { return (x[i] - mean) / std::sqrt(variance + eps); }) < 6e-7);
    kReferenceKernels.layer_norm(x.data(), nullptr, bias.data(), n, 1e-5f, y.data());
    CHECK(worst([&](std::uint32_t i) { return (x[i] - mean) / std::sqrt(variance + eps) + bias[i]; }) < 6e-7);
  }
  std::vector<float> zeros(8), y(8, 1.0f);  // a row of zeros stays one
  kReferenceKernels.rms_norm(zeros.data(), nullptr, 8, 1e-5f, y.data());
  for (const float v : y) CHECK(v == 0);
}

TEST_CASE("truth: relu, relu_squared") {
  const auto relu = [](double x) { return x > 0 ? x : 0; };
  CHECK(error_of(kReferenceKernels.relu, relu) == 0);
  CHECK(error_of(kReferenceKernels.relu_squared, [&](double x) { return relu(x) * relu(x); }) < 32 * kEpsilon);
}

TEST_CASE("truth: silu_gate within 2e-7 |gate|") {
  const auto kernel = [](float* gate, std::uint32_t n) {
    std::vector<float> x(n, 1.0f);
    kReferenceKernels.silu_gate(x.data(), gate, n);
    std::copy(x.begin(), x.end(), gate);
  };
  CHECK(error_of(kernel, [](double g) { return g / (1 + std::exp(-g)); }) < 2e-7);
  float x[8] = {3, 3, 3, 3, 3, 3, 3, 3};
  const float gate[8] = {-1000, -88, 0, 88, 1000, -0.0f, 1, -1};
  kReferenceKernels.silu_gate(x, gate, 8);
  CHECK(std::fabs(x[0]) < 1e-30f);  // exp does not overflow
  CHECK(std::fabs(x[1]) < 1e-30f);
  CHECK(x[2] == 0);
  CHECK(x[3] == 3 * 88);
  CHECK(x[4] == 3000);
}

TEST_CASE("truth: softcap within 1.5e-7 limit") {
  for (const float limit : {15.0f, 30.0f, 0.5f}) {
    std::vector<float> x;
    sweep(0x1p-30f, 1000.0f, 9973, [&](float v) { x.push_back(v); });
    x.resize(x.size() / 8 * 8);
    std::vector<float> y = x;
    kReferenceKernels.softcap(y.data(), static_cast<std::uint32_t>(y.size()), limit);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = limit * std::tanh(static_cast<double>(x[i]) / limit);
      worst = std::fmax(worst, std::fabs(static_cast<double>(y[i]) - exact) / limit);
    }
    CHECK(worst < 1.5e-7);
    float edges[8] = {0, -0.0f, 1e30f, -1e30f, HUGE_VALF, std::nanf(""), 0, 0};
    kReferenceKernels.softcap(edges, 8, limit);
    CHECK(edges[0] == 0);
    CHECK(edges[2] == limit);
    CHECK(edges[3] == -limit);
    CHECK(edges[4] == limit);
    CHECK(std::isnan(edges[5]));
  }
}

TEST_CASE("truth: rotate") {
  for (const int pairing : {0, 1}) {
    for (const std::uint32_t pairs : {1u, 5u, 32u}) {
      Random random(pairs);
      std::vector<float> cos(round_up(pairs, 8u)), sin(cos.size()), x(2 * pairs);
      for (std::uint32_t i = 0; i < pairs; ++i) {
        const double angle = 7 * random.normal();
        cos[i] = static_cast<float>(std::cos(angle));
        sin[i] = static_cast<float>(std::sin(angle));
      }
      fill(x.data(), x.size(), Values::plain, random);
      std::vector<float> y = x;
      kReferenceKernels.rotate[pairing](y.data(), cos.data(), sin.data(), pairs);
      for (std::uint32_t i = 0; i < pairs; ++i) {
        const std::size_t at = pairing == 0 ? 2 * i : i, to = pairing == 0 ? 2 * i + 1 : i + pairs;
        const double a = x[at], b = x[to], c = cos[i], s = sin[i];
        const double bound = 2 * kEpsilon * (std::fabs(a) + std::fabs(b));
        CHECK(std::fabs(y[at] - (a * c - b * s)) <= bound);
        CHECK(std::fabs(y[to] - (b * c + a * s)) <= bound);
      }
    }
  }
}

}  // namespace minnow::test
