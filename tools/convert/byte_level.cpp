// Depends on merges, refusal and text.
#include "tools/convert/byte_level.hpp"

#include <algorithm>
#include <unordered_set>

#include "text/split.hpp"
#include "text/utf8.hpp"
#include "tools/convert/merges.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/utf8.hpp"

namespace minnow::convert {

namespace {

constexpr std::size_t kGpt2Ranks = 50256;

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

// A file of ranks does not say how text is split; but a token that GPT-2's split would divide was made with another
// one. Only whole characters tell: half of one may be of any class.
void require_gpt2_split(const Vocabulary& vocabulary) {
  for (const Merge& merge : vocabulary.merges) {
    const std::string& piece = vocabulary.pieces[merge.result];
    if (is_utf8(piece) && gpt2_part(piece) != piece.size()) {
      refuse("the token ", quoted(piece), " of rank ", merge.result,
             " goes across what GPT-2 splits, so text is split in another way; expected a vocabulary made with GPT-2's "
             "split; pass --no-text to use ids only");
    }
  }
}

}  // namespace

ByteSymbols::ByteSymbols() {
  bytes_.fill(-1);
  std::size_t count = 0;
  unsigned next = 0x100;
  for (const bool itself : {true, false}) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      if (stands_for_itself(byte) != itself) continue;
      const unsigned character = itself ? byte : next++;
      order_[count++] = static_cast<unsigned char>(byte);
      append_utf8(character, &symbols_[byte]);
      bytes_[character] = static_cast<std::int16_t>(byte);
    }
  }
}

bool ByteSymbols::decode(std::string_view written, std::string* out) const {
  out->clear();
  for (std::size_t i = 0; i < written.size(); ++i) {
    unsigned character = static_cast<unsigned char>(written[i]);
    if (character >= 0x80) {
      if (character < 0xc2 || character > 0xdf || ++i == written.size()) return false;
      const unsigned second = static_cast<unsigned char>(written[i]);
      if (second >> 6 != 2) return false;
      character = (character & 0x1f) << 6 | (second & 0x3f);
    }
    if (character >= kEnd || bytes_[character] < 0) return false;
    *out += static_cast<char>(bytes_[character]);
  }
  return true;
}

ByteLevelBuilder::ByteLevelBuilder(std::size_t tokens) {
  if (tokens > kMaxVocabularyTokens) refuse("there are ", tokens, " tokens; expected at most ", kMaxVocabularyTokens);
  out_.kind = TokenizerKind::byte_level_bpe;
  out_.split = TokenizerSplit::gpt2;
  out_.pieces.resize(tokens);
}

void ByteLevelBuilder::put(std::int64_t id, std::string piece) {
  const std::int64_t count = static_cast<std::int64_t>(out_.pieces.size());
  if (id < 0 || id >= count) {
    refuse("the token ", quoted(piece), " has the id ", id, " among ", count, " tokens; expected 0 to ", count - 1);
  }
  std::string& place = out_.pieces[static_cast<std::size_t>(id)];
  if (piece.empty()) refuse("the token with the id ", id, " is empty; expected text");
  if (!place.empty()) refuse("two tokens have the id ", id, ", ", quoted(place), " and ", quoted(piece));
  place = std::move(piece);
}

void ByteLevelBuilder::add_token(std::string_view written, std::int64_t id) {
  std::string piece;
  if (!symbols_.decode(written, &piece)) {
    refuse("the token ", quoted(written), " has a character that stands for no byte; expected GPT-2's byte symbols");
  }
  put(id, std::move(piece));
  if (!ids_.emplace(written, static_cast<std::uint32_t>(id)).second) {
    refuse("the token ", quoted(written), " is there twice, the second time with the id ", id);
  }
}

void ByteLevelBuilder::add_special(std::string_view text, std::int64_t id) {
  put(id, std::string(text));
  out_.special.push_back(static_cast<std::uint32_t>(id));
}

std::uint32_t ByteLevelBuilder::id_of(std::string_view written) const {
  const auto found = ids_.find(std::string(written));
  return found == ids_.end() ? kNoId : found->second;
}

void ByteLevelBuilder::add_merge(std::string_view left, std::string_view right) {
  Merge merge = {id_of(left), id_of(right), static_cast<std::uint32_t>(out_.merges.size()), kNoId};
  for (const std::string_view part : {left, right}) {
    if (id_of(part) == kNoId) refuse("merges ", quoted(part), ", which is no token; expected tokens made before");
  }
  const std::string both = std::string(left).append(right);
  merge.result = id_of(both);
  if (merge.result == kNoId) refuse("makes ", quoted(both), ", which has no id; expected a token");
  out_.merges.push_back(merge);
}

Vocabulary ByteLevelBuilder::finish() {
  finish_byte_level(&out_);
  drop_unused_merges(&out_);
  return std::move(out_);
}

void finish_byte_level(Vocabulary* vocabulary) {
  std::unordered_set<std::string_view> seen;
  vocabulary->byte_id.assign(256, kNoId);
  for (std::size_t id = 0; id < vocabulary->pieces.size(); ++id) {
    const std::string& piece = vocabulary->pieces[id];
    if (piece.empty())
      refuse("no token has the id ", id, "; expected text for each id below ", vocabulary->pieces.size());
    if (!seen.insert(piece).second) refuse("two ids mean ", quoted(piece), ", the later one is ", id);
    if (piece.size() == 1) vocabulary->byte_id[static_cast<unsigned char>(piece[0])] = static_cast<std::uint32_t>(id);
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (vocabulary->byte_id[byte] == kNoId) refuse("no token is the single byte ", byte, "; expected all 256 of them");
  }
  std::sort(vocabulary->special.begin(), vocabulary->special.end());
}

void finish_ranked(const std::vector<std::uint32_t>& ranks, Vocabulary* vocabulary) {
  vocabulary->kind = TokenizerKind::byte_level_bpe;
  vocabulary->split = TokenizerSplit::gpt2;
  finish_byte_level(vocabulary);
  add_merges(ranks, vocabulary);
  require_gpt2_split(*vocabulary);
  if (vocabulary->pieces.size() - vocabulary->special.size() != kGpt2Ranks) {
    vocabulary->note = "text taken to be split as GPT-2 does, which the vocabulary does not say";
  }
}

}  // namespace minnow::convert
