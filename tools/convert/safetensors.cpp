// A safetensors file: the length of a JSON header, the header, and then the tensors without a gap. Depends on
// json_reader and tensor_source.
#include <algorithm>

#include "base/bits.hpp"
#include "tools/convert/bytes.hpp"
#include "tools/convert/checkpoint.hpp"
#include "tools/convert/json_reader.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::string_view kExpected = "expected an undamaged safetensors file; copy or download it again";

struct NamedDtype {
  std::string_view name;
  Dtype dtype;
  std::uint32_t bytes;
};
constexpr NamedDtype kDtypes[] = {
    {"F32", Dtype::f32, 4},      {"F64", Dtype::f64, 8},         {"F16", Dtype::f16, 2},
    {"BF16", Dtype::bf16, 2},    {"I64", Dtype::i64, 8},         {"I32", Dtype::i32, 4},
    {"I16", Dtype::i16, 2},      {"I8", Dtype::i8, 1},           {"U8", Dtype::u8, 1},
    {"BOOL", Dtype::boolean, 1}, {"U64", Dtype::foreign, 8},     {"U32", Dtype::foreign, 4},
    {"U16", Dtype::foreign, 2},  {"F8_E4M3", Dtype::foreign, 1}, {"F8_E5M2", Dtype::foreign, 1},
};

class Reader {
 public:
  explicit Reader(std::shared_ptr<const InputFile> file) : file_(std::move(file)) {}

  Checkpoint read() {
    read_header();
    const JsonId root = header_.root();
    if (!header_.is(root, JsonKind::object)) refuse("the header is no JSON object; ", kExpected);
    if (header_.count(root) > kMaxTensors) {
      refuse("the file has more than ", kMaxTensors, " tensors; expected a few hundred; name the right file");
    }
    Checkpoint out;
    for (JsonTree::Items members = header_.items(root); !members.done();) {
      const JsonId name = members.take();
      const JsonId value = members.take();
      if (header_.text(name) == "__metadata__") continue;
      if (header_.text(name).size() > kLongestTensorName) refuse("a tensor has a very long name; ", kExpected);
      out.tensors.push_back(read_tensor(std::string(header_.text(name)), value));
    }
    require_no_gaps(&out.tensors);
    out.files.push_back(file_);
    return out;
  }

 private:
  void read_header() {
    if (file_->size() < kLengthBytes) refuse("the file has ", file_->size(), " bytes; ", kExpected);
    const std::uint64_t bytes = number_at(read_piece(*file_, 0, kLengthBytes), 0, 8);
    if (bytes > file_->size() - kLengthBytes) {
      refuse("the header has ", bytes, " bytes, but the file ends before; ", kExpected);
    }
    if (bytes > kMaxJsonBytes) {
      refuse("the header has ", bytes, " bytes; expected at most ", kMaxJsonBytes, "; name the right file");
    }
    std::string text = read_piece(*file_, kLengthBytes, bytes);
    if (text.empty() || text[0] != '{') refuse("the header is no JSON object; ", kExpected);
    header_ = read_json(std::move(text), "the header");
    data_offset_ = kLengthBytes + bytes;
  }

  // A whole number that is not negative.
  std::uint64_t take_number(const std::string& name, JsonId node) {
    if (!header_.is(node, JsonKind::integer) || header_.integer(node) < 0) {
      refuse("the tensor ", quoted(name), " has a size or an offset that is no whole number; ", kExpected);
    }
    return static_cast<std::uint64_t>(header_.integer(node));
  }

  // {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
  StoredTensor read_tensor(const std::string& name, JsonId node) {
    StoredTensor tensor;
    tensor.name = name;
    tensor.storage = name;
    const JsonId dtype = header_.find(node, "dtype");
    const JsonId shape = header_.find(node, "shape");
    const JsonId range = header_.find(node, "data_offsets");
    if (!header_.is(dtype, JsonKind::text) || !header_.is(shape, JsonKind::array) ||
        !header_.is(range, JsonKind::array) || header_.count(range) != 2) {
      refuse("the tensor ", quoted(name), " lacks its dtype, shape or data_offsets; ", kExpected);
    }
    std::vector<std::uint64_t> sizes;
    for (JsonTree::Items items = header_.items(shape); !items.done() && sizes.size() <= kMaxRank;) {
      sizes.push_back(take_number(name, items.take()));
    }
    set_shape(sizes, &tensor);
    JsonTree::Items ends = header_.items(range);
    const std::uint64_t begin = take_number(name, ends.take());
    const std::uint64_t end = take_number(name, ends.take());
    if (begin > end || end > file_->size() - data_offset_) {
      refuse("the tensor ", quoted(name), " leaves the file; ", kExpected);
    }
    std::uint32_t element_bytes = read_dtype(header_.text(dtype), &tensor);
    std::uint64_t bytes = end - begin;
    if (element_bytes != 0 &&
        (!checked_multiply(tensor.storage_elements, element_bytes, &bytes) || bytes != end - begin)) {
      refuse("the tensor ", quoted(name), " ", shape_text(tensor), " of ", header_.text(dtype), " has ", end - begin,
             " bytes; ", kExpected);
    }
    tensor.storage_offset = data_offset_ + begin;
    ends_.push_back({begin, end});
    return tensor;
  }

  // The bytes of one number; 0: not known.
  std::uint32_t read_dtype(std::string_view name, StoredTensor* tensor) {
    tensor->dtype = Dtype::foreign;
    for (const NamedDtype& each : kDtypes) {
      if (each.name != name) continue;
      tensor->dtype = each.dtype;
      if (each.dtype == Dtype::foreign) tensor->foreign_dtype = std::string(name);
      return each.bytes;
    }
    tensor->foreign_dtype = std::string(name.substr(0, 80));
    return 0;
  }

  // Puts the tensors into the order of their data.
  void require_no_gaps(std::vector<StoredTensor>* tensors) {
    std::sort(tensors->begin(), tensors->end(),
              [](const StoredTensor& a, const StoredTensor& b) { return a.storage_offset < b.storage_offset; });
    std::sort(ends_.begin(), ends_.end());
    std::uint64_t at = 0;
    for (const auto& [begin, end] : ends_) {
      if (begin != at) refuse("two tensors ", begin < at ? "overlap" : "have a gap between them", "; ", kExpected);
      at = end;
    }
    if (at != file_->size() - data_offset_) {
      refuse("the file has ", file_->size() - data_offset_ - at, " bytes behind its last tensor; ", kExpected);
    }
  }

  std::shared_ptr<const InputFile> file_;
  JsonTree header_;
  std::uint64_t data_offset_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ends_;  // of each tensor: begin and end, from data_offset_
};

}  // namespace

bool looks_like_safetensors(const InputFile& file) {
  if (file.size() < kLengthBytes + 2) return false;
  const std::string head = read_piece(file, 0, kLengthBytes + 1);
  return head[8] == '{' && number_at(head, 0, 8) >> 32 == 0;
}

Checkpoint read_safetensors(std::shared_ptr<const InputFile> file) { return Reader(std::move(file)).read(); }

}  // namespace minnow::convert
