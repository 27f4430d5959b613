// A square matrix of doubles of which the lower triangle is used, and the products that everything here is made of.
// Depends on nothing.
#pragma once

#include <cstddef>
#include <vector>

namespace minnow::quantise {

class Square {
 public:
  Square() = default;
  explicit Square(std::size_t n) : n_(n), pitch_(pitch_for(n)), values_(n * pitch_) {}

  std::size_t size() const { return n_; }
  std::size_t pitch() const { return pitch_; }
  double* row(std::size_t i) { return values_.data() + i * pitch_; }
  const double* row(std::size_t i) const { return values_.data() + i * pitch_; }

  // Rows a power of two apart would share a few sets of the cache.
  static std::size_t pitch_for(std::size_t n) { return (n + 7) / 8 * 8 + 8; }

 private:
  std::size_t n_ = 0;
  std::size_t pitch_ = 0;
  std::vector<double> values_;
};

// out[i][j] += sum of a[k][i] * b[k][j], or -=, for i below `rows` and j below `columns`. Every product is rounded and
// then added, k ascending from 0: so the bits depend neither on how a matrix is cut into tiles nor on the machine.
struct Products {
  const double* a = nullptr;
  const double* b = nullptr;
  std::size_t pitch = 0;  // of a and of b
  std::size_t count = 0;  // of k
  double* out = nullptr;
  std::size_t out_pitch = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
};
void add_products(const Products& p);
void subtract_products(const Products& p);

inline constexpr std::size_t kTile = 64;  // rows and columns of a job
inline std::size_t tile_count(std::size_t n) { return (n + kTile - 1) / kTile; }

}  // namespace minnow::quantise
