// Typed access to the bytes of a file that Model::open has accepted. Internal; depends on format.hpp.
#pragma once

#include <string_view>

#include "minnow/minnow.hpp"
#include "model/format.hpp"

namespace minnow {

// Non-owning; valid as long as the file's bytes. Null pointers if the model was never opened.
struct ModelView {
  const std::byte* file = nullptr;
  const FileHeader* header = nullptr;

  explicit ModelView(const Model& model) noexcept
      : file(model.file().data()), header(reinterpret_cast<const FileHeader*>(model.file().data())) {}

  const Config& config() const noexcept { return header->config; }
  // 0 <= i < header->tensor_count
  const TensorEntry& tensor(std::uint32_t i) const noexcept {
    return *reinterpret_cast<const TensorEntry*>(file + header->header_bytes +
                                                 std::size_t{i} * header->tensor_entry_bytes);
  }
  Span<const std::byte> tokenizer() const noexcept {
    return {file + header->tokenizer_offset, static_cast<std::size_t>(header->tokenizer_bytes)};
  }
  std::string_view provenance() const noexcept {
    return {reinterpret_cast<const char*>(file + header->provenance_offset),
            static_cast<std::size_t>(header->provenance_bytes)};
  }
};

}  // namespace minnow
