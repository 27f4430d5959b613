// For the tests of vocabularies: the fixtures' texts and ids, and an encoder of a Vocabulary that is as plain as the
// definition in model/format.hpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/convert/vocabulary.hpp"

namespace minnow::convert::test {

inline std::string vocabulary_fixture(const std::string& name) { return "tests/fixtures/vocabularies/" + name; }

struct EncodedText {
  std::string text;
  std::vector<std::uint32_t> ids;
};
std::vector<EncodedText> read_encoded_texts(const std::string& name);  // gpt2.txt, pieces.txt

// The ids of one part of a text, which no split divides.
std::vector<std::uint32_t> encode_part(const Vocabulary& vocabulary, const std::string& part);

// What a Refusal says that `action` throws; empty if it throws none.
std::string refusal_of(const std::function<void()>& action);

// A line of a rank file.
std::string rank_line(const std::string& piece, std::size_t rank);
std::string all_byte_ranks();  // of 256 lines, the bytes in order

// tokenizer.bin: the pieces with their scores, behind the longest length.
struct ScoredPiece {
  std::string text;
  float score;
};
std::string llama2_tokenizer(const std::vector<ScoredPiece>& pieces);

}  // namespace minnow::convert::test
