// Depends on base and format.hpp.
#include "model/check_tokenizer.hpp"

#include "base/check.hpp"
#include "base/text.hpp"

namespace minnow {
namespace {

// Where a field stands, in bytes from the start of the section.
std::uint64_t offset_of(const TokenizerView& view, const void* field) noexcept {
  return static_cast<std::uint64_t>(static_cast<const char*>(field) - reinterpret_cast<const char*>(view.header));
}

Status blame(Fault* fault, Status status, const char* what, std::uint64_t offset, std::uint64_t found) noexcept {
  if (fault != nullptr) {
    fault->what = what;
    fault->offset = offset;
    fault->found = found;
  }
  return status;
}

Status corrupt(Fault* fault, const char* what, std::uint64_t offset, std::uint64_t found) noexcept {
  return blame(fault, Status::corrupt, what, offset, found);
}

// What each kind may have.
Status check_kind(const TokenizerHeader& h, Fault* fault) noexcept {
  if (h.kind < TokenizerKind::characters || h.kind > TokenizerKind::scored_bpe) {
    return blame(fault, Status::unsupported, "tokenizer: a kind that this version does not know",
                 offsetof(TokenizerHeader, kind), static_cast<std::uint32_t>(h.kind));
  }
  const bool is_characters = h.kind == TokenizerKind::characters;
  const bool merges = h.kind == TokenizerKind::byte_level_bpe || h.kind == TokenizerKind::scored_bpe;
  if (h.split > TokenizerSplit::gpt2) {
    return blame(fault, Status::unsupported, "tokenizer: a split that this version does not know",
                 offsetof(TokenizerHeader, split), static_cast<std::uint32_t>(h.split));
  }
  if (h.split != TokenizerSplit::none && h.kind != TokenizerKind::byte_level_bpe) {
    return corrupt(fault, "tokenizer: a split in a kind that has none", offsetof(TokenizerHeader, split),
                   static_cast<std::uint32_t>(h.split));
  }
  if (h.n_merges != 0 && !merges) {
    return corrupt(fault, "tokenizer: merges in a kind that has none", offsetof(TokenizerHeader, n_merges), h.n_merges);
  }
  if (h.n_special != 0 && is_characters) {
    return corrupt(fault, "tokenizer: special tokens in a kind that has none", offsetof(TokenizerHeader, n_special),
                   h.n_special);
  }
  if (h.begin > h.n_tokens || (h.begin != 0 && is_characters)) {
    return corrupt(fault, "tokenizer: begin is no id", offsetof(TokenizerHeader, begin), h.begin);
  }
  if (h.space_prefix > (h.kind == TokenizerKind::scored_bpe ? 1u : 0u)) {
    return corrupt(fault, "tokenizer: space_prefix is neither 0 nor, in scored_bpe, 1",
                   offsetof(TokenizerHeader, space_prefix), h.space_prefix);
  }
  return Status::ok;
}

Status check_sizes(const TokenizerHeader& h, std::uint64_t section_bytes, std::uint32_t n_tokens, bool reserved_is_zero,
                   Fault* fault) noexcept {
  if (h.n_tokens != n_tokens) {
    return corrupt(fault, "tokenizer: n_tokens differs from the config's", offsetof(TokenizerHeader, n_tokens),
                   h.n_tokens);
  }
  const std::uint64_t byte_ids = h.kind == TokenizerKind::characters ? 0 : 256;
  const std::uint64_t words = 2 * std::uint64_t{n_tokens} + 1 + byte_ids + h.n_special;
  const std::uint64_t bytes =
      sizeof(TokenizerHeader) + 4 * words + sizeof(Merge) * std::uint64_t{h.n_merges} + h.text_bytes;
  if (bytes != section_bytes) {
    return corrupt(fault, "tokenizer: its counts do not add up to the section's size",
                   offsetof(TokenizerHeader, text_bytes), h.text_bytes);
  }
  if (h.n_pieces > n_tokens) {
    return corrupt(fault, "tokenizer: n_pieces is above n_tokens", offsetof(TokenizerHeader, n_pieces), h.n_pieces);
  }
  if (h.n_pieces != n_tokens && h.kind == TokenizerKind::characters) {
    return corrupt(fault, "tokenizer: n_pieces is not n_tokens", offsetof(TokenizerHeader, n_pieces), h.n_pieces);
  }
  for (const std::uint32_t& word : h.reserved) {
    if (reserved_is_zero && word != 0) {
      return corrupt(fault, "tokenizer: a reserved field is not 0",
                     offsetof(TokenizerHeader, reserved) + 4 * static_cast<std::uint64_t>(&word - h.reserved), word);
    }
  }
  return Status::ok;
}

Status check_offsets(const TokenizerView& view, Fault* fault) noexcept {
  const TokenizerHeader& header = *view.header;
  if (view.offsets[0] != 0) {
    return corrupt(fault, "tokenizer: the first piece does not begin at 0", offset_of(view, view.offsets),
                   view.offsets[0]);
  }
  std::uint32_t longest = 0;
  for (std::uint32_t id = 0; id < header.n_tokens; ++id) {
    const std::uint32_t before = view.offsets[id];
    const std::uint32_t offset = view.offsets[id + 1];
    if (offset <= before || offset > header.text_bytes) {
      const char* const what = offset == before ? "tokenizer: an id without text"
                                                : "tokenizer: piece offsets are not ascending from 0 to text_bytes";
      return corrupt(fault, what, offset_of(view, view.offsets + id + 1), offset);
    }
    if (offset - before > longest) longest = offset - before;
  }
  const std::uint32_t end = view.offsets[header.n_tokens];
  if (end != header.text_bytes) {
    return corrupt(fault, "tokenizer: the last piece does not end at text_bytes",
                   offset_of(view, view.offsets + header.n_tokens), end);
  }
  if (longest != header.max_piece_bytes) {
    return corrupt(fault, "tokenizer: max_piece_bytes is not the length of the longest piece",
                   offsetof(TokenizerHeader, max_piece_bytes), header.max_piece_bytes);
  }
  return Status::ok;
}

// Whether `id` is the one that a single byte has. In kind `characters` none is.
bool is_byte_id(const TokenizerView& view, std::uint32_t id) noexcept {
  const std::string_view piece = view.piece(id);
  return view.byte_id != nullptr && piece.size() == 1 && view.byte_id[static_cast<unsigned char>(piece[0])] == id;
}

// Strictly ascending pieces are distinct, hence so are their ids.
Status check_sorted(const TokenizerView& view, Fault* fault) noexcept {
  const TokenizerHeader& header = *view.header;
  const bool without_bytes = header.kind == TokenizerKind::scored_bpe;
  std::string_view before;
  for (std::uint32_t i = 0; i < header.n_tokens; ++i) {
    const std::uint32_t id = view.sorted[i];
    const std::uint64_t offset = offset_of(view, view.sorted + i);
    if (i >= header.n_pieces) {
      if (id == kNoId) continue;
      return corrupt(fault, "tokenizer: sorted has more ids than n_pieces", offset, id);
    }
    if (id >= header.n_tokens) return corrupt(fault, "tokenizer: sorted id out of range", offset, id);
    const std::string_view piece = view.piece(id);
    if (piece <= before) {
      return corrupt(fault, "tokenizer: sorted is not in strictly ascending order of pieces", offset, id);
    }
    if (without_bytes && is_byte_id(view, id)) {
      return corrupt(fault, "tokenizer: sorted has the id of a byte", offset, id);
    }
    before = piece;
  }
  return Status::ok;
}

// Searches sorted[begin .. end), whose pieces are ascending, for the first that is not below `piece`.
std::uint32_t lower_bound(const TokenizerView& view, std::uint32_t begin, std::uint32_t end,
                          std::string_view piece) noexcept {
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (view.piece(view.sorted[middle]) < piece) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

// The end of the pieces from sorted[begin] on that begin with `piece`; none from there on is below it.
std::uint32_t end_of_stretch(const TokenizerView& view, std::uint32_t begin, std::string_view piece) noexcept {
  std::uint32_t end = view.header->n_pieces;
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (text_at(view.piece(view.sorted[middle]), 0, piece.size()) == piece) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

Status check_bytes(const TokenizerView& view, Fault* fault) noexcept {
  const TokenizerHeader& header = *view.header;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::uint32_t id = view.byte_id[byte];
    const std::uint64_t offset = offset_of(view, view.byte_id + byte);
    const bool needed = header.kind == TokenizerKind::byte_level_bpe;
    if (id == kNoId && !needed) continue;
    if (id >= header.n_tokens) return corrupt(fault, "tokenizer: id of a byte out of range", offset, id);
    const std::string_view piece = view.piece(id);
    if (piece.size() != 1 || static_cast<unsigned char>(piece[0]) != byte) {
      return corrupt(fault, "tokenizer: the id of a byte has another piece", offset, id);
    }
    const std::uint32_t place = lower_bound(view, 0, header.n_pieces, piece);
    if (needed && (place == header.n_pieces || view.sorted[place] != id)) {
      return corrupt(fault, "tokenizer: sorted lacks the id of a byte", offset, id);
    }
  }
  if (header.space_prefix != 0 && view.byte_id[0x20] == kNoId) {
    const std::uint32_t place = lower_bound(view, 0, header.n_pieces, " ");
    if (place == header.n_pieces || view.piece(view.sorted[place]) != " ") {
      return corrupt(fault, "tokenizer: space_prefix without an id for a space",
                     offsetof(TokenizerHeader, space_prefix), header.space_prefix);
    }
  }
  return Status::ok;
}

Status check_merge(const TokenizerView& view, const Merge& merge, Fault* fault) noexcept {
  const std::uint32_t n_tokens = view.header->n_tokens;
  const std::uint64_t offset = offset_of(view, &merge);
  if (merge.left >= n_tokens || merge.right >= n_tokens || merge.result >= n_tokens) {
    return corrupt(fault, "tokenizer: id of a merge out of range", offset, merge.left);
  }
  if (merge.rank == kNoId) return corrupt(fault, "tokenizer: rank of a merge out of range", offset + 8, merge.rank);
  const std::string_view left = view.piece(merge.left);
  const std::string_view right = view.piece(merge.right);
  const std::string_view result = view.piece(merge.result);
  if (result.size() != left.size() + right.size() || text_at(result, 0, left.size()) != left ||
      text_at(result, left.size()) != right) {
    return corrupt(fault, "tokenizer: the result of a merge is not its two parts together", offset + 12, merge.result);
  }
  if (result.size() > kMaxMergedBytes) {
    return blame(fault, Status::unsupported, "tokenizer: a merged piece of more than 128 bytes", offset + 12,
                 result.size());
  }
  if (view.header->kind == TokenizerKind::scored_bpe &&
      (is_byte_id(view, merge.left) || is_byte_id(view, merge.right))) {
    return corrupt(fault, "tokenizer: a merge of the id of a byte", offset, merge.left);
  }
  return Status::ok;
}

// Merges follow one another by their left parts, and what a piece begins is one stretch of `sorted`: it is searched for
// once for every left part, and the results inside it.
Status check_merges(const TokenizerView& view, Fault* fault) noexcept {
  const std::uint32_t n_pieces = view.header->n_pieces;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  for (std::uint32_t i = 0; i < view.header->n_merges; ++i) {
    const Merge& merge = view.merges[i];
    MINNOW_TRY(check_merge(view, merge, fault));
    const Merge* const before = i == 0 ? nullptr : &merge - 1;
    if (before != nullptr &&
        (before->left > merge.left || (before->left == merge.left && before->right >= merge.right))) {
      return corrupt(fault, "tokenizer: merges are not in strictly ascending order", offset_of(view, &merge),
                     merge.left);
    }
    if (before == nullptr || before->left != merge.left) {
      begin = lower_bound(view, 0, n_pieces, view.piece(merge.left));
      end = end_of_stretch(view, begin, view.piece(merge.left));
    }
    const std::uint32_t place = lower_bound(view, begin, end, view.piece(merge.result));
    if (place == end || view.sorted[place] != merge.result) {
      return corrupt(fault, "tokenizer: sorted lacks the result of a merge", offset_of(view, &merge.result),
                     merge.result);
    }
  }
  return Status::ok;
}

Status check_special(const TokenizerView& view, Fault* fault) noexcept {
  std::string_view before;
  for (std::uint32_t i = 0; i < view.header->n_special; ++i) {
    const std::uint32_t id = view.special[i];
    const std::uint64_t offset = offset_of(view, view.special + i);
    if (id >= view.header->n_tokens) return corrupt(fault, "tokenizer: special id out of range", offset, id);
    const std::string_view piece = view.piece(id);
    if (piece <= before) {
      return corrupt(fault, "tokenizer: special ids are not in strictly ascending order of pieces", offset, id);
    }
    if (piece.size() > kMaxSpecialBytes) {
      return blame(fault, Status::unsupported, "tokenizer: a special token of more than 128 bytes", offset,
                   piece.size());
    }
    before = piece;
  }
  return Status::ok;
}

// The begin token has no text when ids become text, so no text may become it.
Status check_begin(const TokenizerView& view, Fault* fault) noexcept {
  const TokenizerHeader& header = *view.header;
  if (header.begin == 0) return Status::ok;
  const std::uint32_t begin = header.begin - 1;
  bool plain = is_byte_id(view, begin);
  for (std::uint32_t i = 0; i < header.n_merges; ++i) {
    const Merge& merge = view.merges[i];
    plain |= merge.left == begin || merge.right == begin || merge.result == begin;
  }
  if (header.kind == TokenizerKind::scored_bpe) {
    for (std::uint32_t i = 0; i < header.n_pieces; ++i) plain |= view.sorted[i] == begin;
  }
  if (!plain) return Status::ok;
  return corrupt(fault, "tokenizer: begin is an id that text can become", offsetof(TokenizerHeader, begin),
                 header.begin);
}

}  // namespace

Status check_tokenizer(Span<const std::byte> section, std::uint32_t n_tokens, Fault* fault,
                       bool reserved_is_zero) noexcept {
  if (section.size() < sizeof(TokenizerHeader)) {
    return corrupt(fault, "tokenizer: the section is shorter than its header", 0, section.size());
  }
  const auto* const header = reinterpret_cast<const TokenizerHeader*>(section.data());
  MINNOW_TRY(check_kind(*header, fault));
  MINNOW_TRY(check_sizes(*header, section.size(), n_tokens, reserved_is_zero, fault));
  const TokenizerView view = view_tokenizer(section.data());
  MINNOW_TRY(check_offsets(view, fault));
  MINNOW_TRY(check_sorted(view, fault));
  if (view.byte_id != nullptr) MINNOW_TRY(check_bytes(view, fault));
  MINNOW_TRY(check_merges(view, fault));
  MINNOW_TRY(check_begin(view, fault));
  return check_special(view, fault);
}

}  // namespace minnow
