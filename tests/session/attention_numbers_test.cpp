// Numbers that can be checked by hand, from the literature and from teaching texts (Vaswani et al., arXiv:1706.03762),
// computed by the project's own kernels on every instruction set that runs here, to the digits printed there.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/exact_math.hpp"
#include "tests/kernels/cases.hpp"
#include "tests/kernels/exact.hpp"
#include "tests/session/cache.hpp"

namespace minnow::test {
namespace {

const float kOneOverSqrt2 = 1 / std::sqrt(2.0f);

// Within half a unit of the last printed digit.
void check_printed(const std::vector<float>& computed, const std::vector<double>& printed, int digits) {
  REQUIRE(computed.size() == printed.size());
  for (std::size_t i = 0; i < printed.size(); ++i) {
    CAPTURE(i);
    CHECK(std::fabs(static_cast<double>(computed[i]) - printed[i]) <= 0.5 * std::pow(10, -digits) * (1 + 1e-4));
  }
}

std::vector<float> scores(const Kernels& kernels, const Cache& cache, const std::vector<float>& q, std::uint32_t count,
                          float scale) {
  constexpr std::uint32_t kMargin = kKeyLanes;
  std::vector<float> out(count + 2 * kMargin);
  ScoreArgs args;
  args.q = q.data();
  args.queries = 1;
  args.head_size = static_cast<std::uint32_t>(q.size());
  args.keys = cache.keys();
  args.count = count;
  args.scale = scale;
  args.out = out.data() + kMargin;
  kernels.attention_scores[0](args);
  return std::vector<float>(out.begin() + kMargin, out.begin() + kMargin + count);
}

// Softmax of a few scores by the tile kernel alone.
std::vector<float> softmax(const Kernels& kernels, std::vector<float> s) {
  const auto count = static_cast<std::uint32_t>(s.size());
  s.resize(round_up(count, 8u));
  float m = -std::numeric_limits<float>::infinity();
  float l = 0;
  kernels.softmax_tile(s.data(), count, &m, &l);
  s.resize(count);
  for (float& p : s) p /= l;
  return s;
}

}  // namespace

TEST_CASE("attention numbers: three tokens, d_k = 2") {
  for (const Kernels* kernels : tables()) {
    CAPTURE(kernels->name);
    const Rows q = {{1, 0}, {0, 1}, {1, 1}};
    const Cache cache(q, {{1, 0}, {0, 2}, {1, 1}}, false, 3, 0);
    check_printed(scores(*kernels, cache, q[0], 3, kOneOverSqrt2), {0.7071, 0, 0.7071}, 4);
    check_printed(scores(*kernels, cache, q[2], 3, kOneOverSqrt2), {0.7071, 0.7071, 1.4142}, 4);

    const Cache::Result first = cache.attend(*kernels, q[0], 3, kOneOverSqrt2);
    check_printed(first.probabilities, {0.4011, 0.1978, 0.4011}, 4);
    check_printed(first.out, {0.8022, 0.7967}, 4);
    const Cache::Result third = cache.attend(*kernels, q[2], 3, kOneOverSqrt2);
    check_printed(third.probabilities, {0.2483, 0.2483, 0.5035}, 4);
    check_printed(third.out, {0.7517, 1.0000}, 4);

    // Under the causal mask query 1 sees itself alone; query 3 sees all three, as above.
    const Cache::Result causal = cache.attend(*kernels, q[0], 1, kOneOverSqrt2);
    CHECK(causal.probabilities == std::vector<float>{1});
    CHECK(causal.out == std::vector<float>{1, 0});
  }
}

TEST_CASE("attention numbers: the cat sat") {
  for (const Kernels* kernels : tables()) {
    CAPTURE(kernels->name);
    const Rows keys = {{0, 1}, {2, 0}, {1, 1}};
    const Rows values = {{1, 0}, {0, 1}, {1, 1}};
    const std::vector<float> sat = {2, 0};
    const Cache cache(keys, values, false, 3, 0);
    CHECK(scores(*kernels, cache, sat, 3, 1) == std::vector<float>{0, 4, 2});
    check_printed(scores(*kernels, cache, sat, 3, kOneOverSqrt2), {0, 2.828, 1.414}, 3);
    const Cache::Result scaled = cache.attend(*kernels, sat, 3, kOneOverSqrt2);
    check_printed(scaled.probabilities, {0.045, 0.768, 0.187}, 3);
    check_printed(scaled.out, {0.232, 0.955}, 3);
    check_printed(cache.attend(*kernels, sat, 3, 1).probabilities, {0.016, 0.867, 0.117}, 3);

    // Causal: "cat" does not see "sat", whatever is stored there.
    for (const float unseen : {1.0f, 1e30f, std::numeric_limits<float>::quiet_NaN()}) {
      const Cache later({keys[0], keys[1], {unseen, unseen}}, {values[0], values[1], {unseen, unseen}}, false, 3, 0);
      const Cache::Result cat = later.attend(*kernels, {0, 1}, 2, kOneOverSqrt2);
      check_printed(cat.probabilities, {0.67, 0.33}, 2);
      CHECK(cat.out == cat.probabilities);  // values (1, 0) and (0, 1)
    }
  }
}

TEST_CASE("attention numbers: softmax and mixing") {
  check_printed({exp_f32(4.0f), exp_f32(2.0f)}, {54.598, 7.389}, 3);
  check_printed({exp_f32(0.5f)}, {1.6487}, 4);
  for (const Kernels* kernels : tables()) {
    CAPTURE(kernels->name);
    const std::vector<float> weights = softmax(*kernels, {4.0f, 2.0f, 0.5f});
    check_printed(weights, {0.8580, 0.1161, 0.0259}, 4);
    // One constant added to all scores changes nothing, also where exp alone would overflow.
    for (const float shift : {-1000.0f, -3.0f, 1.0f, 100.0f, 65536.0f}) {
      CHECK(softmax(*kernels, {4.0f + shift, 2.0f + shift, 0.5f + shift}) == weights);
    }

    const float p[8] = {0.8f, 0.2f};
    const float values[] = {10, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    float o[8] = {};
    const float one = 1;
    MixArgs mix;
    mix.p = p;
    mix.c = &one;
    mix.queries = 1;
    mix.head_size = 2;
    mix.values = values;
    mix.count = 2;
    mix.o = o;
    kernels->attention_mix[0](mix);
    CHECK(o[0] == 8);
    CHECK(o[1] == 8);

    const Cache cache({{1, 2}, {2, 1}}, {{0, 0}, {0, 0}}, false, 2, 0);
    CHECK(scores(*kernels, cache, {2, 0}, 2, 1) == std::vector<float>{2, 4});
  }
}

TEST_CASE("attention numbers: why scores are divided by sqrt(d_k)") {
  struct Printed {
    std::uint32_t head_size;
    double deviation, tolerance;
  };
  for (const Kernels* kernels : tables()) {
    CAPTURE(kernels->name);
    for (const Printed& printed : {Printed{2, 1.4, 0.1}, Printed{64, 8, 0.4}, Printed{512, 23, 1}}) {
      CAPTURE(printed.head_size);
      Random random(5);
      constexpr std::uint32_t kKeys = 64;
      double squares = 0, scaled_squares = 0, n = 0;
      for (int batch = 0; batch < 20; ++batch) {
        Rows keys(kKeys, std::vector<float>(printed.head_size));
        for (auto& key : keys) fill(key.data(), key.size(), Values::plain, random);
        const Cache cache(keys, keys, false, kKeys, 0);
        for (int query = 0; query < 4; ++query, n += kKeys) {
          std::vector<float> q(printed.head_size);
          fill(q.data(), q.size(), Values::plain, random);
          const float scale = 1 / std::sqrt(static_cast<float>(printed.head_size));
          for (const float s : scores(*kernels, cache, q, kKeys, 1)) squares += static_cast<double>(s) * s;
          for (const float s : scores(*kernels, cache, q, kKeys, scale)) scaled_squares += static_cast<double>(s) * s;
        }
      }
      CHECK(std::fabs(std::sqrt(squares / n) - printed.deviation) < printed.tolerance);
      CHECK(std::fabs(std::sqrt(scaled_squares / n) - 1) < 0.05);
    }
  }
}

// PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i + 1) = cos of the same, as a position table holds them.
TEST_CASE("attention numbers: sinusoidal positions") {
  constexpr int kWidth = 64;
  for (const double position : {0.0, 1.0, 2.0, 255.0, 1023.0, 65535.0}) {
    CAPTURE(position);
    for (int i = 0; i < kWidth; i += 2) {
      const double angle = position / std::pow(10000.0, static_cast<double>(i) / kWidth);
      double sine = 0, cosine = 0;
      sincos_f64(angle, &sine, &cosine);
      CHECK(std::fabs(sine - std::sin(angle)) < 1e-15);
      CHECK(std::fabs(cosine - std::cos(angle)) < 1e-15);
      if (position != 0) continue;
      CHECK(sine == 0);
      CHECK(cosine == 1);
    }
  }
  double sine = 0, cosine = 0;  // the first pair of positions 1 and 2
  sincos_f64(1.0, &sine, &cosine);
  check_printed({static_cast<float>(sine), static_cast<float>(cosine)}, {0.8415, 0.5403}, 4);
  sincos_f64(2.0, &sine, &cosine);
  check_printed({static_cast<float>(sine), static_cast<float>(cosine)}, {0.9093, -0.4161}, 4);
}

// A rotation by frequency times position makes a score depend on the distance of two positions alone.
TEST_CASE("attention numbers: rotated scores depend on distance") {
  constexpr std::uint32_t kPairs = 16;
  Random random(8);
  std::vector<float> q(2 * kPairs), k(2 * kPairs);
  fill(q.data(), q.size(), Values::plain, random);
  fill(k.data(), k.size(), Values::plain, random);
  for (const Kernels* kernels : tables()) {
    for (const auto& rotate : kernels->rotate) {
      const auto turned = [&](std::vector<float> head, double position) {
        float cos[kPairs], sin[kPairs];
        for (std::uint32_t i = 0; i < kPairs; ++i) {
          double sine = 0, cosine = 0;
          sincos_f64(position * std::pow(10000.0, -static_cast<double>(i) / kPairs), &sine, &cosine);
          cos[i] = static_cast<float>(cosine);
          sin[i] = static_cast<float>(sine);
        }
        rotate(head.data(), cos, sin, kPairs);
        return head;
      };
      const auto score = [&](double query_at, double key_at) {
        const std::vector<float> a = turned(q, query_at), b = turned(k, key_at);
        double sum = 0;
        for (std::size_t d = 0; d < a.size(); ++d) sum += static_cast<double>(a[d]) * b[d];
        return sum;
      };
      CHECK(turned(q, 0) == q);
      for (const double distance : {0.0, 1.0, 7.0, 100.0}) {
        for (const double shift : {1.0, 30.0, 1000.0}) {
          CHECK(std::fabs(score(distance, 0) - score(distance + shift, shift)) < 1e-5);
        }
      }
      CHECK(std::fabs(score(7, 0) - score(0, 7)) > 1e-3);  // and on its sign
    }
  }
}

TEST_CASE("attention numbers: shuffled tokens give shuffled outputs") {
  constexpr std::uint32_t kTokens = 100, kHeadSize = 16;
  Random random(6);
  Rows q(kTokens, std::vector<float>(kHeadSize)), k = q, v = q;
  for (Rows* rows : {&q, &k, &v}) {
    for (auto& row : *rows) fill(row.data(), row.size(), Values::plain, random);
  }
  Rows shuffled_k = k, shuffled_v = v;
  for (std::uint32_t i = 0; i < kTokens; ++i) {  // 37 and 100 have no common divisor
    shuffled_k[i * 37 % kTokens] = k[i];
    shuffled_v[i * 37 % kTokens] = v[i];
  }
  for (const Kernels* kernels : tables()) {
    CAPTURE(kernels->name);
    const Cache plain(k, v, false, kTokens, 0), shuffled(shuffled_k, shuffled_v, false, kTokens, 0);
    for (std::uint32_t i = 0; i < kTokens; ++i) {
      const Cache::Result before = plain.attend(*kernels, q[i], kTokens, 0.25f);
      const Cache::Result after = shuffled.attend(*kernels, q[i], kTokens, 0.25f);  // row i * 37 mod 100 of the outputs
      for (std::uint32_t dim = 0; dim < kHeadSize; ++dim) CHECK(std::fabs(before.out[dim] - after.out[dim]) < 1e-6f);
      for (std::uint32_t j = 0; j < kTokens; ++j) {
        CHECK(std::fabs(before.probabilities[j] - after.probabilities[j * 37 % kTokens]) < 1e-6f);
      }
    }
  }
}

}  // namespace minnow::test
