// Every instruction set against the reference, to the bit, over the cases of cases.hpp, with an unreadable page
// directly behind each buffer.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernels/tables.hpp"
#include "tests/kernels/cases.hpp"
#include "tests/kernels/exact.hpp"

namespace minnow::test {
namespace {

// Any vector kernel that changes n floats in place, its buffer padded to 8.
template <class Call>
void check_in_place(const Call& call) {
  for_each_set([&](const Kernels& table) {
    for (const std::uint32_t n : kWidths) {
      for (const std::uint32_t slack : kSlacks) {
        for (const Values values : kValues) {
          CAPTURE(n);
          CAPTURE(slack);
          CAPTURE(static_cast<int>(values));
          Random random(n);
          Guarded<float> want(round_up(n, 8u), slack), got(round_up(n, 8u), slack);
          fill(want.data(), want.size(), values, random);
          copy(want, got);
          call(kReferenceKernels, want.data(), n);
          call(table, got.data(), n);
          CHECK(got.same_as(want));
          for (std::uint32_t i = n; i < round_up(n, 8u); ++i) CHECK(bit_cast<std::uint32_t>(got[i]) == 0);
        }
      }
    }
  });
}

struct MatmulBuffers {
  MatmulBuffers(WeightType type, const MatmulCase& shape, std::uint32_t tokens, std::uint32_t slack, Values values)
      : weights(std::size_t{shape.block_end} * shape.groups * group_bytes(type), 2 * slack),
        bias(std::size_t{shape.block_end} * kBlockRows, slack),
        x(std::size_t{tokens} * shape.groups * kGroupColumns, slack),
        q(x.size(), slack),
        scale(std::size_t{tokens} * shape.groups, slack),
        sum(scale.size(), slack) {
    Random random(shape.groups * 1000 + shape.block_end * 100 + tokens);
    fill(bias.data(), bias.size(), Values::plain, random);
    fill(x.data(), x.size(), values, random);
    for (std::size_t i = 0; i < q.size(); ++i)
      q[i] = static_cast<std::int8_t>(static_cast<int>(random.below(255)) - 127);
    for (std::size_t g = 0; g < scale.size(); ++g) {
      const std::uint32_t kind = random.below(5);
      scale[g] = kind == 0 ? 0.0f : std::ldexp(random.uniform(1, 2), static_cast<int>(random.below(40)) - 36);
      sum[g] = 0;
      for (std::size_t k = g * kGroupColumns; k < (g + 1) * kGroupColumns; ++k) {
        if (kind == 0) q[k] = 0;
        if (kind == 1) q[k] = random.below(2) != 0 ? 127 : -127;
        sum[g] += q[k];
      }
    }
    if (type == WeightType::q8) {
      fill_q8(weights.data(), weights.bytes() / sizeof(Q8Group), random);
    } else if (type == WeightType::f16) {
      for (std::size_t i = 0; i < weights.bytes(); i += sizeof(Half)) {
        const Half h = any_half(random);
        std::memcpy(weights.data() + i, &h, sizeof h);
      }
    } else {
      for (std::size_t i = 0; i < weights.bytes(); i += sizeof(float)) {
        const float w = one_value(Values::plain, random, i);
        std::memcpy(weights.data() + i, &w, sizeof w);
      }
    }
  }

  Guarded<std::byte> weights;
  Guarded<float> bias;
  Guarded<float> x;
  Guarded<std::int8_t> q;
  Guarded<float> scale;
  Guarded<std::int32_t> sum;
};

void check_matmul(WeightType type, const Kernels& table, const MatmulCase& shape, std::uint32_t tokens,
                  std::uint32_t slack, Values values) {
  const MatmulBuffers in(type, shape, tokens, slack, values);
  const std::size_t pitch = std::size_t{shape.block_end} * kBlockRows + slack;
  MatmulArgs args;
  args.weights = in.weights.data();
  args.bias_or_null = tokens % 2 != 0 ? in.bias.data() : nullptr;
  args.groups = shape.groups;
  args.block_begin = shape.block_begin;
  args.block_end = shape.block_end;
  args.tokens = tokens;
  args.x = in.x.data();
  args.q = in.q.data();
  args.scale = in.scale.data();
  args.sum = in.sum.data();
  args.out_pitch = pitch;
  Guarded<float> want(tokens * pitch - slack, slack), got(tokens * pitch - slack, slack);
  args.out = want.data();
  kReferenceKernels.matmul[static_cast<int>(type)](args);
  args.out = got.data();
  table.matmul[static_cast<int>(type)](args);
  CHECK(got.same_as(want));
}

void check_matmuls(WeightType type) {
  for_each_set([&](const Kernels& table) {
    for (const MatmulCase& shape : kMatmulCases) {
      for (std::uint32_t tokens = 1; tokens <= kMostTokens; ++tokens) {
        for (const std::uint32_t slack : kSlacks) {
          CAPTURE(shape.groups);
          CAPTURE(shape.block_begin);
          CAPTURE(shape.block_end);
          CAPTURE(tokens);
          CAPTURE(slack);
          check_matmul(type, table, shape, tokens, slack, tokens % 3 == 2 ? Values::mixed : Values::plain);
        }
      }
    }
  });
}

}  // namespace

TEST_CASE("exact: the instruction sets that run here") {
  std::string ran;
  std::vector<const Kernels*> compiled = {&kReferenceKernels};
#if defined(__x86_64__)
  compiled.insert(compiled.end(), {&kAvx2Kernels, &kVnniVexKernels, &kVnniEvexKernels});
#elif defined(__aarch64__)
  compiled.insert(compiled.end(), {&kNeonKernels, &kDotprodKernels});
#endif
  std::string not_run;
  const std::vector<const Kernels*> running = tables();
  for (const Kernels* table : compiled) {
    if (table != &kReferenceKernels && table->isa == Isa::reference) continue;  // the compiler is too old for it
    bool runs = false;
    for (const Kernels* other : running) runs = runs || other == table;
    (runs ? ran : not_run) += std::string(" [") + table->name + "]";
  }
  MESSAGE("instruction sets tested:" << ran
                                     << "; compiled, not run on this CPU:" << (not_run.empty() ? " none" : not_run));
  CHECK(running[0] == &kReferenceKernels);
  CHECK(select_kernels(Isa::reference) == &kReferenceKernels);
  CHECK(select_kernels(Isa::best) == running.back());
  for (const Kernels* table : running) {
    CHECK(select_kernels(table->isa)->isa == table->isa);
    for (const WeightType type : {WeightType::f32, WeightType::f16, WeightType::q8}) {
      CHECK((table->matmul[static_cast<int>(type)] != nullptr));
    }
  }
}

TEST_CASE("exact: matmul f32") { check_matmuls(WeightType::f32); }
TEST_CASE("exact: matmul f16") { check_matmuls(WeightType::f16); }
TEST_CASE("exact: matmul q8") { check_matmuls(WeightType::q8); }

TEST_CASE("exact: quantise") {
  for_each_set([](const Kernels& table) {
    for (const std::uint32_t groups : {1u, 2u, 3u, 12u}) {
      for (const std::uint32_t slack : kSlacks) {
        for (const Values values : kValues) {
          for (const int exponent : {0, 60, -60, -101, -120}) {  // the last two fall below the least amax
            CAPTURE(groups);
            CAPTURE(slack);
            CAPTURE(static_cast<int>(values));
            CAPTURE(exponent);
            Random random(groups);
            Guarded<float> x(groups * kGroupColumns, slack);
            fill(x.data(), x.size(), values, random);
            for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(x[i], exponent);
            Guarded<std::int8_t> q_want(x.size(), slack), q_got(x.size(), slack);
            Guarded<float> scale_want(groups, slack), scale_got(groups, slack);
            Guarded<std::int32_t> sum_want(groups, slack), sum_got(groups, slack);
            kReferenceKernels.quantise(x.data(), groups, q_want.data(), scale_want.data(), sum_want.data());
            table.quantise(x.data(), groups, q_got.data(), scale_got.data(), sum_got.data());
            CHECK(q_got.same_as(q_want));
            CHECK(scale_got.same_as(scale_want));
            CHECK(sum_got.same_as(sum_want));
          }
        }
      }
    }
  });
}

TEST_CASE("exact: layer_norm") {
  for_each_set([](const Kernels& table) {
    for (const std::uint32_t n : kWidths) {
      for (const std::uint32_t slack : kSlacks) {
        for (const Values values : kValues) {
          for (const bool has_bias : {false, true}) {
            for (const bool in_place : {false, true}) {
              CAPTURE(n);
              CAPTURE(slack);
              CAPTURE(static_cast<int>(values));
              CAPTURE(has_bias);
              CAPTURE(in_place);
              const std::uint32_t padded = round_up(n, 8u);
              Random random(n);
              Guarded<float> weight(padded, slack), bias(padded, slack), x(padded, slack);
              fill(weight.data(), padded, Values::plain, random);
              fill(bias.data(), padded, Values::plain, random);
              fill(x.data(), padded, values, random);
              Guarded<float> want(padded, slack), got(padded, slack);
              copy(x, want);
              copy(x, got);
              const float* const bias_or_null = has_bias ? bias.data() : nullptr;
              kReferenceKernels.layer_norm(in_place ? want.data() : x.data(), weight.data(), bias_or_null, n, 1e-5f,
                                           want.data());
              table.layer_norm(in_place ? got.data() : x.data(), weight.data(), bias_or_null, n, 1e-5f, got.data());
              CHECK(got.same_as(want));
            }
          }
        }
      }
    }
  });
}

TEST_CASE("exact: add") {
  Guarded<float> y(400);
  Random random(1);
  fill(y.data(), y.size(), Values::mixed, random);
  check_in_place(
      [&](const Kernels& table, float* x, std::uint32_t n) { table.add(x, y.data() + y.size() - round_up(n, 8u), n); });
}

TEST_CASE("exact: gelu") {
  check_in_place([](const Kernels& table, float* x, std::uint32_t n) { table.gelu_erf(x, n); });
  check_in_place([](const Kernels& table, float* x, std::uint32_t n) { table.gelu_tanh(x, n); });
}

// Numbers of all magnitudes from 2^-30 to 2^20: every branch and polynomial of exp and erf.
TEST_CASE("exact: gelu over a sweep of all magnitudes") {
  std::vector<float> sweep;
  for (std::uint32_t bits = (127 - 30) << 23; bits < (127 + 20) << 23; bits += 9973) {
    sweep.push_back(bit_cast<float>(bits));
    sweep.push_back(-sweep.back());
  }
  sweep.resize(sweep.size() / 8 * 8);
  const auto n = static_cast<std::uint32_t>(sweep.size());
  for_each_set([&](const Kernels& table) {
    for (const bool erf : {false, true}) {
      std::vector<float> want = sweep, got = sweep;
      (erf ? kReferenceKernels.gelu_erf : kReferenceKernels.gelu_tanh)(want.data(), n);
      (erf ? table.gelu_erf : table.gelu_tanh)(got.data(), n);
      CHECK(std::memcmp(want.data(), got.data(), n * sizeof(float)) == 0);
    }
  });
}

TEST_CASE("exact: to_half") {
  // Every finite half, the numbers halfway between neighbours and next to those, and what saturates.
  std::vector<float> all;
  for (std::uint32_t h = 0; h < 0x7c00; ++h) {
    const float low = half_to_float(static_cast<Half>(h));
    const float high = h < 0x7bff ? half_to_float(static_cast<Half>(h + 1)) : 65536.0f;
    const float middle = (low + high) / 2;
    for (const float x : {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
      all.push_back(x);
      all.push_back(-x);
    }
  }
  for (const float x : {65519.0f, 65520.0f, 1e6f, 1e38f, std::numeric_limits<float>::max()}) {
    all.push_back(x);
    all.push_back(-x);
  }
  all.resize(all.size() / 8 * 8);
  for_each_set([&](const Kernels& table) {
    std::vector<Half> want(all.size()), got(all.size());
    kReferenceKernels.to_half(all.data(), static_cast<std::uint32_t>(all.size()), want.data());
    table.to_half(all.data(), static_cast<std::uint32_t>(all.size()), got.data());
    CHECK(want == got);
    for (const std::uint32_t n : kWidths) {
      for (const std::uint32_t slack : kSlacks) {
        CAPTURE(n);
        CAPTURE(slack);
        Random random(n);
        Guarded<float> x(round_up(n, 8u), slack);
        fill(x.data(), x.size(), Values::mixed, random);
        Guarded<Half> half_want(n, slack), half_got(n, slack);
        kReferenceKernels.to_half(x.data(), n, half_want.data());
        table.to_half(x.data(), n, half_got.data());
        CHECK(half_got.same_as(half_want));
      }
    }
  });
}

}  // namespace minnow::test
