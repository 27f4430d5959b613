// Model: opening a file, once and completely, and telling what is in it.
#include <cstddef>

#include "base/arguments.hpp"
#include "base/check.hpp"
#include "base/crc32.hpp"
#include "base/half.hpp"
#include "kernels/layout.hpp"
#include "model/check_tokenizer.hpp"
#include "model/open.hpp"
#include "model/tensors.hpp"
#include "model/view.hpp"

namespace minnow {
namespace {

Status check_reserved(const FileHeader& h, Fault* fault) noexcept {
  if (h.version_minor > kVersionMinor) return Status::ok;
  for (const std::uint32_t& word : h.config.reserved) {
    if (word != 0) {
      const auto at = reinterpret_cast<const std::byte*>(&word) - reinterpret_cast<const std::byte*>(&h);
      return fail(Status::corrupt, fault, "a reserved field is not zero", static_cast<std::uint64_t>(at), word);
    }
  }
  return Status::ok;
}

Status check_tokenizer_section(Span<const std::byte> file, const FileHeader& h, Fault* fault) noexcept {
  if (h.tokenizer_bytes == 0) return Status::ok;
  const auto section =
      Span<const std::byte>(file.data() + h.tokenizer_offset, static_cast<std::size_t>(h.tokenizer_bytes));
  const Status s = check_tokenizer(section, h.config.n_tokens, fault, h.version_minor <= kVersionMinor);
  if (s != Status::ok) fault->offset += h.tokenizer_offset;
  return s;
}

Status check_all(Span<const std::byte> file, Fault* fault) noexcept {
  MINNOW_TRY(check_header(file, fault));
  const auto& h = *reinterpret_cast<const FileHeader*>(file.data());
  MINNOW_TRY(check_reserved(h, fault));
  MINNOW_TRY(check_config(h.config, fault));
  MINNOW_TRY(check_tensors(file, fault));
  return check_tokenizer_section(file, h, fault);
}

// Offset of the first float or half that is NaN or infinite in one tensor, or its size. Halves in q8 and q4 are the
// scales.
std::size_t first_nonfinite(const std::byte* data, std::size_t bytes, WeightType type) noexcept {
  const std::size_t step = type == WeightType::f32 ? 4 : 2;
  const std::size_t group = group_bytes(type);
  for (std::size_t at = 0; at < bytes; at += step) {
    if (is_quantised(type) && at % group == kScaleBytes) at += group - kScaleBytes;
    if (at >= bytes) break;
    if (type == WeightType::f32) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, data + at, sizeof bits);
      if ((bits & 0x7f800000u) == 0x7f800000u) return at;
    } else {
      Half bits = 0;
      std::memcpy(&bits, data + at, sizeof bits);
      if ((bits & 0x7c00u) == 0x7c00u) return at;
    }
  }
  return bytes;
}

}  // namespace

Status Model::open(Span<const std::byte> file, Model* out, Fault* fault_or_null) noexcept {
  Fault ignored;
  Fault* const fault = fault_or_null != nullptr ? fault_or_null : &ignored;
  if (out == nullptr || check_input(file.data(), file.size()) != Status::ok) {
    return fail(Status::bad_argument, fault, "a null pointer, or no possible size", 0, 0);
  }
  if (!is_aligned(file.data(), 16)) {
    return fail(Status::misaligned, fault, "the model's bytes do not start on a 16-byte boundary", 0,
                reinterpret_cast<std::uintptr_t>(file.data()) % 16);
  }
  MINNOW_TRY(check_all(file, fault));
  out->file_ = file;
  return Status::ok;
}

Status Model::verify(Fault* fault_or_null) const noexcept {
  Fault ignored;
  Fault* const fault = fault_or_null != nullptr ? fault_or_null : &ignored;
  if (file_.data() == nullptr) return fail(Status::wrong_state, fault, "the model was never opened", 0, 0);
  const ModelView view(*this);
  const FileHeader& h = *view.header;
  const auto data_offset = static_cast<std::size_t>(h.data_offset);
  if (crc32(0, view.file + data_offset, static_cast<std::size_t>(h.data_bytes)) != h.data_crc32) {
    return fail(Status::corrupt, fault, "the checksum of the weights does not match", offsetof(FileHeader, data_crc32),
                h.data_crc32);
  }
  for (std::uint32_t i = 0; i < h.tensor_count; ++i) {
    const TensorEntry& e = view.tensor(i);
    const auto bytes = static_cast<std::size_t>(e.bytes);
    const std::size_t at = first_nonfinite(view.file + e.offset, bytes, static_cast<WeightType>(e.type));
    if (at != bytes) {
      return fail(Status::corrupt, fault, "a weight or scale is NaN or infinite", e.offset + at,
                  static_cast<std::uint32_t>(e.role));
    }
  }
  return Status::ok;
}

ModelInfo Model::info() const noexcept {
  ModelInfo info;
  if (file_.data() == nullptr) return info;
  const ModelView view(*this);
  const Config& c = view.config();
  info.n_layer = c.n_layer;
  info.n_head = c.n_head;
  info.n_kv_head = c.n_kv_head;
  info.n_embd = c.n_embd;
  info.head_size = c.head_size;
  info.n_hidden = c.n_hidden;
  info.block_size = c.block_size;
  info.vocab_size = c.vocab_size;
  info.n_tokens = c.n_tokens;
  info.type = static_cast<WeightType>(c.weight_type);
  info.has_text = view.header->tokenizer_bytes != 0;
  for (std::uint32_t i = 0; i < view.header->tensor_count; ++i) {
    const TensorEntry& e = view.tensor(i);
    const bool computed = e.role == Role::rotary_frequencies ||  // by the converter
                          (e.role == Role::wpe && c.positions == Positions::sinusoidal);
    if (!computed) info.n_parameters += std::uint64_t{e.rows} * e.columns;
  }
  info.file_bytes = view.header->file_bytes;
  info.provenance = view.provenance();
  return info;
}

}  // namespace minnow
