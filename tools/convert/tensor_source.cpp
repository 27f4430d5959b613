// Elements of any storage type and stride as rows of floats. Depends on file and base.
#include "tools/convert/tensor_source.hpp"

#include <algorithm>

#include "base/bits.hpp"
#include "base/half.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

namespace {

struct DtypeRow {
  const char* name;
  std::uint32_t bytes;
  bool floating;
};
constexpr DtypeRow kDtypes[] = {
    {"float32", 4, true}, {"float64", 8, true}, {"float16", 2, true},        {"bfloat16", 2, true},
    {"int64", 8, false},  {"int32", 4, false},  {"int16", 2, false},         {"int8", 1, false},
    {"uint8", 1, false},  {"bool", 1, false},   {"int8 in groups", 1, true}, {"foreign", 1, false},
};
const DtypeRow& row_of(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)]; }

constexpr std::uint64_t kRunElements = 1u << 15;  // read together

std::uint64_t little_endian(const unsigned char* from, std::uint32_t bytes) {
  std::uint64_t value = 0;
  for (std::uint32_t i = bytes; i-- > 0;) value = value << 8 | from[i];
  return value;
}

template <class T>
T load(const unsigned char* from) {
  return static_cast<T>(little_endian(from, sizeof(T)));
}

void to_floats(Dtype dtype, const unsigned char* from, std::size_t count, float* out, std::uint64_t stride) {
  const auto each = [&](std::size_t bytes, auto convert) {
    for (std::size_t i = 0; i < count; ++i) out[i * stride] = convert(from + i * bytes);
  };
  switch (dtype) {
    case Dtype::f32:
      return each(4, [](const unsigned char* p) { return bit_cast<float>(load<std::uint32_t>(p)); });
    case Dtype::f64:
      return each(8,
                  [](const unsigned char* p) { return static_cast<float>(bit_cast<double>(load<std::uint64_t>(p))); });
    case Dtype::f16:
      return each(2, [](const unsigned char* p) { return half_to_float(load<Half>(p)); });
    case Dtype::bf16:
      return each(2,
                  [](const unsigned char* p) { return bit_cast<float>(std::uint32_t{load<std::uint16_t>(p)} << 16); });
    default:
      return each(0, [](const unsigned char*) { return 0.0f; });
  }
}

}  // namespace

const char* dtype_name(Dtype dtype) { return row_of(dtype).name; }
std::uint32_t dtype_bytes(Dtype dtype) { return row_of(dtype).bytes; }
bool is_floating(Dtype dtype) { return row_of(dtype).floating; }

std::string shape_text(const StoredTensor& tensor) {
  std::string out = "[";
  for (std::size_t i = 0; i < tensor.rank; ++i) out += concat(i == 0 ? "" : ", ", tensor.shape[i]);
  return out + "]";
}

void set_shape(const std::vector<std::uint64_t>& shape, StoredTensor* tensor) {
  if (shape.size() > kMaxRank) {
    refuse("the tensor ", quoted(tensor->name), " has ", shape.size(), " dimensions; expected at most ", kMaxRank,
           "; this is no GPT");
  }
  tensor->rank = shape.size();
  tensor->storage_elements = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    tensor->shape[i] = shape[i];
    tensor->stride[i] = tensor->storage_elements;
    if (shape[i] == 0) refuse("the tensor ", quoted(tensor->name), " is empty; ", kDamaged);
    if (!checked_multiply(tensor->storage_elements, shape[i], &tensor->storage_elements)) {
      refuse("the tensor ", quoted(tensor->name), " has more elements than can be counted; ", kDamaged);
    }
  }
}

bool storage_bytes(const StoredTensor& tensor, std::uint64_t* out) {
  return checked_multiply(tensor.storage_elements, dtype_bytes(tensor.dtype), out);
}

void require_inside_storage(const StoredTensor& tensor) {
  std::uint64_t last = tensor.offset;
  for (std::size_t i = 0; i < tensor.rank; ++i) {
    std::uint64_t reach = 0;
    if (tensor.shape[i] == 0) refuse("the tensor ", quoted(tensor.name), " is empty; ", kDamaged);
    if (!checked_multiply(tensor.shape[i] - 1, tensor.stride[i], &reach) || !checked_add(last, reach, &last)) {
      last = UINT64_MAX;
      break;
    }
  }
  if (last >= tensor.storage_elements) {
    refuse("the tensor ", quoted(tensor.name), " ", shape_text(tensor), " reaches beyond its storage of ",
           tensor.storage_elements, " elements; ", kDamaged);
  }
}

bool overlaps_itself(const StoredTensor& tensor) {
  struct Dimension {
    std::uint64_t stride, size;
  };
  std::vector<Dimension> inner_first;
  for (std::size_t i = 0; i < tensor.rank; ++i) {
    if (tensor.shape[i] > 1) inner_first.push_back({tensor.stride[i], tensor.shape[i]});
  }
  std::sort(inner_first.begin(), inner_first.end(),
            [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });
  std::uint64_t extent = 1;
  for (const Dimension& each : inner_first) {
    std::uint64_t reach = 0;
    if (each.stride < extent || !checked_multiply(each.size - 1, each.stride, &reach)) return true;
    if (!checked_add(extent, reach, &extent)) return true;
  }
  return false;
}

bool is_same_view(const StoredTensor& a, const StoredTensor& b) {
  return a.file == b.file && a.storage == b.storage && a.storage_offset == b.storage_offset && a.dtype == b.dtype &&
         a.rank == b.rank && a.offset == b.offset && std::equal(a.shape, a.shape + a.rank, b.shape) &&
         std::equal(a.stride, a.stride + a.rank, b.stride);
}

std::uint64_t rows_per_read(std::uint64_t columns, std::uint64_t floats) {
  return std::max<std::uint64_t>(8, floats / std::max<std::uint64_t>(1, columns) / 8 * 8);
}

void RowReader::read(std::uint64_t begin, std::uint64_t count, float* out) {
  const StoredTensor& t = tensor_;
  if (!is_floating(t.dtype)) {
    refuse("the tensor ", quoted(t.name), " holds ",
           t.dtype == Dtype::foreign ? quoted(t.foreign_dtype) : std::string(dtype_name(t.dtype)),
           " numbers; expected floating point; quantised ", "checkpoints must be saved again in float32 or float16");
  }
  const std::uint64_t columns = t.columns();
  const std::uint64_t row_stride = t.rank < 2 ? 0 : t.stride[0];
  const std::uint64_t column_stride = t.rank == 0 ? 1 : t.stride[t.rank - 1];
  const std::uint64_t first = t.offset + begin * row_stride;
  if (column_stride == 1 && row_stride == columns) {
    read_run(first, count * columns, out, 1);
  } else if (column_stride == 1) {
    for (std::uint64_t r = 0; r < count; ++r) read_run(first + r * row_stride, columns, out + r * columns, 1);
  } else if (row_stride == 1) {  // transposed
    for (std::uint64_t c = 0; c < columns; ++c) read_run(first + c * column_stride, count, out + c, columns);
  } else {
    for (std::uint64_t r = 0; r < count; ++r) {
      for (std::uint64_t c = 0; c < columns; ++c) {
        read_run(first + r * row_stride + c * column_stride, 1, out + r * columns + c, 1);
      }
    }
  }
}

void RowReader::read_run(std::uint64_t element, std::uint64_t count, float* out, std::uint64_t out_stride) {
  if (tensor_.dtype == Dtype::q8_groups) return read_groups(element, count, out, out_stride);
  const std::uint32_t bytes = dtype_bytes(tensor_.dtype);
  if (tensor_.dtype == Dtype::f32 && out_stride == 1 && host_is_little_endian()) {
    file_.read_at(tensor_.storage_offset + element * bytes, out, static_cast<std::size_t>(count * bytes));
    return;
  }
  while (count > 0) {
    const auto piece = static_cast<std::size_t>(std::min(count, kRunElements));
    buffer_.resize(std::max(buffer_.size(), piece * bytes));
    file_.read_at(tensor_.storage_offset + element * bytes, buffer_.data(), piece * bytes);
    to_floats(tensor_.dtype, buffer_.data(), piece, out, out_stride);
    out += piece * out_stride;
    element += piece;
    count -= piece;
  }
}

void RowReader::read_groups(std::uint64_t element, std::uint64_t count, float* out, std::uint64_t out_stride) {
  while (count > 0) {
    const auto piece = static_cast<std::size_t>(std::min(count, kRunElements));
    const std::uint64_t first_group = element / tensor_.group;
    const auto groups = static_cast<std::size_t>((element + piece - 1) / tensor_.group - first_group + 1);
    buffer_.resize(std::max(buffer_.size(), piece));
    scales_.resize(std::max(scales_.size(), groups * 4));
    file_.read_at(tensor_.storage_offset + element, buffer_.data(), piece);
    file_.read_at(tensor_.scale_offset + first_group * 4, scales_.data(), groups * 4);
    for (std::size_t i = 0; i < piece; ++i) {
      const auto group = static_cast<std::size_t>((element + i) / tensor_.group - first_group);
      const float scale = bit_cast<float>(static_cast<std::uint32_t>(little_endian(&scales_[group * 4], 4)));
      out[i * out_stride] = static_cast<float>(static_cast<std::int8_t>(buffer_[i])) * scale;
    }
    out += piece * out_stride;
    element += piece;
    count -= piece;
  }
}

}  // namespace minnow::convert
