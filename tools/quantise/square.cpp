// Products of tiles. Depends on square and lanes.
#include "tools/quantise/square.hpp"

#include "tools/quantise/lanes.hpp"

namespace minnow::quantise {

namespace {

constexpr std::size_t kRows = 4;  // of what is in registers at once
constexpr std::size_t kColumns = 4;
constexpr std::size_t kDepth = 32;

template <bool kAdd>
void small(const Products& p, std::size_t i, std::size_t j) {
  Pair acc[kRows][kColumns / 2];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t c = 0; c < kColumns / 2; ++c) acc[r][c] = load_pair(p.out + (i + r) * p.out_pitch + j + 2 * c);
  }
  const double* a = p.a + i;
  const double* b = p.b + j;
  for (std::size_t k = 0; k < p.count; ++k, a += p.pitch, b += p.pitch) {
    const Pair b0 = load_pair(b);
    const Pair b1 = load_pair(b + 2);
    const Pair a0 = both(a[0]);
    const Pair a1 = both(a[1]);
    const Pair a2 = both(a[2]);
    const Pair a3 = both(a[3]);
    if constexpr (kAdd) {
      acc[0][0] += a0 * b0, acc[0][1] += a0 * b1;
      acc[1][0] += a1 * b0, acc[1][1] += a1 * b1;
      acc[2][0] += a2 * b0, acc[2][1] += a2 * b1;
      acc[3][0] += a3 * b0, acc[3][1] += a3 * b1;
    } else {
      acc[0][0] -= a0 * b0, acc[0][1] -= a0 * b1;
      acc[1][0] -= a1 * b0, acc[1][1] -= a1 * b1;
      acc[2][0] -= a2 * b0, acc[2][1] -= a2 * b1;
      acc[3][0] -= a3 * b0, acc[3][1] -= a3 * b1;
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t c = 0; c < kColumns / 2; ++c) store_pair(acc[r][c], p.out + (i + r) * p.out_pitch + j + 2 * c);
  }
}

// What is left at the edges of a tile.
template <bool kAdd>
void single(const Products& p, std::size_t i, std::size_t j) {
  double sum = p.out[i * p.out_pitch + j];
  for (std::size_t k = 0; k < p.count; ++k) {
    const double product = p.a[k * p.pitch + i] * p.b[k * p.pitch + j];
    sum = kAdd ? sum + product : sum - product;
  }
  p.out[i * p.out_pitch + j] = sum;
}

template <bool kAdd>
void tile_products(const Products& p) {
  for (std::size_t i = 0; i < p.rows; i += kRows) {
    for (std::size_t j = 0; j < p.columns; j += kColumns) {
      if (i + kRows <= p.rows && j + kColumns <= p.columns) {
        small<kAdd>(p, i, j);
        continue;
      }
      for (std::size_t r = i; r < i + kRows && r < p.rows; ++r) {
        for (std::size_t c = j; c < j + kColumns && c < p.columns; ++c) single<kAdd>(p, r, c);
      }
    }
  }
}

// A few k at a time: rows lie pages apart, and all of a tile's are then found again in the first cache and TLB.
template <bool kAdd>
void products(Products p) {
  for (std::size_t left = p.count; left != 0; left -= p.count) {
    p.count = left < kDepth ? left : kDepth;
    tile_products<kAdd>(p);
    p.a += p.count * p.pitch;
    p.b += p.count * p.pitch;
  }
}

}  // namespace

void add_products(const Products& p) { products<true>(p); }
void subtract_products(const Products& p) { products<false>(p); }

}  // namespace minnow::quantise
