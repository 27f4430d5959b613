// Byte-pair merging of one part of a text. In a part, the pair of neighbours with the lowest rank is merged, the
// leftmost of equals, again and again until no pair has a merge. Depends on pieces.hpp and utf8.hpp.
//
// Short parts are merged as that sentence says. Longer ones by what follows from it: ids are the encoding of their text
// if and only if each is the encoding of its own piece and every two neighbours are the encoding of their two pieces.
// For until the first merge across a border the two sides merge each on its own, in an order that the other parts of
// the text do not change: a merge across it happens in the whole if and only if it happens in the two neighbours alone.
#pragma once

#include "minnow/minnow.hpp"
#include "text/pieces.hpp"

namespace minnow {

// Atoms that are merged at once. Two tokens side by side are fewer.
inline constexpr std::size_t kMaxAtoms = 1024;
static_assert(kMaxAtoms > 2 * kMaxMergedBytes + 3);

// Atoms that a window of a long part begins with.
inline constexpr std::size_t kWindow = kMaxAtoms;

// Bytes of one part, maybe behind a space that is not in memory.
struct Part {
  std::string_view text;
  bool space_first = false;

  std::size_t size() const noexcept { return text.size() + (space_first ? 1 : 0); }
  char operator[](std::size_t i) const noexcept {
    if (!space_first) return text[i];
    return i == 0 ? ' ' : text[i - 1];
  }
};

// Ids on their way from atoms to tokens: 16 KiB, on the stack of whoever encodes. Left uninitialised. While they merge,
// an id stands where its first atom stood, and the places of its other atoms are skipped.
struct Merging {
  static constexpr std::size_t kBlock = 32;
  std::size_t count;                         // of ids
  std::uint32_t ids[kMaxAtoms];              // [count]
  std::uint32_t ranks[kMaxAtoms];            // [count]: of the merge of an id and the next one; kNoId: there is none
  std::uint32_t results[kMaxAtoms];          // [count]: what it makes
  std::uint16_t next[kMaxAtoms];             // [count]: where the next id stands; count: nowhere
  std::uint16_t before[kMaxAtoms];           // [count]: where the one before stands
  std::uint32_t lowest[kMaxAtoms / kBlock];  // of the ranks in each block
};

// Encodes parts with the merges of one vocabulary. `merging` is scratch memory.
class Bpe {
 public:
  Bpe(const TokenizerView& view, Merging* merging) noexcept;

  // Writes the ids of `part`; *tokens says how many. part.size() ids always suffice. Errors:
  //   bad_argument      part[*bytes] begins a character that has no id; what stands before it has
  //   output_too_small
  // No id counts as written on errors.
  Status encode(const Part& part, Span<Token> out, std::size_t* tokens, std::size_t* bytes) noexcept;

  // The two ways of encode() with a long part, each exact for any part; open for tests. Windows may give up
  // (unsupported) where a text leaves no border in reach unchanged. window: 8 .. kMaxAtoms.
  Status encode_in_windows(const Part& part, std::size_t window, Span<Token> out, std::size_t* tokens,
                           std::size_t* bytes) noexcept;
  Status encode_forward(const Part& part, Span<Token> out, std::size_t* tokens, std::size_t* bytes) noexcept;

 private:
  struct Joints;

  std::string_view piece(std::uint32_t id) const noexcept { return view_.piece(id); }
  bool is_byte_of_character(std::uint32_t id) const noexcept;
  bool add_character(const Part& part, std::size_t at, std::size_t* length) noexcept;
  bool load(const Part& part, std::size_t begin, std::size_t limit, std::size_t* end) noexcept;
  const Merge* find_merge(std::uint32_t left, std::uint32_t right) const noexcept;
  void note_merge(std::size_t i) noexcept;
  void note_lowest(std::size_t block) noexcept;
  void merge_pair(std::size_t i) noexcept;
  void merge() noexcept;
  bool is_encoding(std::uint32_t token) noexcept;
  bool joins(std::uint32_t left, std::uint32_t right) noexcept;
  void try_tokens(const Part& part, std::size_t at, std::uint32_t before, Joints* joints, Span<Token> last) noexcept;

  const TokenizerView& view_;
  Merging& m_;
  bool by_character_;  // atoms are characters where `sorted` has them
};

}  // namespace minnow
