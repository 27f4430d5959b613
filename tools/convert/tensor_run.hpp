// Tensors that lie in a file one after the other without names, as formats of fixed order have them. Depends on
// checkpoint.
#pragma once

#include "base/bits.hpp"
#include "tools/convert/checkpoint.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

class TensorRun {
 public:
  TensorRun(std::uint64_t offset, Dtype dtype) : at_(offset), dtype_(dtype) {}

  // From here on: int8 numbers, each tensor's followed by its scales. group > 0.
  void use_groups(std::uint64_t group) {
    dtype_ = Dtype::q8_groups;
    group_ = group;
  }

  void add(const std::string& name, const std::vector<std::uint64_t>& shape) {
    StoredTensor tensor;
    tensor.name = name;
    tensor.storage = name;
    tensor.dtype = dtype_;
    tensor.group = group_;
    set_shape(shape, &tensor);
    tensor.storage_offset = at_;
    std::uint64_t bytes = 0;
    bool fits = storage_bytes(tensor, &bytes) && checked_add(at_, bytes, &at_);
    if (fits && dtype_ == Dtype::q8_groups) {
      if (tensor.storage_elements % group_ != 0) {
        refuse("the tensor ", quoted(name), " ", shape_text(tensor), " is not made of groups of ", group_,
               "; expected whole groups; export the checkpoint again");
      }
      tensor.scale_offset = at_;
      fits = checked_add(at_, tensor.storage_elements / group_ * 4, &at_);
    }
    if (!fits) refuse("the header's sizes are beyond counting; expected a model; copy or export the file again");
    tensors_.push_back(std::move(tensor));
  }

  // Leaves room for bytes that are not read.
  void skip(std::uint64_t bytes) {
    if (!checked_add(at_, bytes, &at_)) refuse("the header's sizes are beyond counting; expected a model");
  }

  // Throws Refusal unless the run ends where the file does.
  std::vector<StoredTensor> finish(const InputFile& file) {
    if (at_ != file.size()) {
      refuse("the file has ", file.size(), " bytes; expected ", at_, " for the sizes in its header; ",
             "copy or export it again");
    }
    return std::move(tensors_);
  }
  std::uint64_t end() const { return at_; }

 private:
  std::uint64_t at_;
  Dtype dtype_;
  std::uint64_t group_ = 0;
  std::vector<StoredTensor> tensors_;
};

}  // namespace minnow::convert
