// text/split and text/unicode_classes: GPT-2's rule on cases from tiktoken, against the rule read literally, and cuts
// that no following text moves.
#include "text/split.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/text/naive_bpe.hpp"
#include "text/unicode_classes.hpp"

namespace minnow::test {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t length = gpt2_part(text);
    REQUIRE(length >= 1);
    REQUIRE(length <= text.size());
    parts.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return parts;
}

using Parts = std::vector<std::string>;

// Characters with their classes, decoded by other code.
struct Decoded {
  CharClass kind;
  std::size_t begin;
};
std::vector<Decoded> decode(const std::string& text) {
  std::vector<Decoded> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(std::string_view(text).substr(at));
    const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[at + i])); };
    std::uint32_t code = 0x110000;  // no UTF-8
    if (length == 1 && byte(0) < 0x80) code = byte(0);
    if (length == 2) code = (byte(0) & 31) << 6 | (byte(1) & 63);
    if (length == 3) code = (byte(0) & 15) << 12 | (byte(1) & 63) << 6 | (byte(2) & 63);
    if (length == 4) code = (byte(0) & 7) << 18 | (byte(1) & 63) << 12 | (byte(2) & 63) << 6 | (byte(3) & 63);
    out.push_back({class_of(code), at});
    at += length == 0 ? 1 : length;
  }
  return out;
}

// The alternatives of the rule, one after another, over decoded characters.
Parts literal_split(const std::string& text) {
  const std::vector<Decoded> c = decode(text);
  const auto run = [&](std::size_t i, CharClass kind) {
    while (i < c.size() && c[i].kind == kind) ++i;
    return i;
  };
  Parts parts;
  for (std::size_t i = 0; i < c.size();) {
    std::size_t end = i;
    for (const std::string word : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
      if (end == i && text.compare(c[i].begin, word.size(), word) == 0) end = i + word.size();
    }
    for (const CharClass kind : {CharClass::letter, CharClass::number, CharClass::other}) {
      if (end != i) break;
      const std::size_t from = text[c[i].begin] == ' ' ? i + 1 : i;
      if (run(from, kind) > from) end = run(from, kind);
    }
    if (end == i) {
      end = run(i, CharClass::space);
      if (end < c.size() && end > i + 1) --end;
    }
    const std::size_t stop = end < c.size() ? c[end].begin : text.size();
    parts.push_back(text.substr(c[i].begin, stop - c[i].begin));
    i = end;
  }
  return parts;
}

const std::vector<std::string> kLetters = {"a",
                                           "s",
                                           "ll",
                                           "re",
                                           "'",
                                           "'",
                                           " ",
                                           " ",
                                           "\n",
                                           "1",
                                           "!",
                                           "\xc3\xa9",
                                           "\xc2\xb2",
                                           "\xc2\xa0",
                                           "\xe3\x80\x80",
                                           "\xe2\x80\x8b",
                                           "\xcc\x81",
                                           "\xe5\xad\x97",
                                           "\xf0\x9f\x98\x80",
                                           "\xff",
                                           "\xe3\x80",
                                           "\xe2",
                                           "\x80",
                                           "\xed\xa0\x80"};

}  // namespace

TEST_CASE("split: contractions, spaces, classes") {
  CHECK(split("I'm we'll'd've") == Parts{"I", "'m", " we", "'ll", "'d", "'ve"});
  CHECK(split("I'M 'S") == Parts{"I", "'", "M", " '", "S"});
  CHECK(split("''s don\xe2\x80\x99t") == Parts{"''", "s", " don", "\xe2\x80\x99", "t"});
  CHECK(split("a   b") == Parts{"a", "  ", " b"});
  CHECK(split("a \n b\n\nc  ") == Parts{"a", " \n", " b", "\n", "\n", "c", "  "});
  CHECK(split("x1\xc2\xb2\xc2\xbd\xe2\x85\xa7 22") == Parts{"x", "1\xc2\xb2\xc2\xbd\xe2\x85\xa7", " 22"});
  CHECK(split("e\xcc\x81!?") == Parts{"e", "\xcc\x81!?"});  // a mark is no letter
  CHECK(split("a\xe3\x80\x80\xe3\x80\x80z") == Parts{"a", "\xe3\x80\x80", "\xe3\x80\x80", "z"});
  CHECK(split("a\xff\xe2\x80") == Parts{"a", "\xff\xe2\x80"});
  CHECK(split("a\xed\xa0\x80z") == Parts{"a", "\xed\xa0\x80", "z"});
}

TEST_CASE("split: as the rule says, on random texts") {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    Dice dice = {seed};
    const std::string text = random_text(dice, kLetters, 1 + dice.below(12));
    wrong += split(text) != literal_split(text);
  }
  CHECK(wrong == 0);
}

TEST_CASE("split: what follows a cut does not change what stands before it") {
  int wrong = 0;
  int cuts = 0;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    Dice dice = {seed};
    const std::string text = random_text(dice, kLetters, 2 + dice.below(12));
    const std::string known = text.substr(0, 1 + dice.below(text.size()));
    const std::size_t cut = gpt2_cut(known, 1 + dice.below(known.size()));
    if (cut == 0) continue;
    ++cuts;
    Parts parts = split(std::string_view(text).substr(0, cut));
    for (const std::string& part : split(std::string_view(text).substr(cut))) parts.push_back(part);
    wrong += parts != split(text);
  }
  CHECK(wrong == 0);
  CHECK(cuts > 5000);
  CHECK(gpt2_cut("abc", 3) == 0);
  CHECK(gpt2_cut("abc def", 7) == 3);
  CHECK(gpt2_cut("abc def", 2) == 0);
  CHECK(gpt2_cut("abc ", 4) == 3);
  CHECK(gpt2_cut("don't", 5) == 3);
  CHECK(gpt2_cut("'s", 2) == 0);
  CHECK(gpt2_cut("a\xe3\x80", 3) == 0);  // may become a space or a letter
}

TEST_CASE("unicode_classes: edges of ranges, and the newest ones") {
  const auto is = [](std::uint32_t code, CharClass kind) { return class_of(code) == kind; };
  for (const std::uint32_t code : {0x41u, 0x5au, 0x61u, 0x7au, 0xaau, 0x4e00u, 0x9fffu, 0xac00u, 0xd7a3u, 0x2fa1du,
                                   0x31350u, 0x323afu, 0x1c89u, 0x2ebf0u}) {
    CAPTURE(code);
    CHECK(is(code, CharClass::letter));
  }
  for (const std::uint32_t code : {0x30u, 0x39u, 0xb2u, 0xbdu, 0x2167u, 0x3007u, 0x1fbf9u, 0x1ccf0u}) {
    CAPTURE(code);
    CHECK(is(code, CharClass::number));
  }
  for (const std::uint32_t code :
       {0x09u, 0x0du, 0x20u, 0x85u, 0xa0u, 0x1680u, 0x2000u, 0x200au, 0x2028u, 0x2029u, 0x202fu, 0x205fu, 0x3000u}) {
    CAPTURE(code);
    CHECK(is(code, CharClass::space));
  }
  for (const std::uint32_t code : {0u, 0x08u, 0x0eu, 0x1cu, 0x40u, 0x5bu, 0x60u, 0x7bu, 0x180eu, 0x200bu, 0x300u,
                                   0xfffdu, 0xfeffu, 0xd800u, 0xe000u, 0x10ffffu, 0x110000u, 0xffffffffu, 0x323b0u}) {
    CAPTURE(code);
    CHECK(is(code, CharClass::other));
  }
}

}  // namespace minnow::test
