// Looking up text among the pieces of a vocabulary, in their sorted order. Depends on model.
#pragma once

#include "minnow/minnow.hpp"
#include "model/check_tokenizer.hpp"

namespace minnow {

inline constexpr std::uint32_t kNoPiece = kNoId;

// Sets of bytes: 256 bits.
constexpr void add_byte(char byte, std::uint32_t* set) noexcept {
  const unsigned value = static_cast<unsigned char>(byte);
  set[value / 32] |= std::uint32_t{1} << (value % 32);
}
constexpr bool has_byte(const std::uint32_t* set, char byte) noexcept {
  const unsigned value = static_cast<unsigned char>(byte);
  return (set[value / 32] >> (value % 32) & 1) != 0;
}

// The pieces that begin with some text: a stretch of ids in ascending order of their bytes, narrowed byte by byte.
class Narrowing {
 public:
  explicit Narrowing(const TokenizerView& view) noexcept : Narrowing(view, view.sorted, view.header->n_pieces) {}
  Narrowing(const TokenizerView& view, const std::uint32_t* ids, std::uint32_t count) noexcept
      : view_(view), ids_(ids), end_(count) {}

  // Adds a byte to the text. False if no piece begins with it; nothing may be added after that.
  bool add(char next) noexcept {
    const unsigned byte = static_cast<unsigned char>(next);
    begin_ = lower_bound(begin_, end_, byte);
    end_ = lower_bound(begin_, end_, byte + 1);
    ++depth_;
    return begin_ < end_;
  }
  // The id whose piece is the text itself, or kNoPiece: the shortest piece comes first.
  std::uint32_t whole() const noexcept {
    const std::uint32_t id = ids_[begin_];
    return view_.piece(id).size() == depth_ ? id : kNoPiece;
  }
  // Whether a piece is longer than the text.
  bool goes_on() const noexcept { return end_ - begin_ > (whole() == kNoPiece ? 0u : 1u); }

 private:
  // The first of ids[begin .. end) whose piece has behind the text a byte not below `byte`.
  std::uint32_t lower_bound(std::uint32_t begin, std::uint32_t end, unsigned byte) const noexcept {
    while (begin < end) {
      const std::uint32_t middle = begin + (end - begin) / 2;
      const std::string_view piece = view_.piece(ids_[middle]);
      if (piece.size() <= depth_ || static_cast<unsigned char>(piece[depth_]) < byte) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }

  const TokenizerView& view_;
  const std::uint32_t* ids_;
  std::uint32_t begin_ = 0;
  std::uint32_t end_;
  std::size_t depth_ = 0;
};

// The id in `sorted` whose piece is `text`, which is not empty; kNoPiece if there is none.
inline std::uint32_t find_piece(const TokenizerView& view, std::string_view text) noexcept {
  Narrowing pieces(view);
  for (const char byte : text) {
    if (!pieces.add(byte)) return kNoPiece;
  }
  return pieces.whole();
}

// The longest of `pieces` that `text` begins with, and its length; kNoPiece if there is none.
inline std::uint32_t longest_match(Narrowing pieces, std::string_view text, std::size_t* length) noexcept {
  std::uint32_t best = kNoPiece;
  for (std::size_t i = 0; i < text.size() && pieces.add(text[i]); ++i) {
    const std::uint32_t id = pieces.whole();
    if (id == kNoPiece) continue;
    best = id;
    *length = i + 1;
  }
  return best;
}
inline std::uint32_t longest_match(const TokenizerView& view, std::string_view text, std::size_t* length) noexcept {
  return longest_match(Narrowing(view), text, length);
}

}  // namespace minnow
