// The tokenizer section: a view of its arrays, and the one check after which readers of it need none.
// Depends on format.hpp.
#pragma once

#include <string_view>

#include "minnow/minnow.hpp"
#include "model/format.hpp"

namespace minnow {

// The longest piece that a merge may result in, in bytes: GPT-2's longest. It bounds the time and the stack that
// encoding takes.
inline constexpr std::uint32_t kMaxMergedBytes = 128;

// The longest text of a special token, in bytes. It bounds the time that looking for them takes.
inline constexpr std::uint32_t kMaxSpecialBytes = 128;

// The arrays of a section that starts on a 4-byte boundary and whose sizes add up.
struct TokenizerView {
  const TokenizerHeader* header = nullptr;
  const std::uint32_t* offsets = nullptr;  // [n_tokens + 1]
  const std::uint32_t* sorted = nullptr;   // [n_tokens], of which n_pieces are ids
  const std::uint32_t* byte_id = nullptr;  // [256]; null in kind `characters`
  const Merge* merges = nullptr;           // [n_merges]
  const std::uint32_t* special = nullptr;  // [n_special]
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
  const std::uint32_t* after = view.sorted + view.header->n_tokens;
  if (view.header->kind != TokenizerKind::characters) {
    view.byte_id = after;
    after += 256;
  }
  view.merges = reinterpret_cast<const Merge*>(after);
  view.special = reinterpret_cast<const std::uint32_t*>(view.merges + view.header->n_merges);
  view.text = reinterpret_cast<const char*>(view.special + view.header->n_special);
  return view;
}

// Checks every promise that format.hpp makes about the section. It starts on a 4-byte boundary. The work is bounded by
// its size. `reserved_is_zero`: whether reserved fields must be 0, as they must in a file whose minor version is known.
// Errors: unsupported (another kind of tokenizer, or a limit of this version), corrupt; *fault then says where, its
// offset counted from the start of the section.
Status check_tokenizer(Span<const std::byte> section, std::uint32_t n_tokens, Fault* fault,
                       bool reserved_is_zero = true) noexcept;

}  // namespace minnow
