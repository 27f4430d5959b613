// See vocabularies.hpp. No tests of its own.
#include "tests/convert/vocabularies.hpp"

#include <cstring>
#include <fstream>
#include <sstream>

#include "tests/convert/support.hpp"
#include "text/utf8.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert::test {

std::vector<EncodedText> read_encoded_texts(const std::string& name) {
  std::vector<EncodedText> out;
  std::ifstream file(vocabulary_fixture(name));
  for (std::string line; std::getline(file, line);) {
    EncodedText encoded;
    const std::size_t tab = line.find('\t');
    for (std::size_t i = 0; i < tab; i += 2) {
      encoded.text += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
    }
    std::istringstream ids(line.substr(tab + 1));
    for (std::uint32_t id = 0; ids >> id;) encoded.ids.push_back(id);
    out.push_back(encoded);
  }
  return out;
}

std::vector<std::uint32_t> encode_part(const Vocabulary& v, const std::string& part) {
  std::vector<std::uint32_t> ids;
  for (std::size_t at = 0; at < part.size();) {
    std::size_t length = 1;
    std::uint32_t id = kNoId;
    if (v.kind == TokenizerKind::scored_bpe) {
      length = utf8_length(part.substr(at));
      for (std::uint32_t i = 0; i < v.pieces.size(); ++i) {
        bool is_byte = false;
        for (const std::uint32_t byte : v.byte_id) is_byte = is_byte || byte == i;
        if (!is_byte && v.pieces[i] == part.substr(at, length)) id = i;
      }
    }
    if (id != kNoId) {
      ids.push_back(id);
    } else {
      for (std::size_t i = 0; i < length; ++i) ids.push_back(v.byte_id[static_cast<unsigned char>(part[at + i])]);
    }
    at += length;
  }
  while (true) {
    const Merge* best = nullptr;
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      for (const Merge& merge : v.merges) {
        const bool fits = merge.left == ids[i] && merge.right == ids[i + 1];
        if (!fits || (best != nullptr && best->rank <= merge.rank)) continue;
        best = &merge;
        place = i;
      }
    }
    if (best == nullptr) return ids;
    ids[place] = best->result;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Refusal& refusal) {
    return refusal.path().empty() ? refusal.what() : refusal.path() + ": " + refusal.what();
  }
  return {};
}

std::string rank_line(const std::string& piece, std::size_t rank) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < piece.size(); at += 3) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (at + i < piece.size() ? static_cast<unsigned char>(piece[at + i]) : 0u);
    }
    for (unsigned i = 0; i < 4; ++i) out += at + i > piece.size() ? '=' : kDigits[bits >> (18 - 6 * i) & 63];
  }
  return out + " " + std::to_string(rank) + "\n";
}

std::string all_byte_ranks() {
  std::string out;
  for (std::size_t byte = 0; byte < 256; ++byte) out += rank_line(std::string(1, static_cast<char>(byte)), byte);
  return out;
}

std::string llama2_tokenizer(const std::vector<ScoredPiece>& pieces) {
  std::string out;
  std::size_t longest = 0;
  for (const ScoredPiece& piece : pieces) {
    out += raw(std::vector<float>{piece.score}) + number(piece.text.size(), 4) + piece.text;
    longest = std::max(longest, piece.text.size());
  }
  return number(longest, 4) + out;
}

}  // namespace minnow::convert::test
