// Builds tokenizer sections byte by byte from models/FORMAT.md alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace minnow::test {

struct HandMerge {
  std::uint32_t left, right, rank, result;
};

// Kinds: 1 characters, 2 bytes, 3 byte-level BPE, 4 scored BPE. The fields are open, so that a test can break them;
// finish() fills those that follow from the others.
struct HandTokenizer {
  std::uint32_t kind = 1;
  std::vector<std::string> pieces;
  std::vector<std::uint32_t> byte_id;  // [256], empty in kind 1
  std::vector<HandMerge> merges;
  std::vector<std::uint32_t> special;
  std::uint32_t split = 0;
  std::uint32_t begin = 0;
  std::uint32_t space_prefix = 0;

  std::uint32_t n_tokens = 0;
  std::uint32_t text_bytes = 0;
  std::uint32_t max_piece_bytes = 0;
  std::uint32_t n_pieces = 0;
  std::uint32_t n_merges = 0;
  std::uint32_t n_special = 0;
  std::uint32_t reserved[6] = {};
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> sorted;
  std::string text;

  // `sorted` gets every id but those of bytes in kind 4, and those of `unsorted`.
  HandTokenizer& finish(const std::vector<std::uint32_t>& unsorted = {}) {
    n_tokens = static_cast<std::uint32_t>(pieces.size());
    offsets = {0};
    sorted.clear();
    text.clear();
    max_piece_bytes = 0;
    const auto has = [](const std::vector<std::uint32_t>& ids, std::uint32_t id) {
      return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    for (std::uint32_t id = 0; id < n_tokens; ++id) {
      text += pieces[id];
      offsets.push_back(static_cast<std::uint32_t>(text.size()));
      max_piece_bytes = std::max(max_piece_bytes, static_cast<std::uint32_t>(pieces[id].size()));
      if (!has(unsorted, id) && !(kind == 4 && has(byte_id, id))) sorted.push_back(id);
    }
    std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) { return pieces[a] < pieces[b]; });
    std::sort(merges.begin(), merges.end(), [](const HandMerge& a, const HandMerge& b) {
      return std::make_pair(a.left, a.right) < std::make_pair(b.left, b.right);
    });
    n_pieces = static_cast<std::uint32_t>(sorted.size());
    sorted.resize(n_tokens, 0xffffffffu);
    text_bytes = static_cast<std::uint32_t>(text.size());
    n_merges = static_cast<std::uint32_t>(merges.size());
    n_special = static_cast<std::uint32_t>(special.size());
    return *this;
  }

  std::string section() const {
    std::string raw;
    const auto put = [&](std::uint32_t value) {
      for (unsigned shift = 0; shift < 32; shift += 8) raw += static_cast<char>(value >> shift & 255);
    };
    for (const std::uint32_t field :
         {kind, n_tokens, text_bytes, max_piece_bytes, n_pieces, split, n_merges, n_special, begin, space_prefix}) {
      put(field);
    }
    for (const std::uint32_t word : reserved) put(word);
    for (const auto* ids : {&offsets, &sorted, &byte_id}) {
      for (const std::uint32_t id : *ids) put(id);
    }
    for (const HandMerge& m : merges) put(m.left), put(m.right), put(m.rank), put(m.result);
    for (const std::uint32_t id : special) put(id);
    return raw + text;
  }
};

}  // namespace minnow::test
