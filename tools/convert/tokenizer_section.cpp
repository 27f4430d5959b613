// The tokenizer section of a model file, byte by byte. Depends on model/format.hpp.
#include <algorithm>

#include "model/check_tokenizer.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/vocabulary.hpp"

namespace minnow::convert {

namespace {

void append_u32(std::uint32_t value, std::string* out) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    *out += static_cast<char>(static_cast<unsigned char>(value >> shift));
}

// The ids that a text is looked up in, in ascending order of their bytes.
std::vector<std::uint32_t> sorted_ids(const Vocabulary& vocabulary) {
  std::vector<bool> is_apart(vocabulary.pieces.size(), false);
  if (vocabulary.kind == TokenizerKind::scored_bpe) {
    for (const std::uint32_t id : vocabulary.byte_id) {
      if (id != kNoId) is_apart[id] = true;
    }
    if (vocabulary.begin != 0) is_apart[vocabulary.begin - 1] = true;
  }
  std::vector<std::uint32_t> ids;
  for (std::uint32_t id = 0; id < is_apart.size(); ++id) {
    if (!is_apart[id]) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end(), [&](std::uint32_t a, std::uint32_t b) {
    return vocabulary.pieces[a] < vocabulary.pieces[b];  // as unsigned bytes
  });
  return ids;
}

// In ascending order of their bytes, as `sorted` is.
std::vector<std::uint32_t> sorted_specials(const Vocabulary& vocabulary) {
  std::vector<std::uint32_t> ids = vocabulary.special;
  std::sort(ids.begin(), ids.end(),
            [&](std::uint32_t a, std::uint32_t b) { return vocabulary.pieces[a] < vocabulary.pieces[b]; });
  for (const std::uint32_t id : ids) {
    const std::string& piece = vocabulary.pieces[id];
    if (piece.size() > kMaxSpecialBytes) {
      refuse("the special token ", quoted(std::string_view(piece).substr(0, 20)), " of id ", id, " has ", piece.size(),
             " bytes; expected at most ", kMaxSpecialBytes);
    }
  }
  return ids;
}

// In the file's order. Only the order of ranks counts, so they are numbered from 0, whatever a source calls them.
std::vector<Merge> sorted_merges(const Vocabulary& vocabulary) {
  std::vector<Merge> merges = vocabulary.merges;
  std::sort(merges.begin(), merges.end(), [](const Merge& a, const Merge& b) { return a.rank < b.rank; });
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const bool same = i + 1 < merges.size() && merges[i + 1].rank == merges[i].rank;
    merges[i].rank = same ? next : next++;
  }
  std::sort(merges.begin(), merges.end(),
            [](const Merge& a, const Merge& b) { return a.left != b.left ? a.left < b.left : a.right < b.right; });
  return merges;
}

}  // namespace

std::string make_tokenizer_section(const Vocabulary& vocabulary) {
  const std::vector<std::uint32_t> sorted = sorted_ids(vocabulary);
  std::string text;
  std::size_t longest = 0;
  for (const std::string& piece : vocabulary.pieces) {
    text += piece;
    longest = std::max(longest, piece.size());
  }
  const std::vector<Merge> merges = sorted_merges(vocabulary);

  std::string out;
  const auto count = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
  append_u32(static_cast<std::uint32_t>(vocabulary.kind), &out);
  append_u32(count(vocabulary.pieces.size()), &out);
  append_u32(count(text.size()), &out);
  append_u32(count(longest), &out);
  append_u32(count(sorted.size()), &out);
  append_u32(static_cast<std::uint32_t>(vocabulary.split), &out);
  append_u32(count(merges.size()), &out);
  append_u32(count(vocabulary.special.size()), &out);
  append_u32(vocabulary.begin, &out);
  append_u32(vocabulary.space_prefix ? 1 : 0, &out);
  out.resize(sizeof(TokenizerHeader));

  std::uint32_t offset = 0;
  append_u32(offset, &out);
  for (const std::string& piece : vocabulary.pieces) append_u32(offset += count(piece.size()), &out);
  for (const std::uint32_t id : sorted) append_u32(id, &out);
  for (std::size_t i = sorted.size(); i < vocabulary.pieces.size(); ++i) append_u32(kNoId, &out);
  for (const std::uint32_t id : vocabulary.byte_id) append_u32(id, &out);
  for (const Merge& merge : merges) {
    for (const std::uint32_t field : {merge.left, merge.right, merge.rank, merge.result}) append_u32(field, &out);
  }
  for (const std::uint32_t id : sorted_specials(vocabulary)) append_u32(id, &out);
  return out + text;
}

}  // namespace minnow::convert
