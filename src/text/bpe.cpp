#include "text/bpe.hpp"

#include <cstring>

#include "base/check.hpp"
#include "text/utf8.hpp"

namespace minnow {

Bpe::Bpe(const TokenizerView& view, Merging* merging) noexcept
    : view_(view), m_(*merging), by_character_(view.header->kind == TokenizerKind::scored_bpe) {}

// Where atoms are characters, bytes of one that `sorted` lacks merge with nothing (check_tokenizer.cpp).
bool Bpe::is_byte_of_character(std::uint32_t id) const noexcept {
  const std::string_view bytes = piece(id);
  return by_character_ && bytes.size() == 1 && view_.byte_id[static_cast<unsigned char>(bytes[0])] == id;
}

// Adds the atoms of the character at part[at]: its own id, or those of its bytes. False if it has none.
bool Bpe::add_character(const Part& part, std::size_t at, std::size_t* length) noexcept {
  char bytes[4];
  std::size_t size = 0;
  for (; size < 4 && at + size < part.size(); ++size) bytes[size] = part[at + size];
  *length = utf8_length({bytes, size});
  if (*length == 0) *length = 1;  // the part ends inside a character
  if (static_cast<unsigned char>(bytes[0]) < 0x80 || *length > 1) {
    const std::uint32_t id = find_piece(view_, {bytes, *length});
    if (id != kNoPiece) {
      m_.ids[m_.count++] = id;
      return true;
    }
  }
  for (std::size_t i = 0; i < *length; ++i) {
    const std::uint32_t id = view_.byte_id[static_cast<unsigned char>(bytes[i])];
    if (id == kNoId) {
      m_.count -= i;
      return false;
    }
    m_.ids[m_.count++] = id;
  }
  return true;
}

// Adds the atoms of part[begin ..) while there are fewer than `limit`, of whole characters. *end is where that ended;
// false if the character there has no id.
bool Bpe::load(const Part& part, std::size_t begin, std::size_t limit, std::size_t* end) noexcept {
  std::size_t at = begin;
  bool known = true;
  if (by_character_) {
    for (std::size_t length = 0; at < part.size() && m_.count + 3 < limit; at += length) {
      known = add_character(part, at, &length);
      if (!known) break;
    }
  } else {
    for (; at < part.size() && m_.count < limit; ++at) {
      m_.ids[m_.count++] = view_.byte_id[static_cast<unsigned char>(part[at])];
    }
  }
  *end = at;
  return known;
}

// The merge of the two, or null.
const Merge* Bpe::find_merge(std::uint32_t left, std::uint32_t right) const noexcept {
  const Merge* begin = view_.merges;
  std::size_t count = view_.header->n_merges;
  while (count > 1) {  // the last that is not above (left, right) is in [begin, begin + count)
    const std::size_t half = count / 2;
    const Merge& middle = begin[half];
    const bool above = middle.left > left || (middle.left == left && middle.right > right);
    begin = above ? begin : begin + half;
    count -= half;
  }
  return count == 1 && begin->left == left && begin->right == right ? begin : nullptr;
}

// Notes the merge of the id at i and the next one.
void Bpe::note_merge(std::size_t i) noexcept {
  const std::size_t next = m_.next[i];
  const Merge* const found = next < m_.count ? find_merge(m_.ids[i], m_.ids[next]) : nullptr;
  m_.ranks[i] = found == nullptr ? kNoId : found->rank;
  m_.results[i] = found == nullptr ? kNoId : found->result;
}

void Bpe::note_lowest(std::size_t block) noexcept {
  const std::size_t begin = block * Merging::kBlock;
  const std::size_t end = m_.count - begin < Merging::kBlock ? m_.count : begin + Merging::kBlock;
  std::uint32_t lowest = kNoId;
  for (std::size_t i = begin; i < end; ++i) lowest = m_.ranks[i] < lowest ? m_.ranks[i] : lowest;
  m_.lowest[block] = lowest;
}

// Merges the id at i and the next one.
void Bpe::merge_pair(std::size_t i) noexcept {
  const std::size_t gone = m_.next[i];
  const std::size_t next = m_.next[gone];
  m_.ids[i] = m_.results[i];
  m_.ranks[gone] = kNoId;
  m_.next[i] = static_cast<std::uint16_t>(next);
  if (next < m_.count) m_.before[next] = static_cast<std::uint16_t>(i);
  note_merge(i);
  const std::size_t block = i / Merging::kBlock;
  std::size_t first = block;
  if (i > 0) {
    note_merge(m_.before[i]);
    first = m_.before[i] / Merging::kBlock;
  }
  if (first != block) note_lowest(first);
  note_lowest(block);
  if (gone / Merging::kBlock != block) note_lowest(gone / Merging::kBlock);
}

// Merges all that can be. The lowest rank is looked for in the blocks' lowest ones.
void Bpe::merge() noexcept {
  const std::size_t blocks = (m_.count + Merging::kBlock - 1) / Merging::kBlock;
  for (std::size_t i = 0; i < m_.count; ++i) {
    m_.next[i] = static_cast<std::uint16_t>(i + 1);
    m_.before[i] = static_cast<std::uint16_t>(i == 0 ? 0 : i - 1);
    note_merge(i);
  }
  for (std::size_t block = 0; block < blocks; ++block) note_lowest(block);
  while (true) {
    std::size_t block = 0;
    for (std::size_t i = 1; i < blocks; ++i) block = m_.lowest[i] < m_.lowest[block] ? i : block;
    if (blocks == 0 || m_.lowest[block] == kNoId) break;
    std::size_t best = block * Merging::kBlock;
    while (m_.ranks[best] != m_.lowest[block]) ++best;
    merge_pair(best);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < m_.count; i = m_.next[i]) m_.ids[kept++] = m_.ids[i];
  m_.count = kept;
}

// Whether `token` is the encoding of its piece.
bool Bpe::is_encoding(std::uint32_t token) noexcept {
  if (is_byte_of_character(token)) return true;
  const Part part = {piece(token)};
  std::size_t end = 0;
  m_.count = 0;
  if (part.size() > kMaxMergedBytes || !load(part, 0, kMaxAtoms, &end)) return false;
  merge();
  return m_.count == 1 && m_.ids[0] == token;
}

// Whether the two are the encoding of their pieces; each alone is of its own.
bool Bpe::joins(std::uint32_t left, std::uint32_t right) noexcept {
  if (is_byte_of_character(left) || is_byte_of_character(right)) return true;
  if (find_merge(left, right) != nullptr) return false;
  std::size_t end = 0;
  m_.count = 0;
  load({piece(left)}, 0, kMaxAtoms, &end);
  load({piece(right)}, 0, kMaxAtoms, &end);
  merge();
  return m_.count == 2 && m_.ids[0] == left && m_.ids[1] == right;
}

Status Bpe::encode(const Part& part, Span<Token> out, std::size_t* tokens, std::size_t* bytes) noexcept {
  if (part.size() > kWindow) {
    const Status status = encode_in_windows(part, kWindow, out, tokens, bytes);
    return status == Status::unsupported ? encode_forward(part, out, tokens, bytes) : status;
  }
  m_.count = 0;
  if (!load(part, 0, kMaxAtoms, bytes)) return Status::bad_argument;
  merge();
  if (m_.count > out.size()) return Status::output_too_small;
  for (std::size_t i = 0; i < m_.count; ++i) out[i] = static_cast<Token>(m_.ids[i]);
  *tokens = m_.count;
  return Status::ok;
}

// A window is encoded by itself; where it joins what stands before it, both stay. Its last tokens may be other ones
// with more text behind them, so the next window begins before those. Where it does not join, it begins further back.
Status Bpe::encode_in_windows(const Part& part, std::size_t window, Span<Token> out, std::size_t* tokens,
                              std::size_t* bytes) noexcept {
  const std::size_t longest =
      view_.header->max_piece_bytes < kMaxMergedBytes ? view_.header->max_piece_bytes : kMaxMergedBytes;
  const std::size_t tail = longest > window / 8 ? longest : window / 8;
  std::size_t count = 0;     // of tokens before the window
  std::size_t begin = 0;     // of the window
  std::size_t frontier = 0;  // the furthest begin so far
  std::size_t back = tail;   // to step back if it does not join
  while (true) {
    std::size_t end = 0;
    m_.count = 0;
    const bool known = load(part, begin, window, &end);
    *bytes = end;
    if (!known) return Status::bad_argument;
    merge();
    const std::size_t added = m_.count;
    if (added > out.size() - count) return Status::output_too_small;
    for (std::size_t i = 0; i < added; ++i) out[count + i] = static_cast<Token>(m_.ids[i]);
    const auto id = [&](std::size_t i) { return static_cast<std::uint32_t>(out[i]); };

    if (count > 0 && !joins(id(count - 1), id(count))) {
      for (std::size_t stepped = 0; stepped < back && count > 0;)
        stepped += piece(id(--count)).size(), begin -= piece(id(count)).size();
      back *= 2;
      if (frontier - begin > window / 2) return Status::unsupported;
      continue;
    }
    count += added;
    begin = end;
    if (end == part.size()) break;
    for (std::size_t dropped = 0; dropped < tail && count > 0;) {
      const std::size_t length = piece(id(--count)).size();
      dropped += length;
      begin -= length;
    }
    if (begin <= frontier) return Status::unsupported;
    frontier = begin;
    back = tail;
  }
  *tokens = count;
  return Status::ok;
}

// Answers of joins() for pairs seen before, and of is_encoding() for single tokens, in a table where a new question
// takes the place of an old one: 16 KiB on the stack.
struct Bpe::Joints {
  static constexpr unsigned kBits = 11;
  struct Entry {
    std::uint32_t left;              // kNoId: none
    std::uint32_t right_and_answer;  // the id times 2, plus the answer; no id is 2^31 - 1
  };
  Entry entries[1u << kBits];

  Joints() noexcept {
    for (Entry& entry : entries) entry = {kNoId, kNoId};
  }
  bool ask(Bpe* bpe, std::uint32_t left, std::uint32_t right) noexcept {
    Entry& entry = entries[(left * 0x9e3779b1u ^ right * 0x85ebca6bu) >> (32 - kBits)];
    if (entry.left != left || entry.right_and_answer >> 1 != right) {
      const bool answer = left == kNoId ? bpe->is_encoding(right) : bpe->joins(left, right);
      entry = {left, right << 1 | (answer ? 1u : 0u)};
    }
    return (entry.right_and_answer & 1) != 0;
  }
};

// Every beginning of the text has exactly one last token in its encoding. last[p] becomes the one of the beginning that
// ends behind p: found from the shorter beginning that it follows, it is a token that joins that one's last. A place
// that is inside a character that is an atom is no end of a beginning, and stays kNoId.
Status Bpe::encode_forward(const Part& part, Span<Token> out, std::size_t* tokens, std::size_t* bytes) noexcept {
  constexpr Token kNone = -1;
  const std::size_t size = part.size();
  *bytes = size;
  if (size > out.size()) return Status::output_too_small;
  Joints joints;
  const Span<Token> last = out.first(size);
  for (Token& token : last) token = kNone;
  for (std::size_t at = 0; at < size; ++at) {
    if (at > 0 && last[at - 1] == kNone) continue;
    if (by_character_) {
      std::size_t length = 0;
      m_.count = 0;
      if (!add_character(part, at, &length)) {
        *bytes = at;
        return Status::bad_argument;
      }
      // Bytes of a character join everything.
      if (is_byte_of_character(m_.ids[0])) last[at] = static_cast<Token>(m_.ids[0]);
    }
    try_tokens(part, at, at == 0 ? kNoId : static_cast<std::uint32_t>(last[at - 1]), &joints, last);
  }
  // From the last one back, into the right end of the same memory: no token is longer than what it writes.
  std::size_t begin = size;
  for (std::size_t end = size; end > 0;) {
    const Token token = last[end - 1];
    MINNOW_ASSERT(token != kNone);
    end -= piece(static_cast<std::uint32_t>(token)).size();
    out[--begin] = token;
  }
  *tokens = size - begin;
  std::memmove(out.data(), out.data() + begin, *tokens * sizeof(Token));
  return Status::ok;
}

// Notes every token that begins at part[at] and joins `before`, the last one of what ends there (kNoId: nothing does).
void Bpe::try_tokens(const Part& part, std::size_t at, std::uint32_t before, Joints* joints,
                     Span<Token> last) noexcept {
  if (before != kNoId && is_byte_of_character(before)) before = kNoId;
  Narrowing pieces(view_);
  for (std::size_t end = at; end < part.size() && end - at < kMaxMergedBytes && pieces.add(part[end]); ++end) {
    const std::uint32_t token = pieces.whole();
    if (token == kNoPiece || last[end] >= 0) continue;
    if (joints->ask(this, before, token)) last[end] = static_cast<Token>(token);
  }
}

}  // namespace minnow
