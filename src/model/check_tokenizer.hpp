// The tokenizer section: a view of its arrays, and the one check after which readers of it need none.
// Depends on format.hpp.
#pragma once

#include "minnow/minnow.hpp"
#include "model/format.hpp"

namespace minnow {

// The arrays of a section that starts on a 4-byte boundary and whose sizes add up.
struct TokenizerView {
  const TokenizerHeader* header = nullptr;
  const std::uint32_t* offsets = nullptr;  // [n_tokens + 1]
  const std::uint32_t* sorted = nullptr;   // [n_tokens], of which n_pieces are ids
  const char* text = nullptr;              // [text_bytes]

  std::string_view piece(std::uint32_t id) const noexcept {
    return {text + offsets[id], offsets[id + 1] - offsets[id]};
  }
};

inline TokenizerView view_tokenizer(const std::byte* section) noexcept {
  TokenizerView view;
  view.header = reinterpret_cast<const TokenizerHeader*>(section);
  view.offsets = reinterpret_cast<const std::uint32_t*>(section + sizeof(TokenizerHeader));
  view.sorted = view.offsets + view.header->n_tokens + 1;
  view.text = reinterpret_cast<const char*>(view.sorted + view.header->n_tokens);
  return view;
}

// Checks every promise that format.hpp makes about the section: sizes, offsets, the sorted ids and their order. The
// section starts on a 4-byte boundary. The work is bounded by its size. `reserved_is_zero`: whether reserved fields
// must be 0, as they must in a file whose minor version is known.
// Errors: unsupported (another kind of tokenizer), corrupt; *fault then says where, its offset counted from the start
// of the section.
Status check_tokenizer(Span<const std::byte> section, std::uint32_t n_tokens, Fault* fault,
                       bool reserved_is_zero = true) noexcept;

}  // namespace minnow
