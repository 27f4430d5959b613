// tools/convert/tensor_source.cpp: every storage type and every kind of stride, against the definition of a view.
#include "tools/convert/tensor_source.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/half.hpp"
#include "tests/convert/support.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert::test {

namespace {

StoredTensor matrix(std::uint64_t rows, std::uint64_t columns, std::uint64_t row_stride, std::uint64_t column_stride,
                    std::uint64_t offset) {
  StoredTensor t;
  t.name = "t";
  t.rank = 2;
  t.shape[0] = rows;
  t.shape[1] = columns;
  t.stride[0] = row_stride;
  t.stride[1] = column_stride;
  t.offset = offset;
  t.storage_offset = 3;  // nothing says that a storage is aligned
  return t;
}

float read_scalar(const TemporaryFolder& folder, Dtype dtype, const std::string& bytes) {
  write_file(folder / "x", bytes);
  const InputFile file(folder / "x");
  StoredTensor t;
  t.dtype = dtype;
  float out = 0;
  RowReader(file, t).read(0, 1, &out);
  return out;
}

template <class T>
std::string bits(T value) {
  return raw(std::vector<T>{value});
}

}  // namespace

TEST_CASE("tensor_source: strides and offsets") {
  const TemporaryFolder folder;
  std::vector<float> storage(5000);
  for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = static_cast<float>(i);
  write_file(folder / "x", "abc" + raw(storage));
  const InputFile file(folder / "x");
  const StoredTensor views[] = {
      matrix(13, 7, 7, 1, 0),     // plain
      matrix(13, 7, 7, 1, 41),    // behind something
      matrix(13, 7, 20, 1, 5),    // cut out of wider rows
      matrix(13, 7, 1, 13, 0),    // transposed
      matrix(13, 7, 1, 300, 11),  // transposed, cut out
      matrix(13, 7, 14, 2, 1),    // every second column
      matrix(13, 7, 0, 1, 2),     // one row repeated
      matrix(13, 7, 3, 0, 2),     // one column repeated
      matrix(1, 7, 999, 1, 2),    // the stride of a single row does not matter
      matrix(13, 1, 4, 77, 2),    // nor that of a single column
      matrix(1, 1, 0, 0, 4999),
  };
  for (const StoredTensor& view : views) {
    for (std::uint64_t begin = 0; begin < view.rows(); begin += 3) {
      for (std::uint64_t count = 1; count <= view.rows() - begin; ++count) {
        std::vector<float> out(count * view.columns(), -1.0f);
        RowReader(file, view).read(begin, count, out.data());
        bool same = true;
        for (std::uint64_t r = 0; r < count; ++r) {
          for (std::uint64_t c = 0; c < view.columns(); ++c) {
            const std::uint64_t element = view.offset + (begin + r) * view.stride[0] + c * view.stride[1];
            same = same && out[r * view.columns() + c] == storage[element];
          }
        }
        CHECK(same);
      }
    }
  }
}

TEST_CASE("tensor_source: long rows are read in pieces") {
  const TemporaryFolder folder;
  std::vector<double> storage(100000);
  for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = static_cast<double>(i) * 0.5;
  write_file(folder / "x", "abc" + raw(storage));
  const InputFile file(folder / "x");
  StoredTensor t = matrix(2, 50000, 50000, 1, 0);
  t.dtype = Dtype::f64;
  std::vector<float> out(100000);
  RowReader(file, t).read(0, 2, out.data());
  bool same = true;
  for (std::size_t i = 0; i < out.size(); ++i) same = same && out[i] == static_cast<float>(i) * 0.5f;
  CHECK(same);
}

TEST_CASE("tensor_source: values of every floating type") {
  const TemporaryFolder folder;
  for (const float x : {0.0f, -0.0f, 1.5f, -3.1415927f, 1e-42f, 3e38f, std::numeric_limits<float>::infinity()}) {
    const float back = read_scalar(folder, Dtype::f32, bits(x));
    CHECK(bit_cast<std::uint32_t>(back) == bit_cast<std::uint32_t>(x));
  }
  CHECK(read_scalar(folder, Dtype::f64, bits(0.1)) == 0.1f);
  CHECK(read_scalar(folder, Dtype::f64, bits(1.0 + 0x1p-24)) == 1.0f);  // a tie, to even
  CHECK(read_scalar(folder, Dtype::f64, bits(1.0 + 0x1p-24 + 0x1p-50)) == 1.0f + 0x1p-23f);
  CHECK(std::isinf(read_scalar(folder, Dtype::f64, bits(1e300))));
  for (std::uint32_t h = 0; h < 0x10000; h += 37) {
    const float x = read_scalar(folder, Dtype::f16, bits(static_cast<std::uint16_t>(h)));
    CHECK((x != x || x == half_to_float(static_cast<Half>(h))));
  }
  CHECK(read_scalar(folder, Dtype::bf16, bits(std::uint16_t{0x3fc0})) == 1.5f);
  CHECK(read_scalar(folder, Dtype::bf16, bits(std::uint16_t{0x8001})) == -0x1p-133f);
}

TEST_CASE("tensor_source: integers are refused, by name and type") {
  const TemporaryFolder folder;
  std::string text;
  try {
    read_scalar(folder, Dtype::i64, bits(std::int64_t{1}));
  } catch (const Refusal& refusal) {
    text = refusal.what();
  }
  CHECK(text.find("holds int64 numbers") != std::string::npos);
}

TEST_CASE("tensor_source: int8 numbers in groups") {
  const TemporaryFolder folder;
  std::string numbers;
  for (int i = 0; i < 60; ++i) numbers += static_cast<char>(i * 4 - 128);
  std::vector<float> scales;
  for (int i = 0; i < 12; ++i) scales.push_back(0.5f * static_cast<float>(i));
  write_file(folder / "x", "abc" + numbers + "?" + raw(scales));
  const InputFile file(folder / "x");
  // Groups of 5 over rows of 6 and 4: a group may lie in two rows.
  for (const std::uint64_t columns : {6u, 4u}) {
    for (const bool transposed : {false, true}) {
      const std::uint64_t rows = 60 / columns;
      StoredTensor t = transposed ? matrix(columns, rows, 1, columns, 0) : matrix(rows, columns, columns, 1, 0);
      t.dtype = Dtype::q8_groups;
      t.group = 5;
      t.scale_offset = 3 + 60 + 1;
      std::vector<float> out(60);
      RowReader reader(file, t);
      for (std::uint64_t r = 0; r < t.rows(); ++r) reader.read(r, 1, &out[r * t.columns()]);
      bool same = true;
      for (std::uint64_t r = 0; r < t.rows(); ++r) {
        for (std::uint64_t c = 0; c < t.columns(); ++c) {
          const int i = static_cast<int>(transposed ? c * columns + r : r * columns + c);
          same =
              same && out[r * t.columns() + c] == static_cast<float>(i * 4 - 128) * (0.5f * static_cast<float>(i / 5));
        }
      }
      CHECK(same);
    }
  }
}

TEST_CASE("tensor_source: shapes and storages that are counted") {
  const auto fault_of = [](const std::vector<std::uint64_t>& shape) {
    try {
      StoredTensor t;
      set_shape(shape, &t);
      require_inside_storage(t);
      return std::string();
    } catch (const Refusal& refusal) {
      return std::string(refusal.what());
    }
  };
  CHECK(fault_of({}).empty());
  CHECK(fault_of({2, 3, 4, 5}).empty());
  CHECK(fault_of({UINT64_MAX}).empty());
  CHECK(contains(fault_of({UINT64_MAX, 2}), "more elements than can be counted"));
  CHECK(contains(fault_of({2, 0}), "is empty"));
  CHECK(contains(fault_of({1, 1, 1, 1, 1}), "5 dimensions"));
  StoredTensor t;
  set_shape({2, 3}, &t);
  CHECK(t.storage_elements == 6);
  CHECK(t.stride[0] == 3);
  CHECK(t.stride[1] == 1);
  std::uint64_t bytes = 0;
  CHECK(storage_bytes(t, &bytes));
  CHECK(bytes == 24);
  t.storage_elements = UINT64_MAX / 4 + 1;
  CHECK_FALSE(storage_bytes(t, &bytes));
}

TEST_CASE("tensor_source: views that overlap themselves") {
  const auto overlaps = [](const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& stride) {
    StoredTensor t;
    t.rank = shape.size();
    std::copy(shape.begin(), shape.end(), t.shape);
    std::copy(stride.begin(), stride.end(), t.stride);
    return overlaps_itself(t);
  };
  CHECK_FALSE(overlaps({}, {}));
  CHECK_FALSE(overlaps({5}, {1}));
  CHECK_FALSE(overlaps({5}, {3}));
  CHECK(overlaps({5}, {0}));
  CHECK_FALSE(overlaps({1}, {0}));
  CHECK_FALSE(overlaps({4, 5}, {5, 1}));
  CHECK_FALSE(overlaps({4, 5}, {1, 4}));
  CHECK_FALSE(overlaps({4, 5}, {9, 2}));
  CHECK(overlaps({4, 5}, {8, 2}));
  CHECK(overlaps({4, 5}, {1, 3}));
  CHECK(overlaps({4, 5}, {4, 1}));
  CHECK(overlaps({4, 5}, {1, 1}));
  CHECK_FALSE(overlaps({1, 5}, {1, 1}));
  CHECK_FALSE(overlaps({2, 3, 4, 5}, {1, 2, 6, 24}));
  CHECK(overlaps({2, 3, 4, 5}, {1, 2, 5, 24}));
  CHECK(overlaps({3, UINT64_MAX}, {UINT64_MAX, 1}));
}

TEST_CASE("tensor_source: how many rows at a time") {
  for (const std::uint64_t columns : {1u, 7u, 192u, 768u, 3072u, 65536u, 1000000u}) {
    CHECK(rows_per_read(columns) % 8 == 0);
    CHECK(rows_per_read(columns) >= 8);
    CHECK((rows_per_read(columns) == 8 || rows_per_read(columns) * columns <= 65536));
  }
}

}  // namespace minnow::convert::test
