#include "text/split.hpp"

#include "base/text.hpp"
#include "text/unicode_classes.hpp"
#include "text/utf8.hpp"

namespace minnow {
namespace {

struct Character {
  CharClass kind;
  std::size_t length;
};

constexpr CharClass class_of_ascii(unsigned byte) noexcept {
  if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z')) return CharClass::letter;
  if (byte >= '0' && byte <= '9') return CharClass::number;
  return is_white_space(byte) ? CharClass::space : CharClass::other;
}

// The character that text[at] begins; at < text.size().
Character character_at(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(text[at + i])}; };
  if (byte(0) < 0x80) return {class_of_ascii(byte(0)), 1};
  const std::size_t length = utf8_length(text_at(text, at, 4));
  if (length < 2) return {CharClass::other, 1};
  std::uint32_t code = byte(0) & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3f);
  return {class_of(code), length};
}

// Where the run of characters of one class ends that is at `at`.
std::size_t run_end(std::string_view text, std::size_t at, CharClass kind) noexcept {
  while (at < text.size()) {
    const Character next = character_at(text, at);
    if (next.kind != kind) break;
    at += next.length;
  }
  return at;
}

// The length of the contraction that `text` begins with, or 0.
std::size_t contraction(std::string_view text) noexcept {
  if (text.size() < 2 || text[0] != '\'') return 0;
  const char first = text[1];
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  const std::string_view two = text_at(text, 1, 2);
  return two == "re" || two == "ve" || two == "ll" ? 3 : 0;
}

}  // namespace

std::size_t gpt2_part(std::string_view text) noexcept {
  if (const std::size_t length = contraction(text); length != 0) return length;
  const Character first = character_at(text, 0);
  if (first.kind != CharClass::space) return run_end(text, first.length, first.kind);
  if (text[0] == ' ' && text.size() > 1) {
    const Character second = character_at(text, 1);
    if (second.kind != CharClass::space) return run_end(text, 1 + second.length, second.kind);
  }
  std::size_t last = 0;  // where the last white space of the run begins
  std::size_t end = first.length;
  while (end < text.size()) {
    const Character next = character_at(text, end);
    if (next.kind != CharClass::space) return last == 0 ? end : last;
    last = end;
    end += next.length;
  }
  return end;
}

// Two neighbours of different classes are in one part only if the first is white space, or a contraction's apostrophe;
// and the run before the border ends there for any text behind it.
std::size_t gpt2_cut(std::string_view text, std::size_t limit) noexcept {
  for (std::size_t at = limit < text.size() ? limit + 1 : text.size(); at-- > 1;) {
    if ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) continue;
    if (utf8_length(text_at(text, at, 4)) == 0) continue;  // its end is still to come
    const Character next = character_at(text, at);
    Character before = {CharClass::other, 1};
    for (std::size_t length = 1; length <= 4 && length <= at; ++length) {
      if ((static_cast<unsigned char>(text[at - length]) & 0xc0) == 0x80) continue;
      const Character found = character_at(text_at(text, 0, at), at - length);
      if (found.length == length) before = found;
      break;
    }
    if (before.kind == next.kind || before.kind == CharClass::space) continue;
    if (before.kind == CharClass::other && next.kind == CharClass::letter) continue;
    return at;
  }
  return 0;
}

}  // namespace minnow
