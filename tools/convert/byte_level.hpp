// Byte-level vocabularies: GPT-2's way to write bytes as characters, and a vocabulary put together token by token and
// merge by merge. Depends on vocabulary.
#pragma once

#include <array>
#include <string_view>
#include <unordered_map>

#include "tools/convert/vocabulary.hpp"

namespace minnow::convert {

// GPT-2's files write a byte as a printable character: the one of Latin-1 where that is one, else one from U+0100 on.
class ByteSymbols {
 public:
  ByteSymbols();

  // The bytes that `written` stands for; false if a character of it is none of the 256.
  bool decode(std::string_view written, std::string* out) const;
  const std::string& symbol(unsigned byte) const { return symbols_[byte]; }
  // The bytes in the order of GPT-2's ids: first those that stand for themselves.
  const std::array<unsigned char, 256>& order() const { return order_; }

 private:
  static constexpr unsigned kEnd = 0x144;  // behind the last character

  std::array<unsigned char, 256> order_;
  std::array<std::string, 256> symbols_;
  std::array<std::int16_t, kEnd> bytes_;  // of a character; -1: none
};

// Every function throws Refusal.
class ByteLevelBuilder {
 public:
  // `tokens` is how many there will be: their ids are 0 .. tokens - 1.
  explicit ByteLevelBuilder(std::size_t tokens);

  const ByteSymbols& symbols() const { return symbols_; }
  void add_token(std::string_view written, std::int64_t id);  // in ByteSymbols
  void add_special(std::string_view text, std::int64_t id);   // as it is
  // The next in rank. Both parts and what they make must be there.
  void add_merge(std::string_view left, std::string_view right);

  Vocabulary finish();

 private:
  std::uint32_t id_of(std::string_view written) const;
  void put(std::int64_t id, std::string piece);

  ByteSymbols symbols_;
  Vocabulary out_;
  std::unordered_map<std::string, std::uint32_t> ids_;  // by the way the tokens are written; without special ones
};

// What every reader of a byte-level vocabulary ends with: no id is without text, no text has two ids, and each byte
// has one, which goes to byte_id. Throws Refusal.
void finish_byte_level(Vocabulary* vocabulary);

// The same for pieces that have ranks but no merges ([n_tokens]; kNoId where no merge makes the piece): finds them, for
// GPT-2's split, which such a file cannot name but can contradict.
void finish_ranked(const std::vector<std::uint32_t>& ranks, Vocabulary* vocabulary);

}  // namespace minnow::convert
