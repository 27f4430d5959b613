// The kernels on rows of numbers: every instruction set against the reference, to the bit, with an unreadable page
// directly behind each buffer.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
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

}  // namespace

// Both norms, with and without weight and bias, in place and not.
TEST_CASE("exact: layer_norm, rms_norm") {
  const auto check = [](const Kernels& table, std::uint32_t n, std::uint32_t slack, Values values, std::uint32_t kind) {
    const bool has_weight = (kind & 1) != 0, has_bias = (kind & 2) != 0, in_place = (kind & 4) != 0;
    CAPTURE(n);
    CAPTURE(slack);
    CAPTURE(static_cast<int>(values));
    CAPTURE(kind);
    const std::uint32_t padded = round_up(n, 8u);
    Random random(n);
    Guarded<float> weight(padded, slack), bias(padded, slack), x(padded, slack);
    fill(weight.data(), padded, Values::plain, random);
    fill(bias.data(), padded, Values::plain, random);
    fill(x.data(), padded, values, random);
    const float* const w = has_weight ? weight.data() : nullptr;
    const float* const b = has_bias ? bias.data() : nullptr;
    Guarded<float> want(padded, slack), got(padded, slack);
    const auto compare = [&](const auto& norm) {
      copy(x, want);
      copy(x, got);
      norm(kReferenceKernels, in_place ? want.data() : x.data(), want.data());
      norm(table, in_place ? got.data() : x.data(), got.data());
      CHECK(got.same_as(want));
      for (std::uint32_t i = n; i < padded; ++i) CHECK(bit_cast<std::uint32_t>(got[i]) == 0);
    };
    compare([&](const Kernels& k, const float* in, float* out) { k.layer_norm(in, w, b, n, 1e-5f, out); });
    if (has_bias) return;
    compare([&](const Kernels& k, const float* in, float* out) { k.rms_norm(in, w, n, 1e-5f, out); });
  };
  for_each_set([&](const Kernels& table) {
    for (const std::uint32_t n : kWidths) {
      for (const std::uint32_t slack : kSlacks) {
        for (const Values values : kValues) {
          for (std::uint32_t kind = 0; kind < 8; ++kind) check(table, n, slack, values, kind);
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

TEST_CASE("exact: relu, relu_squared") {
  check_in_place([](const Kernels& table, float* x, std::uint32_t n) { table.relu(x, n); });
  check_in_place([](const Kernels& table, float* x, std::uint32_t n) { table.relu_squared(x, n); });
}

TEST_CASE("exact: relu keeps a NaN, and makes +0 of -0") {
  for (const Kernels* table : tables()) {
    CAPTURE(table->name);
    for (const auto relu : {table->relu, table->relu_squared}) {
      float x[8] = {std::nanf(""), -0.0f, -1, 0, 2, -HUGE_VALF, HUGE_VALF, -std::nanf("")};
      relu(x, 8);
      CHECK(std::isnan(x[0]));
      for (const int i : {1, 2, 3, 5}) CHECK(bit_cast<std::uint32_t>(x[i]) == 0);
      CHECK(x[4] >= 2);
      CHECK(x[6] == HUGE_VALF);
      CHECK(std::isnan(x[7]));
    }
  }
}

TEST_CASE("exact: silu_gate") {
  for (const Values values : kValues) {
    Guarded<float> gate(400);
    Random random(2);
    fill(gate.data(), gate.size(), values, random);
    for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] < -60 ? -60 : gate[i];  // no denormal result
    check_in_place([&](const Kernels& table, float* x, std::uint32_t n) {
      table.silu_gate(x, gate.data() + gate.size() - round_up(n, 8u), n);
    });
  }
}

TEST_CASE("exact: silu_gate where the gate is all but shut") {
  for_each_set([&](const Kernels& table) {
    for (float gate = -60; gate > -2000; gate -= 0.37f) {
      const float gates[8] = {gate, gate - 0.1f, gate * 3, -gate, gate, gate - 0.2f, 0, 0};
      float want[8] = {1, -2, 3, -4, 5000, -6, 0, 8};
      float got[8] = {1, -2, 3, -4, 5000, -6, 0, 8};
      kReferenceKernels.silu_gate(want, gates, 6);
      table.silu_gate(got, gates, 6);
      CHECK(std::memcmp(got, want, sizeof got) == 0);
    }
  });
}

TEST_CASE("exact: softcap") {
  for (const float limit : {15.0f, 30.0f, 0.3f, 1000.0f}) {
    check_in_place([&](const Kernels& table, float* x, std::uint32_t n) { table.softcap(x, n, limit); });
  }
}

// Numbers of all magnitudes from 2^-30 to 2^20: every branch and polynomial of exp and erf.
TEST_CASE("exact: activations over a sweep of all magnitudes") {
  std::vector<float> sweep;
  for (std::uint32_t bits = (127 - 30) << 23; bits < (127 + 20) << 23; bits += 9973) {
    sweep.push_back(bit_cast<float>(bits));
    sweep.push_back(-sweep.back());
  }
  sweep.resize(sweep.size() / 8 * 8);
  const auto n = static_cast<std::uint32_t>(sweep.size());
  const std::vector<float> ones(n, 1.0f);
  const auto check = [&](const Kernels& table, const auto& call) {
    std::vector<float> want = sweep, got = sweep;
    call(kReferenceKernels, want.data());
    call(table, got.data());
    CHECK(std::memcmp(want.data(), got.data(), n * sizeof(float)) == 0);
  };
  for_each_set([&](const Kernels& table) {
    check(table, [&](const Kernels& k, float* x) { k.gelu_erf(x, n); });
    check(table, [&](const Kernels& k, float* x) { k.gelu_tanh(x, n); });
    check(table, [&](const Kernels& k, float* x) { k.relu(x, n); });
    check(table, [&](const Kernels& k, float* x) { k.relu_squared(x, n); });
    check(table, [&](const Kernels& k, float* x) { k.softcap(x, n, 15); });
    check(table, [&](const Kernels& k, float* x) {
      std::vector<float> value = ones;
      k.silu_gate(value.data(), x, n);
      std::memcpy(x, value.data(), n * sizeof(float));
    });
  });
}

TEST_CASE("exact: rotate") {
  const auto check = [](const Kernels& table, int pairing, std::uint32_t pairs, std::uint32_t slack, Values values) {
    CAPTURE(pairing);
    CAPTURE(pairs);
    CAPTURE(slack);
    CAPTURE(static_cast<int>(values));
    Random random(pairs);
    const std::uint32_t padded = round_up(pairs, 8u);
    Guarded<float> cos(padded, slack), sin(padded, slack), want(2 * pairs, slack), got(2 * pairs, slack);
    for (std::uint32_t i = 0; i < padded; ++i) {
      const double angle = 7 * random.normal();
      cos[i] = static_cast<float>(std::cos(angle));
      sin[i] = static_cast<float>(std::sin(angle));
    }
    fill(want.data(), want.size(), values, random);
    copy(want, got);
    kReferenceKernels.rotate[pairing](want.data(), cos.data(), sin.data(), pairs);
    table.rotate[pairing](got.data(), cos.data(), sin.data(), pairs);
    CHECK(got.same_as(want));
  };
  for_each_set([&](const Kernels& table) {
    for (const std::uint32_t pairs : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 12u, 16u, 20u, 31u, 32u, 48u, 64u}) {
      for (const std::uint32_t slack : kSlacks) {
        for (const Values values : kValues) {
          for (const int pairing : {0, 1}) check(table, pairing, pairs, slack, values);
        }
      }
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
