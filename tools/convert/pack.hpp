// Rows of floats into the blocks of kernels/layout.hpp. Depends on kernels/layout.hpp.
#pragma once

#include "kernels/layout.hpp"

namespace minnow::convert {

enum class PackFault { none, not_finite, beyond_half, scale_beyond_half };

struct PackResult {
  PackFault fault = PackFault::none;
  std::uint32_t row = 0;  // where, within the block
  std::uint32_t column = 0;
};

// Packs up to 8 rows, w[rows][columns], into one block: group_count(columns) * group_bytes(type) bytes.
//   f16  rounds to nearest even; beyond +-65504 is a fault
//   q8   scale = largest |w| of a row's group / 127 as a half, q = w / scale to nearest even within +-127; a scale of
//        zero, also one too small for a half, gives zeros; one beyond 65504 is a fault
//   q4   scale = the weight of largest |w| / -8 as a half, q = w / scale to nearest even within -8 .. 7; else as q8
// With `allow_nonfinite` NaN and infinite weights stay what they are in f32 and f16; in q8 and q4 they make their group
// NaN.
PackResult pack_block(const float* w, std::uint32_t rows, std::uint32_t columns, WeightType type, bool allow_nonfinite,
                      std::byte* out);

// One row's group of q8 (q -127 .. 127) or q4 (-8 .. 7) into its lane of a block's group at `out`. q [32].
void put_group(WeightType type, std::uint32_t row, Half scale, const int* q, std::byte* out);

// Copies one row and pads it with zeros to a multiple of 8 floats.
PackResult pack_row(const float* w, std::uint32_t columns, bool allow_nonfinite, float* out);

}  // namespace minnow::convert
