#include "tools/prompt.hpp"

#include <algorithm>

#include "text/utf8.hpp"
#include "tools/messages.hpp"
#include "tools/options.hpp"

namespace minnow {
namespace {

constexpr std::string_view kBetweenIds = " ,\t\r\n";
constexpr std::size_t kLongestId = 4096;  // characters; what is longer is no id, and need not be held to see that
constexpr std::size_t kLongestPart = std::size_t{1} << 24;  // bytes that must be encoded together

// The character that `text` begins with.
std::string_view first_character(std::string_view text) {
  return text.substr(0, std::max<std::size_t>(utf8_length(text), 1));
}

}  // namespace

TokenReader::TokenReader(std::string command, TextInput* input, const Tokenizer& tokenizer, bool skip_unknown,
                         const EncodeConfig& encoding)
    : command_(std::move(command)),
      input_(input),
      is_text_(true),
      tokenizer_(tokenizer),
      encoding_(encoding),
      skip_unknown_(skip_unknown) {}

TokenReader::TokenReader(std::string command, TextInput* input, std::uint32_t n_ids)
    : command_(std::move(command)), input_(input), is_text_(false), n_ids_(n_ids) {}

int TokenReader::scan(std::size_t keep, std::vector<Token>* newest) {
  newest->clear();
  std::vector<Token> tokens;
  do {
    if (const int status = read(&tokens); status != kDone) return status;
    count_ += tokens.size();
    newest->insert(newest->end(), tokens.begin(), tokens.end());
    if (newest->size() > keep) newest->erase(newest->begin(), newest->end() - static_cast<std::ptrdiff_t>(keep));
  } while (!tokens.empty());
  scanned_ = true;
  if (unknown_.count() == 0) return kDone;
  if (!skip_unknown_) return unknown_.report(command_, tokenizer_);
  complain(command_, "skipped " + std::to_string(unknown_.count()) + plural(unknown_.count(), " character") +
                         " that the model does not know");
  return kDone;
}

void TokenReader::rewind() {
  input_->rewind();
  pending_.clear();
  at_ = 0;
  begun_ = false;
  over_ = false;
  try_from_ = 0;
  character_ = 0;
  characters_ = 0;
}

int TokenReader::read(std::vector<Token>* out) {
  out->clear();
  while (out->empty() && !over_) {
    std::string_view piece;
    if (const int status = input_->read(&piece); status != kDone) return status;
    over_ = piece.empty();
    pending_.append(piece);
    if (const int status = is_text_ ? take_text(out) : take_ids(out); status != kDone) return status;
  }
  return kDone;
}

// Encodes pending_ up to where more text cannot change its tokens. Where it cannot be cut it is left to grow.
int TokenReader::take_text(std::vector<Token>* out) {
  if (!over_ && pending_.size() < try_from_) return kDone;
  const std::string_view text = std::string_view(pending_).substr(at_);
  const std::size_t settled = at_ + (over_ ? text.size() : tokenizer_.cut(text, encoding_));
  if (!over_ && settled == at_) {
    // So that all the looking is linear in the text.
    try_from_ = std::min<std::size_t>(2 * pending_.size(), kLongestPart + 1);
    if (pending_.size() <= kLongestPart) return kDone;
    return complain(command_, "over " + std::to_string(kLongestPart) +
                                  " bytes of text that must be encoded together, without a place to cut it");
  }
  try_from_ = 0;
  out->resize(settled - at_ + 2);  // enough: a token has a byte, and two may come first
  std::size_t count = 0;
  do {
    EncodeConfig config = encoding_;
    config.begin = encoding_.begin && !begun_;
    begun_ = true;
    EncodeResult result;
    const Status status = tokenizer_.encode(std::string_view(pending_).substr(at_, settled - at_), config,
                                            {out->data() + count, out->size() - count}, &result);
    count += result.tokens;
    at_ += result.bytes;
    if (status == Status::ok) break;
    if (const int refused = take_unknown(); refused != kDone) return refused;
  } while (at_ < settled);
  out->resize(count);
  count_characters(at_);
  const std::size_t done = std::min(at_, character_);
  pending_.erase(0, done);
  at_ -= done;
  character_ -= done;
  return kDone;
}

// Notes and leaves out the character that the vocabulary lacks.
int TokenReader::take_unknown() {
  if (scanned_ && !skip_unknown_) return input_->changed();
  count_characters(at_);
  const std::string_view character = first_character(std::string_view(pending_).substr(at_));
  ++characters_;
  if (!scanned_) unknown_.add(character, characters_);
  at_ += character.size();
  character_ = at_;
  return kDone;
}

// Counts the characters that begin before `end`, as far as all their bytes are there.
void TokenReader::count_characters(std::size_t end) {
  while (character_ < end) {
    const std::string_view text = std::string_view(pending_).substr(character_);
    if (!over_ && utf8_length(text) == 0) return;
    character_ += first_character(text).size();
    ++characters_;
  }
}

int TokenReader::take_ids(std::vector<Token>* out) {
  // A word at the end may go on.
  const std::size_t last_blank = pending_.find_last_of(kBetweenIds);
  std::size_t settled = over_ ? pending_.size() : last_blank == std::string::npos ? 0 : last_blank + 1;
  if (pending_.size() - settled > kLongestId) settled = pending_.size();
  std::string_view text = std::string_view(pending_).substr(0, settled);
  while (true) {
    const std::size_t begin = text.find_first_not_of(kBetweenIds);
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    std::string_view word = text.substr(0, text.find_first_of(kBetweenIds));
    text.remove_prefix(word.size());
    std::uint64_t id = 0;
    if (word.size() > kLongestId || !parse_number(word, &id) || id >= n_ids_) {
      if (scanned_) return input_->changed();
      const std::string found = printable(word.substr(0, kLongestId)) + (word.size() > kLongestId ? ".." : "");
      return complain(command_,
                      "ids: found '" + found + "', expected whole numbers from 0 to " + std::to_string(n_ids_ - 1),
                      kMisused);
    }
    out->push_back(static_cast<Token>(id));
  }
  pending_.erase(0, settled);
  return kDone;
}

}  // namespace minnow
