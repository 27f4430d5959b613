// Integer products of 8 rows by widening multiplies, for Arm processors without the dot product instruction: the
// classes Dot of matmul_arm.hpp; Tile: tokens or blocks that the registers hold sums for. For the kernels_*.cpp of Arm alone, with internal linkage.
#pragma once

#include "kernels/matmul_arm.hpp"

namespace minnow {
namespace {

// Four columns of x for two rows, Lane counting in fours.
template <int Lane>
int8x16_t four(int8x16_t x) {
  return vreinterpretq_s8_s32(vdupq_laneq_s32(vreinterpretq_s32_s8(x), Lane));
}

// q8: a product is at most 128 * 127, so two of them fit into 16 bits.
template <int Tile>
struct WidenQ8 : LoadQ8 {
  static constexpr int kTile = Tile;

  int32x4_t rows01 = {};  // two sums a row, to be added at the end
  int32x4_t rows23 = {};
  int32x4_t rows45 = {};
  int32x4_t rows67 = {};

  template <int Lane>
  void add(const Steps& w, int8x16_t x) {
    const int8x16_t first = four<Lane>(x);
    const int8x16_t second = four<Lane + 1>(x);
    rows01 = vpadalq_s16(rows01, low_products(w.first_low, first, w.second_low, second));
    rows23 = vpadalq_s16(rows23, high_products(w.first_low, first, w.second_low, second));
    rows45 = vpadalq_s16(rows45, low_products(w.first_high, first, w.second_high, second));
    rows67 = vpadalq_s16(rows67, high_products(w.first_high, first, w.second_high, second));
  }

  Floats total(std::int32_t) const {
    return {vcvtq_f32_s32(vpaddq_s32(rows01, rows23)), vcvtq_f32_s32(vpaddq_s32(rows45, rows67))};
  }

 private:
  // a * b + c * d in 16 bits, for the low and the high 8 bytes.
  static int16x8_t low_products(int8x16_t a, int8x16_t b, int8x16_t c, int8x16_t d) {
    return vmlal_s8(vmull_s8(vget_low_s8(a), vget_low_s8(b)), vget_low_s8(c), vget_low_s8(d));
  }
  static int16x8_t high_products(int8x16_t a, int8x16_t b, int8x16_t c, int8x16_t d) {
    return vmlal_high_s8(vmull_high_s8(a, b), c, d);
  }
};

// q4: a lane of 16 bits takes all 8 steps of a group, at most 8 * 15 * 127 = 15240.
template <int Tile>
struct WidenQ4 : LoadQ4 {
  static constexpr int kTile = Tile;

  int16x8_t rows01 = {};
  int16x8_t rows23 = {};
  int16x8_t rows45 = {};
  int16x8_t rows67 = {};

  template <int Lane>
  void add(const Steps& w, int8x16_t x) {
    add_step(w.first_low, w.first_high, four<Lane>(x));
    add_step(w.second_low, w.second_high, four<Lane + 1>(x));
  }

  Floats total(std::int32_t sum) const {
    const int32x4_t less = vdupq_n_s32(8 * sum);
    const int32x4_t low = vpaddq_s32(vpaddlq_s16(rows01), vpaddlq_s16(rows23));
    const int32x4_t high = vpaddq_s32(vpaddlq_s16(rows45), vpaddlq_s16(rows67));
    return {vcvtq_f32_s32(vsubq_s32(low, less)), vcvtq_f32_s32(vsubq_s32(high, less))};
  }

 private:
  void add_step(int8x16_t low, int8x16_t high, int8x16_t x) {
    rows01 = vmlal_s8(rows01, vget_low_s8(low), vget_low_s8(x));
    rows23 = vmlal_high_s8(rows23, low, x);
    rows45 = vmlal_s8(rows45, vget_low_s8(high), vget_low_s8(x));
    rows67 = vmlal_high_s8(rows67, high, x);
  }
};

}  // namespace
}  // namespace minnow
