// Code points as UTF-8. Depends on the standard library only.
#pragma once

#include <cstdint>
#include <string>

namespace minnow::convert {

// Appends a code point, at most U+10FFFF; a surrogate becomes three bytes like its neighbours.
inline void append_utf8(std::uint32_t c, std::string* out) {
  const auto put = [out](std::uint32_t byte) { *out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  }
}

}  // namespace minnow::convert
