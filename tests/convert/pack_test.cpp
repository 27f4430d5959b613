// tools/convert/pack.cpp: where each weight lands, how it is rounded, and what is refused.
#include "tools/convert/pack.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/rng.hpp"
#include "kernels/kernels.hpp"

namespace minnow::convert::test {

namespace {

std::vector<float> random_rows(std::uint32_t rows, std::uint32_t columns, std::uint64_t seed) {
  std::vector<float> w(rows * columns);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(unit_interval(draw64(seed, i)) * 2 - 1);
  return w;
}

PackResult pack_one(float value, WeightType type, bool allow_nonfinite, std::vector<std::byte>* block) {
  std::vector<float> w(3 * 40, 0.25f);
  w[1 * 40 + 35] = value;
  block->resize(2 * group_bytes(type));
  return pack_block(w.data(), 3, 40, type, allow_nonfinite, block->data());
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("pack: rows come back from their blocks, padding is zero") {
  for (const std::uint32_t rows : {1u, 7u, 8u}) {
    for (const std::uint32_t columns : {1u, 31u, 32u, 33u, 100u}) {
      const std::vector<float> w = random_rows(rows, columns, rows * 1000 + columns);
      for (const WeightType type : {WeightType::f32, WeightType::f16, WeightType::q8, WeightType::q4}) {
        std::vector<std::byte> block(group_count(columns) * group_bytes(type), std::byte{0xee});
        REQUIRE(pack_block(w.data(), rows, columns, type, false, block.data()).fault == PackFault::none);
        // As if the matrix were as large as its padding.
        const std::uint32_t padded = group_count(columns) * kGroupColumns;
        std::vector<float> row(padded);
        for (std::uint32_t r = 0; r < kBlockRows; ++r) {
          gather_row(block.data(), type, padded, r, row.data());
          for (std::uint32_t c = 0; c < padded; ++c) {
            const float expected = r < rows && c < columns ? w[r * columns + c] : 0.0f;
            const float bound = type == WeightType::f32   ? 0.0f
                                : type == WeightType::f16 ? 0x1p-12f
                                : type == WeightType::q8  ? 1.01f / 254.0f
                                                          : 1.01f / 8.0f;  // of a weight that would need +8
            CHECK(std::fabs(row[c] - expected) <= (expected == 0.0f ? 0.0f : bound));
          }
        }
      }
    }
  }
}

TEST_CASE("pack: q4 puts the largest weight at -8 and the two halves of a row into one byte") {
  std::vector<float> w(32, 0.0f);
  const float in[] = {8, -8, 0.5f, 1.5f, 2.5f, -0.5f, 7, -7, 6.5f};
  for (std::size_t i = 0; i < std::size(in); ++i) w[i + 12] = in[i] * 0x1p-7f;
  const auto packed = [&w] {
    Q4Group group;
    REQUIRE(pack_block(w.data(), 1, 32, WeightType::q4, false, reinterpret_cast<std::byte*>(&group)).fault ==
            PackFault::none);
    return group;
  };
  const auto quant = [](const Q4Group& g, std::size_t i) {
    const int pair = g.w[i % 16 / 4][0][i % 4];
    return (i < 16 ? pair % 16 : pair / 16) - 8;
  };
  Q4Group group = packed();
  CHECK(half_to_float(group.scale[0]) == -0x1p-7f);  // the first of the two largest is positive
  const int out[] = {-8, 7, 0, -2, -2, 0, -7, 7, -6};
  for (std::size_t i = 0; i < 32; ++i) CHECK(quant(group, i) == (i >= 12 && i < 21 ? out[i - 12] : 0));
  w[12] = 0;
  group = packed();
  CHECK(half_to_float(group.scale[0]) == 0x1p-7f);
  CHECK(quant(group, 13) == -8);
  CHECK(quant(group, 18) == 7);
}

TEST_CASE("pack: q8 rounds to nearest even against the scale as it is stored") {
  // The largest is 127 * 2^-7, so the scale is 2^-7 exactly.
  std::vector<float> w(32, 0.0f);
  const float step = 0x1p-7f;
  const float in[] = {127, -127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 126.5f, -126.5f, 0.49f, 3};
  const int out[] = {127, -127, 0, 2, 2, 0, -2, 126, -126, 0, 3};
  for (std::size_t i = 0; i < std::size(in); ++i) w[i] = in[i] * step;
  Q8Group group;
  REQUIRE(pack_block(w.data(), 1, 32, WeightType::q8, false, reinterpret_cast<std::byte*>(&group)).fault ==
          PackFault::none);
  CHECK(half_to_float(group.scale[0]) == step);
  for (std::size_t i = 0; i < std::size(out); ++i) CHECK(group.w[i / 4][0][i % 4] == out[i]);
}

TEST_CASE("pack: q8 never leaves +-127, whatever the scale's rounding") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const float size = static_cast<float>(std::pow(10.0, unit_interval(draw64(7, seed)) * 12 - 9));
    std::vector<float> w = random_rows(8, 32, seed);
    for (float& x : w) x *= size;
    Q8Group group;
    REQUIRE(pack_block(w.data(), 8, 32, WeightType::q8, false, reinterpret_cast<std::byte*>(&group)).fault ==
            PackFault::none);
    for (std::uint32_t r = 0; r < 8; ++r) {
      const float scale = half_to_float(group.scale[r]);
      for (std::uint32_t c = 0; c < 32; ++c) {
        const int q = group.w[c / 4][r][c % 4];
        CHECK(q >= -127);
        if (scale >= 0x1p-14f) CHECK(std::fabs(scale * static_cast<float>(q) - w[r * 32 + c]) <= 0.55f * scale);
      }
    }
  }
}

TEST_CASE("pack: zero and tiny groups have scale 0 and no weights") {
  for (const float value : {0.0f, -0.0f, 1e-30f, std::numeric_limits<float>::denorm_min(), 127 * 0x1p-26f}) {
    std::vector<float> w(32, value);
    Q8Group group;
    REQUIRE(pack_block(w.data(), 1, 32, WeightType::q8, false, reinterpret_cast<std::byte*>(&group)).fault ==
            PackFault::none);
    const Q8Group zero = {};
    CHECK(std::memcmp(&group, &zero, sizeof group) == 0);
  }
}

TEST_CASE("pack: what a half cannot hold is refused with its place") {
  std::vector<std::byte> block;
  for (const float value : {65505.0f, -70000.0f, 1e30f}) {
    const PackResult result = pack_one(value, WeightType::f16, false, &block);
    CHECK(result.fault == PackFault::beyond_half);
    CHECK(result.row == 1);
    CHECK(result.column == 35);
    CHECK(pack_one(value, WeightType::f32, false, &block).fault == PackFault::none);
  }
  CHECK(pack_one(65504.0f, WeightType::f16, false, &block).fault == PackFault::none);
  CHECK(pack_one(65504.0f * 127, WeightType::q8, false, &block).fault == PackFault::none);
  const PackResult result = pack_one(-65600.0f * 127, WeightType::q8, false, &block);
  CHECK(result.fault == PackFault::scale_beyond_half);
  CHECK(result.row == 1);
  CHECK(result.column == 32);
  CHECK(pack_one(-65504.0f * 8, WeightType::q4, false, &block).fault == PackFault::none);
  CHECK(pack_one(65600.0f * 8, WeightType::q4, false, &block).fault == PackFault::scale_beyond_half);
}

TEST_CASE("pack: NaN and infinity are refused, or kept") {
  std::vector<std::byte> block;
  std::vector<float> row(64);
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity}) {
    for (const WeightType type : {WeightType::f32, WeightType::f16, WeightType::q8, WeightType::q4}) {
      const PackResult result = pack_one(value, type, false, &block);
      CHECK(result.fault == PackFault::not_finite);
      CHECK(result.row == 1);
      CHECK(result.column == 35);
      REQUIRE(pack_one(value, type, true, &block).fault == PackFault::none);
      gather_row(block.data(), type, 64, 1, row.data());
      const bool kept = is_quantised(type) || value != value ? row[35] != row[35] : row[35] == value;
      CHECK(kept);
      CHECK(std::fabs(row[0] - 0.25f) < 0.001f);  // another group
    }
    float padded[8] = {};
    CHECK(pack_row(&value, 1, false, padded).fault == PackFault::not_finite);
    CHECK(pack_row(&value, 1, true, padded).fault == PackFault::none);
    CHECK((value != value ? padded[0] != padded[0] : padded[0] == value));
  }
}

TEST_CASE("pack: a row of floats is padded with zeros to 8") {
  const std::vector<float> w = random_rows(1, 11, 3);
  std::vector<float> out(16, 9.0f);
  REQUIRE(pack_row(w.data(), 11, false, out.data()).fault == PackFault::none);
  for (std::size_t i = 0; i < 16; ++i) CHECK(out[i] == (i < 11 ? w[i] : 0.0f));
}

}  // namespace minnow::convert::test
