// Depends on moments.
#include "tools/quantise/moments.hpp"

#include <algorithm>

namespace minnow::quantise {

namespace {

constexpr std::size_t kPanel = 128;  // inputs added together, so that the sum passes through the cache less often

}  // namespace

Moments::Moments(std::size_t columns, const Workers& workers)
    : workers_(workers), sum_(columns), panel_(kPanel * sum_.pitch()) {}

void Moments::add(const float* rows, std::size_t pitch, std::size_t count) {
  for (std::size_t t = 0; t < count; ++t) {
    std::copy_n(rows + t * pitch, sum_.size(), panel_.data() + held_ * sum_.pitch());
    if (++held_ == kPanel) flush();
  }
}

void Moments::flush() {
  const std::size_t n = sum_.size();
  const std::size_t tiles = tile_count(n);
  workers_.run(tiles * (tiles + 1) / 2, [&](std::size_t job) {
    std::size_t i = 0;
    for (; job > i; ++i) job -= i + 1;  // row i has i + 1 tiles
    Products p;
    p.a = panel_.data() + i * kTile;
    p.b = panel_.data() + job * kTile;
    p.pitch = sum_.pitch();
    p.count = held_;
    p.out = sum_.row(i * kTile) + job * kTile;
    p.out_pitch = sum_.pitch();
    p.rows = std::min(kTile, n - i * kTile);
    p.columns = std::min(kTile, n - job * kTile);
    add_products(p);
  });
  held_ = 0;
}

Square Moments::take() {
  if (held_ != 0) flush();
  panel_ = {};
  return std::move(sum_);
}

}  // namespace minnow::quantise
