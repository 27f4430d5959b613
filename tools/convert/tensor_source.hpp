// Tensors where they lie in the checkpoint: read a few rows at a time, as floats, whatever their storage type and
// strides. Depends on file.
#pragma once

#include <string>
#include <vector>

#include "tools/convert/file.hpp"

namespace minnow::convert {

enum class Dtype {
  f32,
  f64,
  f16,
  bf16,
  i64,
  i32,
  i16,
  i8,
  u8,
  boolean,
  q8_groups,  // int8 numbers, and one float32 scale for every `group` of them that follow one another
  foreign,    // of a kind that is not read; StoredTensor::foreign_dtype names it
};
const char* dtype_name(Dtype dtype);
std::uint32_t dtype_bytes(Dtype dtype);
bool is_floating(Dtype dtype);

inline constexpr std::size_t kMaxRank = 4;

// A view of one storage, PyTorch's way: element (i, j, ..) is number offset + i * stride[0] + j * stride[1] + ..
// Whoever makes one has checked that all elements are inside the file.
struct StoredTensor {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::size_t rank = 0;
  std::uint64_t shape[kMaxRank] = {};
  std::uint64_t stride[kMaxRank] = {};  // elements
  std::uint64_t offset = 0;             // elements
  std::uint32_t file = 0;               // which of Checkpoint::files it lies in
  std::uint64_t storage_offset = 0;     // bytes from the start of that file
  std::uint64_t storage_elements = 0;
  std::string storage;             // its name in the checkpoint; equal for tensors that share it
  std::uint64_t scale_offset = 0;  // of q8_groups: bytes from the start of the file
  std::uint64_t group = 0;         // of q8_groups: elements
  std::string foreign_dtype;       // of foreign

  // As a matrix: a vector is one row, a scalar one element.
  std::uint64_t rows() const { return rank < 2 ? 1 : shape[0]; }
  std::uint64_t columns() const { return rank == 0 ? 1 : shape[rank == 1 ? 0 : 1]; }
};

std::string shape_text(const StoredTensor& tensor);  // "[65, 192]"

// Gives a tensor this shape, row by row without gaps, and a storage of just its elements. Throws Refusal if there are
// too many dimensions or elements, or none.
void set_shape(const std::vector<std::uint64_t>& shape, StoredTensor* tensor);

// The bytes of its storage; false if they do not fit 64 bits. For q8_groups, without the scales.
bool storage_bytes(const StoredTensor& tensor, std::uint64_t* out);

// Throws Refusal unless the last element of the view is inside the storage.
void require_inside_storage(const StoredTensor& tensor);

// Whether several indices may mean one element: sorted by stride, some dimension steps by less than the inner ones
// extend. Without it the view has no more elements than its storage.
bool overlaps_itself(const StoredTensor& tensor);

// The same elements of the same storage.
bool is_same_view(const StoredTensor& a, const StoredTensor& b);

// Reads rows [begin, begin + count) of a tensor of rank 0, 1 or 2 into out[count][columns]. float64 is rounded to
// float32; int8 numbers in groups become number * scale; other integers are refused. Throws Refusal.
class RowReader {
 public:
  RowReader(const InputFile& file, const StoredTensor& tensor) : file_(file), tensor_(tensor) {}
  void read(std::uint64_t begin, std::uint64_t count, float* out);

 private:
  // `count` elements that follow one another in the storage, out[i * out_stride].
  void read_run(std::uint64_t element, std::uint64_t count, float* out, std::uint64_t out_stride);

  void read_groups(std::uint64_t element, std::uint64_t count, float* out, std::uint64_t out_stride);

  const InputFile& file_;
  const StoredTensor& tensor_;
  std::vector<unsigned char> buffer_;
  std::vector<unsigned char> scales_;
};

// How many rows to read together: about `floats` numbers, a multiple of 8, at least 8.
inline constexpr std::uint64_t kPlainFloats = 1u << 16;
inline constexpr std::uint64_t kTransposedFloats = 1u << 20;
std::uint64_t rows_per_read(std::uint64_t columns, std::uint64_t floats = kPlainFloats);

}  // namespace minnow::convert
