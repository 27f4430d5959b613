// What the tokenizer tests compare with: merging over the whole part as the rule says, with no thought of speed, and
// vocabularies drawn at random.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "minnow/minnow.hpp"
#include "tests/model/hand_tokenizer.hpp"
#include "text/utf8.hpp"

namespace minnow::test {

struct Dice {
  std::uint64_t seed;
  std::uint64_t index = 0;
  std::size_t below(std::uint64_t n) { return static_cast<std::size_t>(draw64(seed, index++) % n); }
};

class NaiveBpe {
 public:
  explicit NaiveBpe(const HandTokenizer& t) : t_(t) {
    for (const HandMerge& m : t.merges) merges_[{m.left, m.right}] = m;
    for (std::uint32_t i = 0; i < t.n_pieces; ++i) ids_[t.pieces[t.sorted[i]]] = t.sorted[i];
  }

  // The ids that merging starts from. Bytes without an id are left out.
  std::vector<std::uint32_t> atoms(const std::string& text) const {
    std::vector<std::uint32_t> out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t found = t_.kind == 4 ? utf8_length(std::string_view(text).substr(at)) : 1;
      const std::size_t length = found == 0 ? 1 : found;
      const bool is_character = length > 1 || static_cast<unsigned char>(text[at]) < 0x80;
      const auto known = ids_.find(text.substr(at, length));
      if (t_.kind == 4 && is_character && known != ids_.end()) {
        out.push_back(known->second);
      } else {
        for (std::size_t i = 0; i < length; ++i) {
          const std::uint32_t id = t_.byte_id[static_cast<unsigned char>(text[at + i])];
          if (id != 0xffffffffu) out.push_back(id);
        }
      }
      at += length;
    }
    return out;
  }

  std::vector<Token> encode(const std::string& text) const {
    std::vector<std::uint32_t> ids = atoms(text);
    while (true) {
      const HandMerge* best = nullptr;
      std::size_t place = 0;
      for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
        const auto found = merges_.find({ids[i], ids[i + 1]});
        if (found == merges_.end() || (best != nullptr && found->second.rank >= best->rank)) continue;
        best = &found->second;
        place = i;
      }
      if (best == nullptr) break;
      ids[place] = best->result;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    }
    return std::vector<Token>(ids.begin(), ids.end());
  }

 private:
  const HandTokenizer& t_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, HandMerge> merges_;
  std::map<std::string, std::uint32_t> ids_;
};

// Byte-level, all 256 bytes, and up to `extra` merged pieces over `alphabet`; ranks are those of the order in which
// merges are made, or drawn, with ties, so that a piece may merge before its parts could. A piece can have several
// merges.
inline HandTokenizer random_byte_bpe(Dice& dice, const std::string& alphabet, std::size_t extra, std::size_t longest,
                                     bool ordered) {
  HandTokenizer t;
  t.kind = 3;
  for (unsigned byte = 0; byte < 256; ++byte) {
    t.pieces.emplace_back(1, static_cast<char>(byte));
    t.byte_id.push_back(byte);
  }
  std::map<std::string, std::uint32_t> ids;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> seen;
  std::vector<std::uint32_t> usable;
  for (const char c : alphabet) usable.push_back(static_cast<unsigned char>(c));
  for (std::size_t i = 0; i < extra; ++i) {
    const std::uint32_t left = usable[dice.below(usable.size())];
    const std::uint32_t right = usable[dice.below(usable.size())];
    const std::string piece = t.pieces[left] + t.pieces[right];
    if (piece.size() > longest || seen[{left, right}]) continue;
    seen[{left, right}] = true;
    if (ids.count(piece) == 0) {
      ids[piece] = static_cast<std::uint32_t>(t.pieces.size());
      t.pieces.push_back(piece);
      usable.push_back(ids[piece]);
    }
    const std::uint32_t rank = static_cast<std::uint32_t>(ordered ? i : dice.below(extra / 2 + 1));
    t.merges.push_back({left, right, rank, ids[piece]});
  }
  t.finish();
  return t;
}

// Characters of one to four bytes, some of them without an id; byte ids for all, or for some bytes; merges among the
// characters.
inline HandTokenizer random_scored_bpe(Dice& dice, const std::vector<std::string>& characters, std::size_t extra,
                                       bool all_bytes) {
  HandTokenizer t;
  t.kind = 4;
  t.byte_id.assign(256, 0xffffffffu);
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (!all_bytes && dice.below(3) == 0) continue;
    t.byte_id[byte] = static_cast<std::uint32_t>(t.pieces.size());
    t.pieces.emplace_back(1, static_cast<char>(byte));
  }
  std::map<std::string, std::uint32_t> ids;
  std::vector<std::uint32_t> usable;
  for (const std::string& character : characters) {
    if (dice.below(4) == 0) continue;
    ids[character] = static_cast<std::uint32_t>(t.pieces.size());
    usable.push_back(ids[character]);
    t.pieces.push_back(character);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> seen;
  for (std::size_t i = 0; i < extra && !usable.empty(); ++i) {
    const std::uint32_t left = usable[dice.below(usable.size())];
    const std::uint32_t right = usable[dice.below(usable.size())];
    const std::string piece = t.pieces[left] + t.pieces[right];
    if (piece.size() > 24 || seen[{left, right}]) continue;
    seen[{left, right}] = true;
    if (ids.count(piece) == 0) {
      ids[piece] = static_cast<std::uint32_t>(t.pieces.size());
      t.pieces.push_back(piece);
      usable.push_back(ids[piece]);
    }
    t.merges.push_back({left, right, static_cast<std::uint32_t>(dice.below(extra)), ids[piece]});
  }
  t.finish();
  return t;
}

inline std::string random_text(Dice& dice, const std::vector<std::string>& letters, std::size_t count) {
  std::string text;
  while (count-- > 0) {
    const std::string& letter = letters[dice.below(letters.size())];
    const std::size_t run = dice.below(8) == 0 ? 1 + dice.below(20) : 1;
    for (std::size_t i = 0; i < run; ++i) text += letter;
  }
  return text;
}

}  // namespace minnow::test
