// Depends on base and format.hpp.
#include "model/check_tokenizer.hpp"

#include "base/check.hpp"

namespace minnow {
namespace {

constexpr std::uint32_t kNoToken = 0xffffffffu;

// Where a field stands, in bytes from the start of the section.
std::uint64_t offset_of(const TokenizerView& view, const std::uint32_t* field) noexcept {
  return static_cast<std::uint64_t>(reinterpret_cast<const char*>(field) - reinterpret_cast<const char*>(view.header));
}

Status blame(Fault* fault, Status status, const char* what, std::uint64_t offset, std::uint64_t found) noexcept {
  if (fault != nullptr) {
    fault->what = what;
    fault->offset = offset;
    fault->found = found;
  }
  return status;
}

Status check_kind(const TokenizerHeader& header, Fault* fault) noexcept {
  const char* what = "tokenizer: a kind that this version does not know";
  switch (header.kind) {
    case TokenizerKind::characters:
      return Status::ok;
    case TokenizerKind::bytes:
      what = "tokenizer kind bytes";
      break;
    case TokenizerKind::byte_level_bpe:
      what = "tokenizer kind byte_level_bpe";
      break;
    case TokenizerKind::scored_bpe:
      what = "tokenizer kind scored_bpe";
      break;
  }
  return blame(fault, Status::unsupported, what, offsetof(TokenizerHeader, kind),
               static_cast<std::uint32_t>(header.kind));
}

Status check_sizes(const TokenizerHeader& header, std::uint64_t section_bytes, std::uint32_t n_tokens,
                   bool reserved_is_zero, Fault* fault) noexcept {
  if (header.n_tokens != n_tokens) {
    return blame(fault, Status::corrupt, "tokenizer: n_tokens differs from the config's",
                 offsetof(TokenizerHeader, n_tokens), header.n_tokens);
  }
  const std::uint64_t bytes = sizeof(TokenizerHeader) + 4 * (2 * std::uint64_t{n_tokens} + 1) + header.text_bytes;
  if (bytes != section_bytes) {
    return blame(fault, Status::corrupt, "tokenizer: n_tokens and text_bytes do not add up to the section's size",
                 offsetof(TokenizerHeader, text_bytes), header.text_bytes);
  }
  const bool plain = header.split == TokenizerSplit::none && header.n_merges == 0 && header.n_special == 0 &&
                     header.begin == 0 && header.space_prefix == 0;
  if (reserved_is_zero && !plain) {
    return blame(fault, Status::corrupt, "tokenizer: a field of another kind is not 0",
                 offsetof(TokenizerHeader, split), header.n_merges);
  }
  for (const std::uint32_t& word : header.reserved) {
    if (reserved_is_zero && word != 0) {
      return blame(fault, Status::corrupt, "tokenizer: a reserved field is not 0",
                   offsetof(TokenizerHeader, reserved) + 4 * static_cast<std::uint64_t>(&word - header.reserved), word);
    }
  }
  return Status::ok;
}

Status check_offsets(const TokenizerView& view, Fault* fault) noexcept {
  const TokenizerHeader& header = *view.header;
  std::uint32_t longest = 0;
  std::uint32_t pieces = 0;
  std::uint32_t before = 0;
  for (std::uint32_t i = 0; i <= header.n_tokens; ++i) {
    const std::uint32_t offset = view.offsets[i];
    const bool in_order = i == 0 ? offset == 0 : offset >= before && offset <= header.text_bytes;
    if (!in_order) {
      return blame(fault, Status::corrupt, "tokenizer: piece offsets are not ascending from 0 to text_bytes",
                   offset_of(view, view.offsets + i), offset);
    }
    if (offset - before > longest) longest = offset - before;
    if (offset != before) ++pieces;
    before = offset;
  }
  if (before != header.text_bytes) {
    return blame(fault, Status::corrupt, "tokenizer: the last piece does not end at text_bytes",
                 offset_of(view, view.offsets + header.n_tokens), before);
  }
  if (longest != header.max_piece_bytes) {
    return blame(fault, Status::corrupt, "tokenizer: max_piece_bytes is not the length of the longest piece",
                 offsetof(TokenizerHeader, max_piece_bytes), header.max_piece_bytes);
  }
  if (pieces != header.n_pieces) {
    return blame(fault, Status::corrupt, "tokenizer: n_pieces is not the number of non-empty pieces",
                 offsetof(TokenizerHeader, n_pieces), header.n_pieces);
  }
  return Status::ok;
}

// Strictly ascending pieces are distinct, hence so are their ids; and n_pieces distinct ids are all of them.
Status check_sorted(const TokenizerView& view, Fault* fault) noexcept {
  const TokenizerHeader& header = *view.header;
  std::string_view before;
  for (std::uint32_t i = 0; i < header.n_tokens; ++i) {
    const std::uint32_t id = view.sorted[i];
    const std::uint64_t offset = offset_of(view, view.sorted + i);
    if (i >= header.n_pieces) {
      if (id == kNoToken) continue;
      return blame(fault, Status::corrupt, "tokenizer: sorted has more ids than there are pieces", offset, id);
    }
    if (id >= header.n_tokens) return blame(fault, Status::corrupt, "tokenizer: sorted id out of range", offset, id);
    const std::string_view piece = view.piece(id);
    if (piece <= before) {  // also an empty one
      return blame(fault, Status::corrupt, "tokenizer: sorted is not in strictly ascending order of pieces", offset,
                   id);
    }
    before = piece;
  }
  return Status::ok;
}

}  // namespace

Status check_tokenizer(Span<const std::byte> section, std::uint32_t n_tokens, Fault* fault,
                       bool reserved_is_zero) noexcept {
  if (section.size() < sizeof(TokenizerHeader)) {
    return blame(fault, Status::corrupt, "tokenizer: the section is shorter than its header", 0, section.size());
  }
  const auto* const header = reinterpret_cast<const TokenizerHeader*>(section.data());
  MINNOW_TRY(check_kind(*header, fault));
  MINNOW_TRY(check_sizes(*header, section.size(), n_tokens, reserved_is_zero, fault));
  const TokenizerView view = view_tokenizer(section.data());
  MINNOW_TRY(check_offsets(view, fault));
  return check_sorted(view, fault);
}

}  // namespace minnow
