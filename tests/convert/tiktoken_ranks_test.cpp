// tools/convert/tiktoken_ranks.cpp: rank files.
#include "tools/convert/tiktoken_ranks.hpp"

#include <doctest/doctest.h>

#include "tests/convert/support.hpp"
#include "tests/convert/vocabularies.hpp"
#include "tools/convert/vocabulary_readers.hpp"

namespace minnow::convert::test {

namespace {

std::string refused(const std::string& bytes) {
  return refusal_of([&] { static_cast<void>(read_ranks(bytes, 1000)); });
}

}  // namespace

TEST_CASE("rank file: one line") {
  std::string piece;
  std::uint32_t rank = 0;
  CHECK(decode_rank_line("IQ== 0", &piece, &rank));
  CHECK(piece == "!");
  CHECK(rank == 0);
  CHECK(decode_rank_line("/+8A 50255", &piece, &rank));
  CHECK(piece == std::string("\xff\xef\0", 3));
  CHECK(rank == 50255);
  for (std::size_t length = 1; length < 9; ++length) {
    const std::string bytes = std::string("\x00\xff\x7f\x80 a\n\r", 8).substr(0, length);
    std::string line = rank_line(bytes, length);
    line.pop_back();
    CHECK(decode_rank_line(line, &piece, &rank));
    CHECK(piece == bytes);
  }
  for (const char* line : {"", " ", "IQ==", "IQ== ", " 0", "IQ==  0", "IQ== 0 ", "IQ== -1", "IQ== 1a", "IQ= 0", "IQ 0",
                           "I=== 0", "IQ=A 0", "==== 0", "IR== 0", "IQ=\xc3 0", "IQ== 9999999999"}) {
    CHECK_FALSE(decode_rank_line(line, &piece, &rank));
  }
}

TEST_CASE("rank file: ids are ranks, the end of text behind them where there is room") {
  const std::string file = all_byte_ranks() + rank_line("ab", 256) + rank_line("abc", 257) + rank_line("xyz", 258);
  const Vocabulary v = read_ranks(file, 320);
  REQUIRE(v.pieces.size() == 260);
  CHECK(v.pieces[257] == "abc");
  CHECK(v.pieces[259] == "<|endoftext|>");
  CHECK(v.special == std::vector<std::uint32_t>{259});
  CHECK(v.merges.size() == 2);  // nothing leads to xyz
  CHECK(encode_part(v, "abc") == std::vector<std::uint32_t>{257});
  CHECK(encode_part(v, "xyz") == std::vector<std::uint32_t>{'x', 'y', 'z'});
  CHECK_FALSE(v.note.empty());
  CHECK(read_ranks(file, 259).pieces.size() == 259);
  CHECK(read_ranks(file, 259).special.empty());
}

TEST_CASE("rank file: what is refused") {
  const std::string bytes = all_byte_ranks();
  CHECK(contains(refused(bytes + "YWI= 257\n"), "line 257 has the rank 257; expected 256"));
  CHECK(contains(refused(bytes + "YWI= 255\n"), "line 257 has the rank 255"));
  CHECK(contains(refused(bytes + "YWI 256\n"), "line 257 is \"YWI 256\"; expected a token in base64"));
  CHECK(contains(refused(bytes + rank_line("a", 256)), "two ids mean \"a\", the later one is 256"));
  CHECK(contains(refused(rank_line("a", 0)), "no token is the single byte 0;"));
  CHECK(contains(refused(""), "no token"));
  for (const char* piece : {";\n", "a.", "1a", "\n\na", "  a", "a\u0301", "'S"}) {
    std::string file = bytes;
    for (std::size_t length = 2; length <= std::string(piece).size(); ++length) {
      file += rank_line(std::string(piece).substr(0, length), 254 + length);
    }
    CHECK_MESSAGE(contains(refused(file), "goes across what GPT-2 splits"), piece);
  }
  for (const char* piece : {" a", "\n\n", "''", "'s", " '", "\u00e9\u00df", "\u0661\u0662", " \u4e00", "\u3000 "}) {
    std::string file = bytes;
    for (std::size_t length = 2; length <= std::string(piece).size(); ++length) {
      file += rank_line(std::string(piece).substr(0, length), 254 + length);
    }
    CHECK_MESSAGE(refused(file).empty(), piece);
  }
  std::string large = bytes;
  std::size_t rank = 256;
  for (; rank < 50256; ++rank) large += rank_line(number(rank, 3), rank);
  CHECK(contains(
      refused(large + rank_line("   ", 50257)),
      "line 50257 has the rank 50257, as in the vocabularies p50k_base and p50k_edit, which have more tokens"));
  CHECK(contains(refused(large + rank_line("   ", 50258)), "has the rank 50258; expected 50256"));
  for (; rank < 100256; ++rank) large += rank_line(number(rank, 3), rank);
  CHECK(contains(refused(large), "100256 ranks, as in the vocabulary cl100k_base, which splits text in another way"));
}

}  // namespace minnow::convert::test
