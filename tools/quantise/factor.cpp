// Cholesky's factorisation from the last column to the first, by blocks. Depends on factor.
#include "tools/quantise/factor.hpp"

#include <algorithm>
#include <cmath>

namespace minnow::quantise {

namespace {

// On the way H = V V^T, V upper triangular; row k of `v` holds column k of V: V[i][k] for i <= k.
class Cholesky {
 public:
  Cholesky(Square* v, double floor, const Workers& workers) : v_(*v), n_(v->size()), floor_(floor), workers_(workers) {}

  void run() {
    for (std::size_t block = tile_count(n_); block-- > 0;) {
      begin_ = block * kTile;
      end_ = std::min(begin_ + kTile, n_);
      subtract_later_rows(begin_, end_);
      for (std::size_t k = end_; k-- > begin_;) finish_row(k, begin_, k, true);
      workers_.run(block, [&](std::size_t tile) {
        const std::size_t from = tile * kTile;
        subtract_later_rows(from, from + kTile);
        for (std::size_t k = end_; k-- > begin_;) finish_row(k, from, from + kTile, false);
      });
    }
  }

 private:
  // What the rows behind the block take from columns [from, to) of the block's rows.
  void subtract_later_rows(std::size_t from, std::size_t to) {
    if (end_ == n_) return;
    Products p;
    p.a = v_.row(end_) + begin_;
    p.b = v_.row(end_) + from;
    p.pitch = v_.pitch();
    p.count = n_ - end_;
    p.out = v_.row(begin_) + from;
    p.out_pitch = v_.pitch();
    p.rows = end_ - begin_;
    p.columns = to - from;
    subtract_products(p);
  }

  // Columns [from, to) of row k, once the rows behind it in the block are finished.
  void finish_row(std::size_t k, std::size_t from, std::size_t to, bool with_diagonal) {
    double* const row = v_.row(k);
    if (with_diagonal) ++to;
    for (std::size_t m = k + 1; m < end_; ++m) {
      const double* const later = v_.row(m);
      const double factor = later[k];
      for (std::size_t i = from; i < to; ++i) row[i] -= factor * later[i];
    }
    if (with_diagonal) {
      --to;
      row[k] = std::sqrt(row[k] > floor_ ? row[k] : floor_);
    }
    for (std::size_t i = from; i < to; ++i) row[i] /= row[k];
  }

  Square& v_;
  std::size_t n_;
  double floor_;  // no pivot of a damped matrix is less, but for rounding
  const Workers& workers_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace

Factor factorise(Square h, double damping, const Workers& workers) {
  const std::size_t n = h.size();
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) trace += h.row(i)[i];
  const double added = trace > 0 ? damping * (trace / static_cast<double>(n)) : 1.0;
  for (std::size_t i = 0; i < n; ++i) h.row(i)[i] += added;
  Cholesky(&h, added * 0.5, workers).run();

  Factor out;
  out.d.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    double* const row = h.row(k);
    for (std::size_t j = 0; j < k; ++j) row[j] /= row[k];
    out.d[k] = row[k] * row[k];
  }
  out.u = std::move(h);
  return out;
}

Factor no_feedback(std::size_t n) {
  Factor out;
  out.u = Square(n);
  out.d.assign(n, 1.0);
  return out;
}

}  // namespace minnow::quantise
