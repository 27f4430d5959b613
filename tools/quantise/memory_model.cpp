// Depends on memory_model and refusal.
#include "tools/quantise/memory_model.hpp"

#include <cstring>

#include "tools/convert/refusal.hpp"

namespace minnow::quantise {

AlignedBlock make_block(std::size_t bytes) {
  return AlignedBlock(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{kAlign})));
}

void MemoryModel::expect(std::uint64_t total) {
  if (total > SIZE_MAX) throw std::bad_alloc();
  bytes_ = make_block(static_cast<std::size_t>(total));
  total_ = total;
  size_ = 0;
}

void MemoryModel::append(const void* data, std::size_t bytes) {
  convert::check_interrupted();
  write_at(size_, data, bytes);
}

void MemoryModel::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  if (offset > total_ || bytes > total_ - offset) convert::refuse("the model is larger than was said; this is a bug");
  if (bytes != 0) std::memcpy(bytes_.get() + offset, data, bytes);
  if (offset + bytes > size_) size_ = offset + bytes;
}

void MemoryModel::open() {
  Fault fault;
  const Status status = Model::open({bytes_.get(), static_cast<std::size_t>(size_)}, &model_, &fault);
  if (status != Status::ok) convert::refuse(to_string(status), ": ", fault.what, "; expected a model that minnow runs");
}

const TensorEntry* MemoryModel::find(Role role, std::uint32_t layer) const {
  const ModelView view(model_);
  for (std::uint32_t i = 0; i < view.header->tensor_count; ++i) {
    const TensorEntry& entry = view.tensor(i);
    if (entry.role == role && entry.layer == layer) return &entry;
  }
  return nullptr;
}

OwnedSession::OwnedSession(const Model& model, const SessionConfig& config) {
  std::size_t bytes = 0;
  Status status = Session::memory_needed(model, config, &bytes);
  if (status == Status::ok) {
    memory = make_block(bytes);
    status = Session::create(model, config, {memory.get(), bytes}, &session);
  }
  if (status != Status::ok) convert::refuse("no session over the model: ", to_string(status));
}

}  // namespace minnow::quantise
