// tools/convert/llama2_tokenizer.cpp: tokenizer.bin, its merges by scores, its bytes.
#include "tools/convert/llama2_tokenizer.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>

#include "tests/convert/support.hpp"
#include "tests/convert/vocabularies.hpp"
#include "tools/convert/vocabulary_readers.hpp"

namespace minnow::convert::test {

namespace {

using Ids = std::vector<std::uint32_t>;

std::vector<ScoredPiece> with_control(const std::vector<ScoredPiece>& more) {
  std::vector<ScoredPiece> pieces = {{"<unk>", 0}, {"\n<s>\n", 0}, {"\n</s>\n", 0}};
  pieces.insert(pieces.end(), more.begin(), more.end());
  return pieces;
}

std::string refused(const std::string& bytes) {
  return refusal_of([&] { static_cast<void>(read_llama2_tokenizer(bytes)); });
}

}  // namespace

TEST_CASE("tokenizer.bin: every text has the ids that llama2.c's rule gives") {
  for (const char* name : {"pieces/tokenizer.bin", "old/tokenizer.bin"}) {
    const std::string bytes = read_file(vocabulary_fixture(name));
    CHECK(looks_like_llama2_tokenizer(bytes));
    const Vocabulary v = read_llama2_tokenizer(bytes);
    CHECK(v.kind == TokenizerKind::scored_bpe);
    CHECK(v.pieces.size() == 400);
    CHECK(v.begin == 2);
    CHECK(v.space_prefix);
    CHECK(v.special.empty());
    CHECK(v.byte_id['\n'] == 13);
    CHECK(v.pieces[13] == "\n");
    for (const EncodedText& text : read_encoded_texts("pieces.txt")) {
      CHECK(encode_part(v, text.text.empty() ? "" : " " + text.text) == text.ids);
    }
  }
}

TEST_CASE("tokenizer.bin: the best score first, of equals the leftmost") {
  const Vocabulary v = read_llama2_tokenizer(llama2_tokenizer(with_control(
      {{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -2}, {"bc", -1}, {"ca", -2}, {"abc", -5}, {"never", -1e30f}})));
  CHECK(encode_part(v, "abc") == Ids{9});      // a bc: then the whole
  CHECK(encode_part(v, "cab") == Ids{8, 4});   // ca and ab are equal
  CHECK(encode_part(v, "abca") == Ids{9, 3});  // bc is the best, then abc before ca
  CHECK_FALSE(v.space_prefix);                 // nothing to put there
}

TEST_CASE("tokenizer.bin: text never becomes a control piece, nor merges with a byte") {
  std::vector<ScoredPiece> pieces = with_control({});
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
    pieces.push_back({name, 0});
  }
  for (const char* piece : {"<", "u", "n", "k", ">", "<u", "nk", "nk>", "A", "AB"}) pieces.push_back({piece, -1});
  const Vocabulary v = read_llama2_tokenizer(llama2_tokenizer(pieces));
  CHECK(encode_part(v, "<unk>") == Ids{264, 266});
  CHECK(encode_part(v, "AB") == Ids{267, 3 + 'B'});  // B is but a byte
  CHECK(v.pieces[3 + 0xe9] == "\xe9");
  CHECK(v.space_prefix);
}

TEST_CASE("tokenizer.bin: bytes as the first versions wrote them") {
  std::vector<ScoredPiece> pieces = with_control({});
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string character(1, static_cast<char>(byte));
    if (byte >= 0x80) character = {static_cast<char>(0xc0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3f))};
    pieces.push_back({character, 0});
  }
  pieces.push_back({"e", -1});
  pieces.push_back({"\u00e9", -2});
  const Vocabulary v = read_llama2_tokenizer(llama2_tokenizer(pieces));
  CHECK(v.byte_id[0xe9] == 3 + 0xe9);
  CHECK(v.pieces[3 + 0xe9] == "\xe9");
  CHECK(encode_part(v, "e\u00e9f") == Ids{259, 260, 3 + 'f'});
}

TEST_CASE("tokenizer.bin: what is refused") {
  const std::string whole = llama2_tokenizer(with_control({{"a", -1}, {"b", -2}}));
  CHECK(refused(whole).empty());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {  // a cut between pieces is found by their number only
    const bool between = bytes == whole.size() - 9;
    CHECK(refused(whole.substr(0, bytes)).empty() == between);
  }
  CHECK(contains(refused(whole.substr(0, whole.size() - 1)), "the piece of id 4 at byte"));
  CHECK(contains(refused(whole + "x"), "the piece of id 5"));
  CHECK(contains(refused(llama2_tokenizer(with_control({{"a", -1}, {"", -2}}))), "the piece of id 4"));
  CHECK(contains(refused(llama2_tokenizer(with_control({{"a", -1}, {"b", NAN}}))), "the piece of id 4"));
  CHECK(contains(refused(llama2_tokenizer(with_control({{"a", -1}, {"a", -2}}))),
                 "two ids mean \"a\", the later one is 4"));
  CHECK(contains(refused(llama2_tokenizer(with_control({}))), "there are 3 pieces"));
}

}  // namespace minnow::convert::test
