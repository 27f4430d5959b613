// The public C headers as text, for tests that must not forget a function or a value.
#pragma once

#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace minnow::test {

inline std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Words that begin with `prefix` and end before `end`, spaces between left out.
inline std::set<std::string> words_before(const std::string& text, const std::string& prefix, char end) {
  const auto in_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::set<std::string> words;
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
    if (at != 0 && in_word(text[at - 1])) continue;
    std::size_t stop = at;
    while (stop < text.size() && in_word(text[stop])) ++stop;
    std::size_t next = stop;
    while (next < text.size() && text[next] == ' ') ++next;
    if (next < text.size() && text[next] == end) words.insert(text.substr(at, stop - at));
  }
  return words;
}

inline std::string public_c_headers() {
  return text_of("src/include/minnow/minnow.h") + text_of("src/include/minnow/hosted.h");
}

// Every function that they declare.
inline std::set<std::string> public_c_functions() { return words_before(public_c_headers(), "minnow_", '('); }

}  // namespace minnow::test
