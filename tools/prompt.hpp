// From what a user gives to tokens, a piece at a time, with clear words about what the vocabulary does not have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "minnow/minnow.hpp"
#include "tools/text_input.hpp"
#include "tools/unknown.hpp"

namespace minnow {

// How `run` takes a prompt and `tokens` a text.
inline constexpr EncodeConfig kPromptEncoding = {/*special=*/true, /*begin=*/true};

// The tokens of an input of any length, in memory for one piece of it. scan() comes first and checks all; after a
// rewind() the same tokens are read again, for as often as wanted. Functions that return an exit status have printed
// why.
class TokenReader {
 public:
  // A text. Characters that the vocabulary lacks: with `skip_unknown` they are left out, and what stands before and
  // behind is encoded apart; else scan() fails. The input is open and lives longer. The text is encoded as by one call
  // with `encoding`.
  TokenReader(std::string command, TextInput* input, const Tokenizer& tokenizer, bool skip_unknown,
              const EncodeConfig& encoding = {});
  // Decimal ids with blanks or commas between them, each below n_ids.
  TokenReader(std::string command, TextInput* input, std::uint32_t n_ids);

  // Reads all, and keeps the newest `keep` tokens. Unknown characters that are skipped are counted on stderr; else an
  // error names each with its places and shows the alphabet, and the result is kMisused, as for ids out of range.
  int scan(std::size_t keep, std::vector<Token>* newest);
  std::uint64_t count() const { return count_; }  // of all tokens, after scan()

  void rewind();
  // Replaces *out by the next tokens; none at the end.
  int read(std::vector<Token>* out);

 private:
  int take_text(std::vector<Token>* out);
  int take_ids(std::vector<Token>* out);
  int take_unknown();
  void count_characters(std::size_t end);

  std::string command_;
  TextInput* input_;
  bool is_text_;
  Tokenizer tokenizer_;
  EncodeConfig encoding_;
  bool skip_unknown_ = false;
  std::uint32_t n_ids_ = 0;

  std::string pending_;           // what was read and is still needed
  std::size_t at_ = 0;            // in it: what is no token yet
  bool begun_ = false;            // something was encoded
  bool over_ = false;             // nothing comes after pending_
  std::size_t try_from_ = 0;      // bytes of pending_ from which on it is worth looking for a place to cut it
  std::size_t character_ = 0;     // in it: the first character that is not counted yet
  std::uint64_t characters_ = 0;  // counted before it
  UnknownCharacters unknown_;
  bool scanned_ = false;
  std::uint64_t count_ = 0;
};

}  // namespace minnow
