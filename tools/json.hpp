// Writing JSON: objects with a stable order of keys, numbers that read back equal. Numbers get a decimal point because
// the program never calls setlocale().
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "text/utf8.hpp"

namespace minnow {

// A JSON string with its quotes. A byte that is no UTF-8 becomes U+FFFD, and *lossy_or_null then turns true.
inline std::string json_string(std::string_view text, bool* lossy_or_null = nullptr) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text) == 0 ? 1 : utf8_length(text);
    const std::string_view character = text.substr(0, length);
    text.remove_prefix(length);
    const unsigned first = static_cast<unsigned char>(character[0]);
    if (!is_utf8(character)) {
      out += "\\ufffd";
      if (lossy_or_null != nullptr) *lossy_or_null = true;
    } else if (first == '"' || first == '\\') {
      out += '\\';
      out += character;
    } else if (first < 0x20 || first == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", first);
      out += escape;
    } else {
      out += character;
    }
  }
  return out + '"';
}

// The fewest digits that read back as the same double. JSON has no infinities: they become null.
inline std::string json_number(double x) {
  if (x - x != 0) return "null";
  char digits[40];
  for (int precision = 6; precision <= 17; ++precision) {
    std::snprintf(digits, sizeof digits, "%.*g", precision, x);
    if (std::strtod(digits, nullptr) == x) break;
  }
  return digits;
}

class JsonObject {
 public:
  JsonObject& raw(const char* key, const std::string& json) {
    text_ += (text_.empty() ? "" : ", ") + json_string(key) + ": " + json;
    return *this;
  }
  JsonObject& add(const char* key, std::uint64_t value) { return raw(key, std::to_string(value)); }
  JsonObject& add(const char* key, double value) { return raw(key, json_number(value)); }
  JsonObject& add(const char* key, std::string_view value) { return raw(key, json_string(value)); }
  JsonObject& add(const char* key, const char* value) { return raw(key, json_string(value)); }
  JsonObject& add(const char* key, bool value) { return raw(key, value ? "true" : "false"); }
  std::string str() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

// "[a, b, c]" from n elements that are JSON already; element(i) gives each.
template <class Element>
std::string json_array(std::size_t n, const Element& element) {
  std::string out = "[";
  for (std::size_t i = 0; i < n; ++i) out += (i == 0 ? "" : ", ") + element(i);
  return out + "]";
}

}  // namespace minnow
