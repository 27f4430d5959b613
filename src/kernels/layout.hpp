// How weight matrices and the KV cache lie in memory. Kernels, converter and session all use these formulas.
// models/FORMAT.md describes the same bytes in prose. Depends on base only.
//
// A matrix [rows][columns] is cut into blocks of 8 rows and groups of 32 columns, padded with zeros to whole blocks and
// groups. Blocks follow one another; inside a block the groups do. One block and group holds 256 weights:
//   f32, f16   w[32 columns][8 rows]                                                    1024 or 512 bytes
//   q8         half scale[8 rows], int8 w[8 steps][8 rows][4 columns]                    272 bytes
//   q4         half scale[8 rows], nibbles w[4 steps][8 rows][4 columns]                 144 bytes
// so one 32-byte load covers 8 rows x 4 columns of q8, or of two steps of q4, and a SIMD lane is an output row.
#pragma once

#include "base/half.hpp"
#include "minnow/types.hpp"

namespace minnow {

inline constexpr std::uint32_t kBlockRows = 8;
inline constexpr std::uint32_t kGroupColumns = 32;
inline constexpr std::uint32_t kScaleBytes = kBlockRows * sizeof(Half);  // in front of the weights of a q8 or q4 group

struct Q8Group {  // 8 rows x 32 columns: weight (row, column) = scale[row] * w[column / 4][row][column % 4]
  Half scale[kBlockRows];
  std::int8_t w[kGroupColumns / 4][kBlockRows][4];
};
static_assert(sizeof(Q8Group) == 272);

// weight (row, column) = scale[row] * (n - 8), n = the low half of w[column / 4][row][column % 4] for column < 16, the
// high half of w[column / 4 - 4][row][column % 4] for the others.
struct Q4Group {
  Half scale[kBlockRows];
  std::uint8_t w[kGroupColumns / 8][kBlockRows][4];
};
static_assert(sizeof(Q4Group) == 144);

// Bytes of one block and group; 0 for a type that this build does not know.
constexpr std::uint32_t group_bytes(WeightType type) noexcept {
  switch (type) {
    case WeightType::f32:
      return kBlockRows * kGroupColumns * 4;
    case WeightType::f16:
      return kBlockRows * kGroupColumns * 2;
    case WeightType::q8:
      return sizeof(Q8Group);
    case WeightType::q4:
      return sizeof(Q4Group);
  }
  return 0;
}

// Integers with a scale a group, multiplied by a quantised input.
constexpr bool is_quantised(WeightType type) noexcept { return type == WeightType::q8 || type == WeightType::q4; }

constexpr std::uint32_t block_count(std::uint32_t rows) noexcept {
  return rows / kBlockRows + (rows % kBlockRows != 0 ? 1 : 0);
}
constexpr std::uint32_t group_count(std::uint32_t columns) noexcept {
  return columns / kGroupColumns + (columns % kGroupColumns != 0 ? 1 : 0);
}

// Keys of one layer and KV head: [blocks of 8 positions][head_size][8 positions]; a lane is a position.
// Values of one layer and KV head: [positions][value_pitch]; a lane is a dimension.
inline constexpr std::uint32_t kKeyLanes = 8;
constexpr std::uint32_t value_pitch(std::uint32_t head_size) noexcept { return round_up(head_size, 8u); }

// Positions that attention handles together. Part of the numerics contract: it fixes the order of the sums.
inline constexpr std::uint32_t kAttentionTile = 64;

}  // namespace minnow
