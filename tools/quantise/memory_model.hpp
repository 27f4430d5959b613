// A model file in memory, with matrices that can be changed, and sessions over it. Depends on tools/convert/file.hpp
// and model/view.hpp.
#pragma once

#include <memory>
#include <new>

#include "model/view.hpp"
#include "tools/convert/file.hpp"

namespace minnow::quantise {

struct FreeAligned {
  void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{kAlign}); }
};
using AlignedBlock = std::unique_ptr<std::byte, FreeAligned>;
AlignedBlock make_block(std::size_t bytes);  // throws std::bad_alloc

// Where write_model() writes it: once `expect` has said how much comes.
class MemoryModel : public convert::ByteSink {
 public:
  void expect(std::uint64_t total) override;
  void append(const void* data, std::size_t bytes) override;
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes) override;
  std::uint64_t size() const override { return size_; }

  // Once it is whole. Throws Refusal if it is no model.
  void open();
  const Model& model() const { return model_; }
  const Config& config() const { return ModelView(model_).config(); }
  // Null if the model does not have it. Its bytes may be changed.
  const TensorEntry* find(Role role, std::uint32_t layer) const;
  std::byte* data(const TensorEntry& entry) { return bytes_.get() + entry.offset; }

 private:
  AlignedBlock bytes_;
  std::uint64_t total_ = 0;
  std::uint64_t size_ = 0;
  Model model_;
};

// A session and the block it lives on.
struct OwnedSession {
  AlignedBlock memory;
  Session session;
  OwnedSession(const Model& model, const SessionConfig& config);  // throws Refusal, std::bad_alloc
};

}  // namespace minnow::quantise
