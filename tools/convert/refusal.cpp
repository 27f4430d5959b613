// Names of untrusted origin in messages. Depends on nothing.
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

std::string quoted(std::string_view name) {
  static const char kHex[] = "0123456789abcdef";
  constexpr std::size_t kLongest = 80;
  std::string out = "\"";
  for (const char c : name.substr(0, kLongest)) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\') {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + (name.size() > kLongest ? "...\"" : "\"");
}

}  // namespace minnow::convert
