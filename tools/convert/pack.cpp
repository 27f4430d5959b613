// Rounding and interleaving of weights. Depends on kernels/layout.hpp.
#include "tools/convert/pack.hpp"

#include <algorithm>
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

// Of the numbers' bits without sign, which are ordered as the numbers are: infinity next to last, NaN last. Eight at a
// time, since compilers make vectors of a loop whose length they know.
std::uint32_t largest_magnitude(const float* w, std::uint32_t count) {
  constexpr std::uint32_t kLanes = 8;
  std::int32_t largest[kLanes] = {};
  const auto take = [&largest](const float* from, std::size_t numbers) {
    std::int32_t bits[kLanes] = {};
    std::memcpy(bits, from, numbers * sizeof(float));
    for (std::uint32_t i = 0; i < kLanes; ++i) {
      const std::int32_t magnitude = bits[i] & 0x7fffffff;
      largest[i] = magnitude > largest[i] ? magnitude : largest[i];
    }
  };
  std::uint32_t first = 0;
  for (; first + kLanes <= count; first += kLanes) take(w + first, kLanes);
  take(w + first, count - first);
  return static_cast<std::uint32_t>(*std::max_element(largest, largest + kLanes));
}
constexpr std::uint32_t kInfinityBits = 0x7f800000;

// The scale of a row's group, and its weights as integers.
PackFault quantise(const float* group, WeightType type, Half* scale, int* q) {
  const std::uint32_t magnitude = largest_magnitude(group, kGroupColumns);
  const bool finite = magnitude < kInfinityBits;
  float largest = bit_cast<float>(magnitude);
  // q4 has one step more below zero than above, so the largest weight is put there; + 0 makes -0 a zero.
  if (type == WeightType::q4) {
    std::uint32_t i = 0;
    while (i + 1 < kGroupColumns && std::fabs(group[i]) != largest) ++i;
    largest = group[i];
  }
  const float wanted = type == WeightType::q8 ? largest / 127.0f : largest / -8.0f + 0.0f;
  *scale = kHalfNan;
  if (finite && std::fabs(wanted) > kHalfMax) return PackFault::scale_beyond_half;
  if (finite) *scale = float_to_half(wanted);
  const float step = half_to_float(*scale);
  if (!finite || step == 0) {
    std::memset(q, 0, kGroupColumns * sizeof(int));
    return PackFault::none;
  }
  const float lowest = type == WeightType::q8 ? -127.0f : -8.0f;
  const float highest = type == WeightType::q8 ? 127.0f : 7.0f;
  for (std::uint32_t i = 0; i < kGroupColumns; ++i) {
    float number = group[i] / step;
    number = number > highest ? highest : number;
    number = number < lowest ? lowest : number;
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
    const std::uint32_t magnitude = largest_magnitude(from, columns);
    const bool suspect = magnitude >= kInfinityBits || type == WeightType::f16;
    for (std::uint32_t c = 0; c < columns && suspect; ++c) {
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
