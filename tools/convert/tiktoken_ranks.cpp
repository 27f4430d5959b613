// A rank file of tiktoken: a line a token, its bytes in base64 and its rank. Depends on byte_level, merges, lines and
// refusal.
#include "tools/convert/tiktoken_ranks.hpp"

#include "tools/convert/byte_level.hpp"
#include "tools/convert/lines.hpp"
#include "tools/convert/merges.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/vocabulary_readers.hpp"

namespace minnow::convert {

namespace {

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool decode_base64(std::string_view text, std::string* out) {
  out->clear();
  if (text.empty() || text.size() % 4 != 0) return false;
  std::size_t padding = 0;
  while (padding < 2 && text.back() == '=') {
    text.remove_suffix(1);
    ++padding;
  }
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const int value = base64_value(c);
    if (value < 0) return false;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    *out += static_cast<char>(bits >> count & 0xff);
  }
  return (bits & ((1u << count) - 1)) == 0;  // nothing is lost
}

bool decode_number(std::string_view text, std::uint32_t* out) {
  std::uint64_t value = 0;
  if (text.empty() || text.size() > 9) return false;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  *out = static_cast<std::uint32_t>(value);
  return true;
}

constexpr std::size_t kGpt2Ranks = 50256;

// The vocabularies that are known not to split text as GPT-2 does.
struct OtherSplit {
  std::size_t ranks;
  const char* name;
};
constexpr OtherSplit kOtherSplits[] = {{100256, "cl100k_base"}, {199998, "o200k_base"}, {128000, "Llama 3's"}};

}  // namespace

bool decode_rank_line(std::string_view line, std::string* piece, std::uint32_t* rank) {
  const std::size_t space = line.find(' ');
  return space != std::string_view::npos && decode_base64(line.substr(0, space), piece) &&
         decode_number(line.substr(space + 1), rank);
}

Vocabulary read_ranks(std::string_view bytes, std::uint64_t rows) {
  Vocabulary out;
  out.kind = TokenizerKind::byte_level_bpe;
  out.split = TokenizerSplit::gpt2;
  std::vector<std::uint32_t> ranks;
  Lines lines(bytes);
  std::string piece;
  for (std::string_view line; lines.next(&line);) {
    std::uint32_t rank = 0;
    if (line.empty()) continue;
    if (!decode_rank_line(line, &piece, &rank)) {
      refuse("line ", lines.number(), " is ", quoted(line), "; expected a token in base64, a space and its rank");
    }
    if (ranks.size() == kGpt2Ranks && rank == kGpt2Ranks + 1) {  // the end of text is in between
      refuse("line ", lines.number(), " has the rank ", rank, ", as in the vocabularies p50k_base and p50k_edit, ",
             "which have more tokens than GPT-2's ", kGpt2Ranks, "; expected GPT-2's; pass --no-text to use ids only");
    }
    if (rank != ranks.size()) {
      refuse("line ", lines.number(), " has the rank ", rank, "; expected ", ranks.size(),
             ", the ranks in order and none left out");
    }
    ranks.push_back(rank);
    out.pieces.push_back(piece);
    if (ranks.size() > kMaxVocabularyTokens) refuse("there are more than ", kMaxVocabularyTokens, " ranks");
  }
  for (const OtherSplit& other : kOtherSplits) {
    if (ranks.size() == other.ranks) {
      refuse("there are ", other.ranks, " ranks, as in the vocabulary ", other.name,
             ", which splits text in another way than GPT-2's; expected GPT-2's ", kGpt2Ranks,
             "; pass --no-text to use ids only");
    }
  }
  if (rows > ranks.size()) {
    out.special.push_back(static_cast<std::uint32_t>(ranks.size()));
    ranks.push_back(kNoId);
    out.pieces.push_back("<|endoftext|>");
  }
  finish_ranked(ranks, &out);
  return out;
}

}  // namespace minnow::convert
