// llama2.c's tokenizer.bin: a u32, the longest piece's length, which the oldest files lack; then for each id a float,
// its score, a u32, its length, and its bytes. Ids 0, 1 and 2 are unknown, begin and end; then may come the 256 bytes,
// written "<0x0A>". Depends on merges and refusal.
#include "tools/convert/llama2_tokenizer.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "base/bits.hpp"
#include "tools/convert/merges.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/utf8.hpp"
#include "tools/convert/vocabulary_readers.hpp"

namespace minnow::convert {

namespace {

constexpr std::uint32_t kBegin = 1;
constexpr std::uint32_t kFirstByte = 3;
constexpr std::uint32_t kMaxPieceBytes = 1u << 16;
constexpr float kNeverMerged = -1e10f;  // llama2.c merges into scores above it

struct ScoredPiece {
  float score;
  std::string_view text;
};

// Reads one more piece off the front of `bytes`. False at its end or where there is none.
bool take_piece(std::string_view* bytes, ScoredPiece* out) {
  std::uint32_t words[2];
  if (bytes->size() < sizeof words) return false;
  std::memcpy(words, bytes->data(), sizeof words);
  out->score = bit_cast<float>(words[0]);
  if (!is_finite(out->score) || words[1] == 0 || words[1] > kMaxPieceBytes) return false;
  if (bytes->size() - sizeof words < words[1]) return false;
  out->text = bytes->substr(sizeof words, words[1]);
  bytes->remove_prefix(sizeof words + words[1]);
  return true;
}

// How many pieces stand from `at` on, at most `limit`. *end: where they stop.
std::size_t count_pieces(std::string_view bytes, std::size_t at, std::size_t limit, std::size_t* end) {
  std::string_view rest = bytes.substr(std::min(at, bytes.size()));
  std::size_t count = 0;
  for (ScoredPiece piece; count < limit && take_piece(&rest, &piece);) ++count;
  *end = bytes.size() - rest.size();
  return count;
}

// Where the pieces begin: behind the longest length, or at once.
std::size_t find_start(std::string_view bytes) {
  std::size_t end = 0;
  return count_pieces(bytes, 4, 4, &end) >= count_pieces(bytes, 0, 4, &end) ? 4 : 0;
}

std::string byte_name(unsigned byte) {
  constexpr char kHex[] = "0123456789ABCDEF";
  return {'<', '0', 'x', kHex[byte >> 4], kHex[byte & 15], '>'};
}

// As the first versions wrote a byte: as the character of that number.
std::string byte_as_character(unsigned byte) {
  std::string out;
  append_utf8(byte, &out);
  return out;
}

// Sets byte_id, and the bytes themselves as pieces, if ids 3 to 258 are the bytes.
template <class Name>
bool take_bytes(const Name& name, Vocabulary* out) {
  if (out->pieces.size() < kFirstByte + 256) return false;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (out->pieces[kFirstByte + byte] != name(byte)) return false;
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    out->pieces[kFirstByte + byte] = std::string(1, static_cast<char>(byte));
    out->byte_id[byte] = kFirstByte + byte;
  }
  return true;
}

// The higher a score the lower its rank; equal scores have equal ranks.
std::vector<std::uint32_t> rank_scores(const std::vector<float>& scores) {
  std::vector<float> distinct = scores;
  std::sort(distinct.begin(), distinct.end(), [](float a, float b) { return a > b; });
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<std::uint32_t> ranks;
  for (const float score : scores) {
    const auto found =
        std::lower_bound(distinct.begin(), distinct.end(), score, [](float a, float b) { return a > b; });
    ranks.push_back(score > kNeverMerged ? static_cast<std::uint32_t>(found - distinct.begin()) : kNoId);
  }
  return ranks;
}

}  // namespace

bool looks_like_llama2_tokenizer(std::string_view bytes) {
  std::size_t end = 0;
  return count_pieces(bytes, find_start(bytes), 4, &end) == 4;
}

Vocabulary read_llama2_tokenizer(std::string_view bytes) {
  Vocabulary out;
  out.kind = TokenizerKind::scored_bpe;
  out.byte_id.assign(256, kNoId);
  out.begin = 1 + kBegin;
  std::vector<float> scores;
  std::string_view rest = bytes.substr(std::min(find_start(bytes), bytes.size()));
  for (ScoredPiece piece; take_piece(&rest, &piece);) {
    out.pieces.emplace_back(piece.text);
    scores.push_back(piece.score);
    if (scores.size() > kMaxVocabularyTokens) refuse("there are more than ", kMaxVocabularyTokens, " pieces");
  }
  if (!rest.empty()) {
    refuse("the piece of id ", out.pieces.size(), " at byte ", bytes.size() - rest.size(),
           " is cut off, empty or without a score; expected llama2.c's tokenizer.bin; is the file whole?");
  }
  if (out.pieces.size() <= kFirstByte) {
    refuse("there are ", out.pieces.size(), " pieces; expected unknown, begin, end and at least one more");
  }
  if (!take_bytes(byte_name, &out)) static_cast<void>(take_bytes(byte_as_character, &out));
  const bool has_bytes = out.byte_id[0] != kNoId;

  std::unordered_set<std::string_view> seen;
  std::vector<std::uint32_t> ranks = rank_scores(scores);
  for (std::uint32_t id = 0; id < out.pieces.size(); ++id) {
    if (id < kFirstByte) ranks[id] = kNoId;  // no text becomes one of these, hence none is `special` either
    if (has_bytes && id >= kFirstByte && id < kFirstByte + 256) {
      ranks[id] = kNoId;
    } else if (!seen.insert(out.pieces[id]).second) {
      refuse("two ids mean ", quoted(out.pieces[id]), ", the later one is ", id, "; expected each piece once");
    }
  }
  out.space_prefix = seen.count(" ") != 0 || out.byte_id[' '] != kNoId;
  add_merges(ranks, &out);
  return out;
}

}  // namespace minnow::convert
