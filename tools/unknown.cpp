#include "tools/unknown.hpp"

#include <cstdio>

#include "text/utf8.hpp"
#include "tools/messages.hpp"

namespace minnow {
namespace {

constexpr std::size_t kNamedPlaces = 3;
constexpr std::size_t kNamed = 100;  // of a prompt that was meant for another model, or is no text
constexpr std::uint32_t kShownPieces = 512;

// Bytes that are no UTF-8 follow the code points.
constexpr std::uint32_t kStrayBytes = 0x110000;
constexpr std::uint32_t kCodes = kStrayBytes + 256;

std::uint32_t code_of(std::string_view character) {
  const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(character[i])}; };
  if (!is_utf8(character)) return kStrayBytes + byte(0);
  std::uint32_t code = character.size() == 1 ? byte(0) : byte(0) & (0x7fu >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3fu);
  return code;
}

std::string name_of(std::string_view character) {
  const std::uint32_t code = code_of(character);
  char name[16];
  if (code >= kStrayBytes) {
    std::snprintf(name, sizeof name, "byte 0x%02X", static_cast<unsigned>(code - kStrayBytes));
  } else {
    std::snprintf(name, sizeof name, "U+%04X", static_cast<unsigned>(code));
  }
  return name;
}

std::string alphabet(const Tokenizer& tokenizer) {
  std::string out;
  std::uint32_t shown = 0;
  for (std::uint32_t id = 0; id < tokenizer.n_tokens(); ++id) {
    if (shown == kShownPieces) return out + " and " + std::to_string(tokenizer.n_tokens() - id) + " more";
    const std::string_view piece = tokenizer.piece(static_cast<Token>(id));
    if (!piece.empty()) ++shown;
    out += printable(piece);
  }
  return out;
}

}  // namespace

void UnknownCharacters::add(std::string_view character, std::uint64_t place) {
  ++count_;
  const std::uint32_t code = code_of(character);
  auto found = indices_.find(code);
  if (found == indices_.end() && named_.size() < kNamed) {
    found = indices_.emplace(code, named_.size()).first;
    named_.push_back({std::string(character), 0, {}});
  }
  if (found != indices_.end()) {
    Named& named = named_[found->second];
    if (named.count++ < kNamedPlaces) named.places.push_back(place);
    return;
  }
  other_codes_.resize(kCodes);
  if (!other_codes_[code]) ++others_;
  other_codes_[code] = true;
}

int UnknownCharacters::report(const std::string& command, const Tokenizer& tokenizer) const {
  std::string list;
  for (const Named& named : named_) {
    list += (list.empty() ? "'" : "; '") + printable(named.character) + "' (" + name_of(named.character) +
            ") at character ";
    for (std::size_t i = 0; i < named.places.size(); ++i) {
      list += (i == 0 ? "" : ", ") + std::to_string(named.places[i]);
    }
    const std::uint64_t more = named.count - named.places.size();
    if (more > 0) list += " and " + std::to_string(more) + " more";
  }
  if (others_ > 0) list += "; and " + std::to_string(others_) + " other characters";
  complain(command, "the model does not know " + list);
  complain(command, "its alphabet: " + alphabet(tokenizer));
  const bool has_backslash = indices_.count('\\') != 0 || (!other_codes_.empty() && other_codes_['\\']);
  if (has_backslash) complain(command, "in many shells $'\\n' is a new line, and '\\n' a backslash and an n");
  return complain(command, "leave them out, or go on without them with --unknown skip", kMisused);
}

}  // namespace minnow
