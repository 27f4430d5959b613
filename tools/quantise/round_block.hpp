// Rounds 8 rows of a matrix to 4 bits, column by column, each column making up for the errors of those before it.
// Depends on factor and kernels/layout.hpp.
#pragma once

#include "kernels/layout.hpp"
#include "tools/quantise/factor.hpp"

namespace minnow::quantise {

// weight = scale * (code), code in -8 .. 7; a scale may be negative, so that the further end can be used either way.
struct RoundedGroup {
  Half scale[kBlockRows];
  std::int8_t code[kGroupColumns][kBlockRows];
};

// What a block needs while it is rounded; one a worker.
class BlockRounder {
 public:
  explicit BlockRounder(const Factor& factor) : factor_(factor), errors_(factor.d.size() * kBlockRows) {}

  // weights[columns padded to 32][8], as a block of f32 lies in a model file; the padding is zero and has code 0.
  // out[groups]. Returns sum over columns of D (..)^2, see factor.hpp, of all rows; infinite if a scale is beyond a
  // half.
  double round(const float* weights, RoundedGroup* out);

 private:
  struct Trial;
  void make_targets(const float* weights, std::size_t first, std::size_t count);
  void try_scale(const float* weights, std::size_t first, std::size_t count, const double* scale, Trial* trial) const;
  void search(const float* weights, std::size_t first, std::size_t count, Trial* best) const;

  const Factor& factor_;
  std::vector<double> errors_;                      // [columns][8]: w - rounded w, so far
  double targets_[kGroupColumns][kBlockRows] = {};  // of a group: w and what the groups before it left to make up
};

}  // namespace minnow::quantise
