// text/utf8.hpp: against a table of sequences, and every two-byte beginning.
#include "text/utf8.hpp"

#include <doctest/doctest.h>

#include <string>

namespace minnow {

TEST_CASE("utf8: lengths of characters") {
  using namespace std::string_view_literals;
  CHECK(utf8_length("a") == 1);
  CHECK(utf8_length("\0"sv) == 1);
  CHECK(utf8_length("\xc3\xa9z") == 2);         // U+00E9
  CHECK(utf8_length("\xe2\x82\xac") == 3);      // U+20AC
  CHECK(utf8_length("\xf0\x9f\x98\x80") == 4);  // U+1F600
  CHECK(utf8_length("\xc3") == 0);
  CHECK(utf8_length("\xe2\x82") == 0);
  CHECK(utf8_length("\xf0\x9f\x98") == 0);
}

TEST_CASE("utf8: what is not well-formed counts as single bytes") {
  for (const char* bad : {"\x80", "\xbf", "\xc0\xaf", "\xc1\xbf", "\xf5\x80\x80\x80", "\xff", "\xc3z", "\xe2\x82z",
                          "\xe0\x9f\x80", "\xed\xa0\x80", "\xf0\x8f\x80\x80", "\xf4\x90\x80\x80", "\xc3\xc3"}) {
    CAPTURE(std::string(bad));
    CHECK(utf8_length(bad) == 1);
  }
}

// A decoder that knows code points: encodes every one and looks at all its beginnings.
TEST_CASE("utf8: every code point, whole and cut") {
  int wrong = 0;
  for (unsigned code = 0; code <= 0x10ffff; ++code) {
    if (code >= 0xd800 && code < 0xe000) continue;
    std::string text;
    const auto put = [&](unsigned byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xc0 | code >> 6), put(0x80 | (code & 63));
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
    } else {
      put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 63)), put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
    }
    wrong += utf8_length(text + "x") != text.size() || utf8_unfinished("x" + text) != 0;
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const std::string begun = text.substr(0, cut);
      wrong += utf8_length(begun) != 0 || utf8_unfinished("\xe2" + begun) != cut;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("utf8: whole texts") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"));
  for (const char* const bad : {"a\xff", "\x80z", "a\xc3", "\xe2\x82", "\xed\xa0\x80", "\xc0\x80"}) {
    CAPTURE(bad);
    CHECK(!is_utf8(bad));
  }
}

TEST_CASE("utf8: an end that cannot become a character is not held back") {
  CHECK(utf8_unfinished("") == 0);
  CHECK(utf8_unfinished("\x80\x80\x80") == 0);
  CHECK(utf8_unfinished("\xe0\x9f") == 0);
  CHECK(utf8_unfinished("\xed\xa0") == 0);
  CHECK(utf8_unfinished("\xf0\x9f\xc3") == 1);
}

}  // namespace minnow
