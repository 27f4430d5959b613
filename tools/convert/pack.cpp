// Rounding and interleaving of weights. Depends on kernels/layout.hpp.
#include "tools/convert/pack.hpp"

#include <cmath>
#include <cstring>

#include "base/bits.hpp"

namespace minnow::convert {

namespace {

constexpr Half kHalfNan = 0x7e00;
constexpr Half kHalfInfinity = 0x7c00;
constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: x + this - this is x to nearest even

// The 32 columns of a group of one row, the missing ones zero.
void load_group(const float* w, std::uint32_t columns, std::uint32_t group, float* out) {
  const std::uint32_t first = group * kGroupColumns;
  const std::uint32_t count = columns - first < kGroupColumns ? columns - first : kGroupColumns;
  std::memset(out, 0, kGroupColumns * sizeof(float));
  std::memcpy(out, w + first, count * sizeof(float));
}

Half exact_or_special_half(float x) {
  if (is_finite(x)) return float_to_half(x);
  if (x != x) return kHalfNan;
  return static_cast<Half>(x < 0 ? kHalfInfinity | 0x8000u : kHalfInfinity);
}

// The scale of a row's group, and its weights as integers.
PackFault quantise(const float* group, WeightType type, Half* scale, int* q) {
  float largest = 0;  // in magnitude
  bool finite = true;
  for (std::uint32_t i = 0; i < kGroupColumns; ++i) {
    finite = finite && is_finite(group[i]);
    if (std::fabs(group[i]) > std::fabs(largest)) largest = group[i];
  }
  // q4 has one step more below zero than above, so the largest weight is put there; + 0 makes -0 a zero.
  const float wanted = type == WeightType::q8 ? std::fabs(largest) / 127.0f : largest / -8.0f + 0.0f;
  *scale = kHalfNan;
  if (finite && std::fabs(wanted) > kHalfMax) return PackFault::scale_beyond_half;
  if (finite) *scale = float_to_half(wanted);
  const float step = half_to_float(*scale);
  const float lowest = type == WeightType::q8 ? -127.0f : -8.0f;
  const float highest = type == WeightType::q8 ? 127.0f : 7.0f;
  for (std::uint32_t i = 0; i < kGroupColumns; ++i) {
    float number = finite && step != 0 ? group[i] / step : 0.0f;
    number = number > highest ? highest : number < lowest ? lowest : number;
    q[i] = static_cast<int>((number + kRounder) - kRounder);
  }
  return PackFault::none;
}

// The group of one row into its lane of the block's group at `out`.
PackFault pack_group(const float* group, std::uint32_t row, WeightType type, std::byte* out) {
  if (is_quantised(type)) {
    Half scale = 0;
    int q[kGroupColumns] = {};
    const PackFault fault = quantise(group, type, &scale, q);
    put_group(type, row, scale, q, out);
    return fault;
  }
  for (std::uint32_t i = 0; i < kGroupColumns; ++i) {
    const std::size_t lane = i * std::size_t{kBlockRows} + row;
    if (type == WeightType::f32) {
      std::memcpy(out + lane * sizeof(float), &group[i], sizeof(float));
    } else {
      const Half half = exact_or_special_half(group[i]);
      std::memcpy(out + lane * sizeof(Half), &half, sizeof half);
    }
  }
  return PackFault::none;
}

}  // namespace

void put_group(WeightType type, std::uint32_t row, Half scale, const int* q, std::byte* out) {
  std::memcpy(out + row * sizeof(Half), &scale, sizeof scale);
  std::byte* const lane = out + kScaleBytes + row * std::size_t{4};
  constexpr std::uint32_t kHalf = kGroupColumns / 2;
  for (std::uint32_t i = 0; i < (type == WeightType::q8 ? kGroupColumns : kHalf); ++i) {
    const int byte = type == WeightType::q8 ? q[i] : (q[i] + 8) | (q[i + kHalf] + 8) << 4;
    lane[i / 4 * kBlockRows * 4 + i % 4] = static_cast<std::byte>(byte & 0xff);
  }
}

PackResult pack_block(const float* w, std::uint32_t rows, std::uint32_t columns, WeightType type, bool allow_nonfinite,
                      std::byte* out) {
  const std::size_t bytes = group_bytes(type);
  std::memset(out, 0, group_count(columns) * bytes);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const float* const from = w + row * std::size_t{columns};
    for (std::uint32_t c = 0; c < columns; ++c) {
      if (!allow_nonfinite && !is_finite(from[c])) return {PackFault::not_finite, row, c};
      if (type == WeightType::f16 && is_finite(from[c]) && std::fabs(from[c]) > kHalfMax) {
        return {PackFault::beyond_half, row, c};
      }
    }
    for (std::uint32_t g = 0; g < group_count(columns); ++g) {
      float group[kGroupColumns];
      load_group(from, columns, g, group);
      const PackFault fault = pack_group(group, row, type, out + g * bytes);
      if (fault != PackFault::none) return {fault, row, g * kGroupColumns};
    }
  }
  return {};
}

PackResult pack_row(const float* w, std::uint32_t columns, bool allow_nonfinite, float* out) {
  for (std::uint32_t c = 0; c < round_up(columns, 8u); ++c) {
    out[c] = c < columns ? w[c] : 0.0f;
    if (!allow_nonfinite && !is_finite(out[c])) return {PackFault::not_finite, 0, c};
  }
  return {};
}

}  // namespace minnow::convert
