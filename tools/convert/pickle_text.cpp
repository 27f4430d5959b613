// The text forms of pickle protocols 0 and 1: decimal numbers and escaped strings. Depends on pickle_machine.
#include <locale>
#include <sstream>

#include "tools/convert/pickle_machine.hpp"
#include "tools/convert/utf8.hpp"

namespace minnow::convert {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// `digits` hexadecimal digits from text[at].
bool parse_hex(std::string_view text, std::size_t at, std::size_t digits, std::uint32_t* value) {
  if (text.size() - at < digits) return false;
  *value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const int digit = hex_digit(text[at + i]);
    if (digit < 0) return false;
    *value = *value << 4 | static_cast<std::uint32_t>(digit);
  }
  return true;
}

}  // namespace

bool parse_decimal(std::string_view text, std::int64_t* value, bool* too_big) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty()) return false;
  const std::uint64_t limit = static_cast<std::uint64_t>(INT64_MAX) + (negative ? 1 : 0);
  std::uint64_t magnitude = 0;
  *too_big = false;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    const std::uint64_t digit = static_cast<std::uint64_t>(c - '0');
    *too_big = *too_big || magnitude > (limit - digit) / 10;
    magnitude = *too_big ? 0 : magnitude * 10 + digit;
  }
  *value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  return true;
}

bool parse_real(std::string_view text, double* value) {
  std::istringstream in{std::string(text)};
  in.imbue(std::locale::classic());  // a decimal comma elsewhere in the process changes nothing here
  return (in >> *value) && in.peek() == std::istringstream::traits_type::eof();
}

bool decode_python2_string(std::string_view text, std::string* out) {
  if (text.size() < 2 || (text[0] != '\'' && text[0] != '"') || text.back() != text[0]) return false;
  text = text.substr(1, text.size() - 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      *out += text[i];
      continue;
    }
    if (++i == text.size()) return false;
    constexpr std::string_view kLetters = "abfnrtv\\'\"";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"";
    std::uint32_t value = 0;
    if (const std::size_t known = kLetters.find(text[i]); known != std::string_view::npos) {
      *out += kMeanings[known];
    } else if (text[i] == 'x' && parse_hex(text, i + 1, 2, &value)) {
      *out += static_cast<char>(static_cast<unsigned char>(value));
      i += 2;
    } else {
      return false;
    }
  }
  return true;
}

bool decode_raw_unicode_escape(std::string_view text, std::string* out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::uint32_t code_point = static_cast<unsigned char>(text[i]);  // Latin-1
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '\\' && (next == 'u' || next == 'U')) {
      const std::size_t digits = next == 'u' ? 4 : 8;
      if (!parse_hex(text, i + 2, digits, &code_point) || code_point > 0x10ffff) return false;
      i += 1 + digits;
    }
    append_utf8(code_point, out);
  }
  return true;
}

}  // namespace minnow::convert
