// tools/convert/bpe_files.cpp: vocab.bpe alone, merges.txt with vocab.json and added_tokens.json.
#include <doctest/doctest.h>

#include "tests/convert/support.hpp"
#include "tests/convert/vocabularies.hpp"
#include "tools/convert/byte_level.hpp"
#include "tools/convert/vocabulary_readers.hpp"

namespace minnow::convert::test {

namespace {

std::string refused(const std::string& merges) {
  return refusal_of([&] { static_cast<void>(read_merges(merges, 1000)); });
}

// {"token": id, ..} of the 256 bytes from `first` on, then of `more`.
std::string ids_json(int first, const std::string& more) {
  const ByteSymbols symbols;
  std::string out = "{";
  for (int byte = 0; byte < 256; ++byte) {
    const std::string symbol = symbols.symbol(static_cast<unsigned>(byte));
    out += "\"" + std::string(symbol == "\"" || symbol == "\\" ? "\\" : "") + symbol +
           "\": " + std::to_string(first + byte);
    out += byte < 255 ? ", " : more + "}";
  }
  return out;
}

std::string refused_pair(const std::string& merges, const std::string& ids, const std::string& added = "") {
  return refusal_of([&] { static_cast<void>(read_merges_with_ids({merges, ids, added})); });
}

}  // namespace

TEST_CASE("vocab.bpe: the ids are bytes, merges, end of text") {
  const Vocabulary v = read_merges("#version: 0.2\n\u0120 t\n\u0120t h\n", 1000);
  REQUIRE(v.pieces.size() == 259);
  CHECK(v.pieces[0] == "!");
  CHECK(v.pieces[220] == " ");
  CHECK(v.pieces[256] == " t");
  CHECK(v.pieces[257] == " th");
  CHECK(v.pieces[258] == "<|endoftext|>");
  CHECK(v.special == std::vector<std::uint32_t>{258});
  CHECK(v.merges.size() == 2);
  CHECK(encode_part(v, " the") == std::vector<std::uint32_t>{257, 68});
}

TEST_CASE("vocab.bpe: line ends, a missing version, a byte order mark, no row for the end of text") {
  const std::string section = make_tokenizer_section(read_merges("#version: 0.2\na b\nab c\n", 259));
  CHECK(make_tokenizer_section(read_merges("a b\nab c\n", 259)) == section);
  CHECK(make_tokenizer_section(read_merges("a b\nab c", 259)) == section);
  CHECK(make_tokenizer_section(read_merges("#version: 0.2\r\na b\r\nab c\r\n\r\n\n", 259)) == section);
  CHECK(make_tokenizer_section(read_merges("\xef\xbb\xbf#version: 0.2\na b\nab c\n", 1u << 20)) == section);
  CHECK(read_merges("a b\nab c\n", 258).pieces.size() == 258);
  CHECK(read_merges("a b\nab c\n", 258).special.empty());
}

TEST_CASE("vocab.bpe: refused with the line") {
  CHECK(contains(refused(""), "there are no merges"));
  CHECK(contains(refused("#version: 0.2\n"), "there are no merges"));
  CHECK(contains(refused("#version: 0.2\na b\nab\n"), "line 3 is \"ab\"; expected a merge"));
  CHECK(contains(refused("a b c\n"), "line 1 is \"a b c\""));
  CHECK(contains(refused("a  b\n"), "line 1 is \"a  b\""));
  CHECK(contains(refused(" a b\n"), "line 1 is \" a b\""));
  CHECK(contains(refused("a b \n"), "line 1 is \"a b \""));
  CHECK(contains(refused("a b\n\nab c\n"), "line 2 is empty"));
  CHECK(contains(refused("a b\nabc d\n"), "line 2: merges \"abc\", which is no token"));
  CHECK(contains(refused("ab c\na b\n"), "line 1: merges \"ab\", which is no token"));
  CHECK(contains(refused("a b\na b\n"), "line 2: the token \"ab\" is there twice"));
  CHECK(contains(refused("a b\nb c\nab c\na bc\n"), "line 4: the token \"abc\" is there twice"));
  CHECK(contains(refused("a \t\n"), "line 1: the token \"a\\x09\" has a character that stands for no byte"));
}

TEST_CASE("merges.txt with vocab.json: the ids are the file's") {
  const std::string more = ", \"ab\": 258, \"<pad>\": 0, \"abc\": 259, \"<|endoftext|>\": 1, \"unused\": 260";
  const Vocabulary v = read_merges_with_ids({"a b\nab c\n", ids_json(2, more), ""});
  CHECK(v.pieces.size() == 261);
  CHECK(v.pieces[2] == std::string(1, '\0'));
  CHECK(v.pieces[258] == "ab");
  CHECK(v.pieces[260] == "unused");
  CHECK(v.special == std::vector<std::uint32_t>{0, 1});
  CHECK(v.byte_id['a'] == 2 + 'a');
  CHECK(encode_part(v, "abc") == std::vector<std::uint32_t>{259});
  CHECK(encode_part(v, "<pad>").size() == 5);
}

TEST_CASE("merges.txt with vocab.json: escapes, a token that looks special but is merged") {
  const std::string more = ", \"<\\u0061\": 256, \"<a>\": 257, \"\\u0120a\": 258";
  const Vocabulary v = read_merges_with_ids({"< a\n<a >\n\u0120 a\n", ids_json(0, more), ""});
  CHECK(v.special.empty());
  CHECK(v.pieces[258] == " a");
  CHECK(encode_part(v, "<a>") == std::vector<std::uint32_t>{257});
}

TEST_CASE("merges.txt with vocab.json: two ways to one token") {
  const std::string more = ", \"ab\": 256, \"bc\": 257, \"abc\": 258";
  const Vocabulary v = read_merges_with_ids({"a b\nb c\na bc\nab c\n", ids_json(0, more), ""});
  CHECK(v.merges.size() == 3);
  CHECK(encode_part(v, "abc") == std::vector<std::uint32_t>{258});
}

TEST_CASE("added_tokens.json: special tokens with ids, whatever they look like") {
  const std::string added = "{\"the end\": 257, \"<x>\": 256}";
  const Vocabulary v = read_merges_with_ids({"a b\n", ids_json(0, ", \"ab\": 258, \"<x>\": 256"), added});
  CHECK(v.special == std::vector<std::uint32_t>{256, 257});
  CHECK(v.pieces[257] == "the end");
  CHECK(contains(refused_pair("a b\n", ids_json(0, ", \"ab\": 256, \"<x>\": 257"), "{\"<x>\": 258}"),
                 "has the id 257 but 258 in added_tokens.json"));
}

TEST_CASE("merges.txt with vocab.json: what is refused") {
  CHECK(contains(refused_pair("a b\n", ids_json(0, "")), "line 1: makes \"ab\", which has no id"));
  CHECK(contains(refused_pair("a b\n", ids_json(0, ", \"ab\": 257")), "the token \"ab\" has the id 257 among 257"));
  CHECK(contains(refused_pair("a b\n", ids_json(0, ", \"ab\": -1")), "has the id -1"));
  CHECK(contains(refused_pair("a b\n", ids_json(0, ", \"ab\": 97")), "two tokens have the id 97"));
  CHECK(contains(refused_pair("a b\n", ids_json(0, ", \"ab\": \"x\"")), "the id of \"ab\" is a string"));
  CHECK(contains(refused_pair("a b\n", ids_json(0, ", \"ab\": 256.5")), "the id of \"ab\" is"));
  CHECK(contains(refused_pair("a b\n", ids_json(0, ", \"a b\": 256")), "a character that stands for no byte"));
  CHECK(contains(refused_pair("a b\n", ids_json(0, ", \"ab\": 256, \"ab\": 257")), "ab"));
  CHECK(contains(refused_pair("a b\n", "[]"), "the vocabulary is an array; expected an object"));
  CHECK(contains(refused_pair("a b\n", "{\"a\": 0, \"b\": 1, \"ab\": 2}"), "no token is the single byte 0"));
  CHECK(contains(refused_pair("a b\na b\n", ids_json(0, ", \"ab\": 256")), "two merges are of \"a\" and \"b\""));
}

}  // namespace minnow::convert::test
