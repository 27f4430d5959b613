// The reference kernels against double precision, each within a stated bound. What they are measured to reach stands
// beside the bound.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "kernels/exact_math.hpp"
#include "kernels/kernels.hpp"
#include "kernels/tables.hpp"
#include "tests/kernels/cases.hpp"
#include "tests/kernels/sweep.hpp"

namespace minnow::test {
namespace {

constexpr double kEpsilon = 0x1p-24;  // half a unit in the last place of a float, relative

// One unit in the last place of a float near `exact`.
double ulp(double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::ldexp(1, exponent - 24);
}

}  // namespace

TEST_CASE("truth: fused rounds once") {
  Random random(1);
  int wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    const float a = one_value(Values::mixed, random, 0);
    const float b = one_value(Values::mixed, random, 0);
    float c = one_value(Values::mixed, random, 0);
    if (i % 3 == 0) c = -a * b;                                         // cancels all but the product's low bits
    if (i % 3 == 1) c = std::ldexp(a * b, 24) * (i % 2 != 0 ? 1 : -1);  // the product is near half a unit of the sum
    wrong += bit_cast<std::uint32_t>(fused(a, b, c)) == bit_cast<std::uint32_t>(std::fma(a, b, c)) ? 0 : 1;
  }
  CHECK(wrong == 0);
  // c + 2^-24 (1 - 2^-46), just below the middle of two floats: rounded to double first, it would be a tie and go up.
  const float c = 0x1.000002p+0f;
  CHECK(fused(0x1.000002p-12f, 0x1.fffffcp-13f, c) == c);
  CHECK(fused(-0x1.000002p-12f, 0x1.fffffcp-13f, -c) == -c);
}

TEST_CASE("truth: exp within 1 unit in the last place") {  // 0.90
  double worst = 0;
  sweep(0x1p-30f, 88.36f, 997, [&](float x) {
    if (x < kExpMin) return;
    const double exact = std::exp(static_cast<double>(x));
    worst = std::fmax(worst, std::fabs(static_cast<double>(exp_f32(x)) - exact) / ulp(exact));
  });
  CHECK(worst < 1);
  CHECK(exp_f32(0.0f) == 1.0f);
  CHECK(exp_f32(-0.0f) == 1.0f);
  CHECK(exp_f32(-HUGE_VALF) == 0.0f);
  CHECK(exp_f32(std::nextafter(kExpMin, -100.0f)) == 0.0f);
  CHECK(exp_f32(kExpMin) >= 0x1p-126f);  // never a denormal
  CHECK(exp_f32(1000.0f) == exp_f32(kExpMax));
  CHECK(std::isfinite(exp_f32(HUGE_VALF)));
  CHECK(std::isnan(exp_f32(std::nanf(""))));
}

TEST_CASE("truth: erf within 1e-7") {  // 8.3e-8
  double worst = 0;
  sweep(0x1p-30f, 8.0f, 997, [&](float x) {
    worst = std::fmax(worst, std::fabs(static_cast<double>(erf_f32(x)) - std::erf(static_cast<double>(x))));
  });
  CHECK(worst < 1e-7);
  CHECK(erf_f32(10.0f) == 1.0f);
  CHECK(erf_f32(-HUGE_VALF) == -1.0f);
  CHECK(std::isnan(erf_f32(std::nanf(""))));
}

TEST_CASE("truth: log within 1e-15, relative") {  // 4.2e-16
  Random random(2);
  long double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    const double near_one = 1 + (random.unit() - 0.5) * 0.2;
    for (const double x : {near_one, std::ldexp(near_one, static_cast<int>(random.below(2000)) - 1000)}) {
      const long double exact = std::log(static_cast<long double>(x));
      if (exact != 0) worst = std::fmax(worst, std::fabs((static_cast<long double>(log_f64(x)) - exact) / exact));
    }
  }
  CHECK(worst < 1e-15L);
  CHECK(log_f64(1.0) == 0.0);
}

TEST_CASE("truth: matmul") {
  constexpr std::uint32_t kGroups = 12, kBlocks = 2, kTokens = 3, kColumns = kGroups * kGroupColumns;
  for (const WeightType type : {WeightType::f32, WeightType::f16, WeightType::q8, WeightType::q4}) {
    CAPTURE(static_cast<int>(type));
    Random random(3);
    std::vector<std::byte> weights(std::size_t{kBlocks} * kGroups * group_bytes(type));
    if (is_quantised(type)) {
      fill_quantised(type, weights.data(), weights.size(), random);
    } else {
      for (std::size_t i = 0; i < std::size_t{kBlocks} * kBlockRows * kColumns; ++i) {
        const auto w = static_cast<float>(random.normal());
        const Half h = float_to_half(w);
        if (type == WeightType::f32) std::memcpy(&weights[i * sizeof w], &w, sizeof w);
        if (type == WeightType::f16) std::memcpy(&weights[i * sizeof h], &h, sizeof h);
      }
    }
    std::vector<float> x(kTokens * kColumns), bias(kBlocks * kBlockRows), out(kTokens * bias.size());
    fill(x.data(), x.size(), Values::plain, random);
    fill(bias.data(), bias.size(), Values::plain, random);
    std::vector<std::int8_t> q(x.size());
    std::vector<float> scale(kTokens * kGroups);
    std::vector<std::int32_t> sum(scale.size());
    kReferenceKernels.quantise(x.data(), kTokens * kGroups, q.data(), scale.data(), sum.data());
    MatmulArgs args;
    args.weights = weights.data();
    args.bias_or_null = bias.data();
    args.groups = kGroups;
    args.block_end = kBlocks;
    args.tokens = kTokens;
    args.x = x.data();
    args.q = q.data();
    args.scale = scale.data();
    args.sum = sum.data();
    args.out = out.data();
    args.out_pitch = bias.size();
    kReferenceKernels.matmul[static_cast<int>(type)](args);
    for (std::uint32_t t = 0; t < kTokens; ++t) {
      for (std::uint32_t r = 0; r < bias.size(); ++r) {
        std::vector<float> row(kColumns);
        gather_row(weights.data(), type, kColumns, r, row.data());
        double exact = bias[r], magnitude = std::fabs(bias[r]);
        for (std::uint32_t k = 0; k < kColumns; ++k) {
          const double in = is_quantised(type)
                                ? static_cast<double>(q[t * kColumns + k]) * scale[(t * kColumns + k) / kGroupColumns]
                                : static_cast<double>(x[t * kColumns + k]);
          exact += row[k] * in;
          magnitude += std::fabs(row[k] * in);
        }
        // A chain of n additions errs by at most n half units of the sum of magnitudes; q8 and q4 have a product of
        // scales more.
        const double steps = is_quantised(type) ? kGroups + 2 : kColumns + 1;
        CHECK(std::fabs(out[t * bias.size() + r] - exact) <= steps * kEpsilon * magnitude);
      }
    }
  }
}

TEST_CASE("truth: quantise") {
  for (const Values values : kValues) {
    CAPTURE(static_cast<int>(values));
    Random random(4);
    std::vector<float> x(64 * kGroupColumns);
    fill(x.data(), x.size(), values, random);
    std::vector<std::int8_t> q(x.size());
    std::vector<float> scale(64);
    std::vector<std::int32_t> sum(64);
    kReferenceKernels.quantise(x.data(), 64, q.data(), scale.data(), sum.data());
    for (std::size_t g = 0; g < scale.size(); ++g) {
      double amax = 0;
      int largest = 0, total = 0;
      for (std::size_t k = g * kGroupColumns; k < (g + 1) * kGroupColumns; ++k) {
        amax = std::fmax(amax, std::fabs(static_cast<double>(x[k])));
        largest = std::max(largest, std::abs(q[k]));
        total += q[k];
        CHECK(std::fabs(static_cast<double>(q[k]) * scale[g] - static_cast<double>(x[k])) <=
              0.5 * scale[g] * (1 + 256 * kEpsilon));
      }
      CHECK(std::fabs(scale[g] - amax / 127) <= kEpsilon * amax / 127);
      CHECK(largest == (amax == 0 ? 0 : 127));
      CHECK(sum[g] == total);
    }
  }
}

TEST_CASE("truth: quantise rounds ties to even, and leaves tiny groups out") {
  std::vector<float> x(kGroupColumns, 0.0f);
  x[0] = 127;
  x[1] = 0.5f;
  x[2] = 1.5f;
  x[3] = -2.5f;
  x[4] = 126.5f;
  x[5] = -0.5f;
  std::int8_t q[kGroupColumns];
  float scale = 0;
  std::int32_t sum = 0;
  kReferenceKernels.quantise(x.data(), 1, q, &scale, &sum);
  CHECK(scale == 1);
  const int expected[] = {127, 0, 2, -2, 126, 0};
  for (int k = 0; k < 6; ++k) CHECK(q[k] == expected[k]);
  CHECK(sum == 253);

  x.assign(kGroupColumns, std::nextafter(0x1p-100f, 0.0f));
  kReferenceKernels.quantise(x.data(), 1, q, &scale, &sum);
  CHECK(scale == 0);
  CHECK(sum == 0);
  for (const std::int8_t v : q) CHECK(v == 0);
  x[7] = -0x1p-100f;
  kReferenceKernels.quantise(x.data(), 1, q, &scale, &sum);
  CHECK(scale == 0x1p-100f / 127);
  CHECK(q[7] == -127);
}

}  // namespace minnow::test
