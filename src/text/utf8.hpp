// Boundaries of UTF-8 characters. Bytes that are no UTF-8 count as characters of one byte each. Depends on nothing.
#pragma once

#include <cstddef>
#include <string_view>

namespace minnow {

// How many bytes the character takes that begins at text[0], 1 .. 4; 0 if `text` ends inside it. text is not empty.
// (The Unicode Standard, table 3-7: well-formed UTF-8 byte sequences.)
constexpr std::size_t utf8_length(std::string_view text) noexcept {
  const unsigned lead = static_cast<unsigned char>(text[0]);
  if (lead < 0xc2 || lead > 0xf4) return 1;  // ASCII, or a byte that begins nothing
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;   // no overlong forms
  unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;  // no surrogates, nothing past U+10FFFF
  for (std::size_t i = 1; i < length; ++i) {
    if (i == text.size()) return 0;
    const unsigned byte = static_cast<unsigned char>(text[i]);
    if (byte < low || byte > high) return 1;
    low = 0x80;
    high = 0xbf;
  }
  return length;
}

// Bytes at the end of `text` that begin a character without finishing it, 0 .. 3.
constexpr std::size_t utf8_unfinished(std::string_view text) noexcept {
  for (std::size_t back = text.size() < 3 ? text.size() : 3; back > 0; --back) {
    if (utf8_length({text.data() + (text.size() - back), back}) == 0) return back;
  }
  return 0;
}

// Whether all of `text` is whole characters.
constexpr bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || (length == 1 && static_cast<unsigned char>(text[0]) >= 0x80)) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace minnow
