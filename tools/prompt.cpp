#include "tools/prompt.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "text/utf8.hpp"
#include "tools/messages.hpp"
#include "tools/options.hpp"
#include "tools/signals.hpp"

namespace minnow {
namespace {

constexpr std::size_t kShownPlaces = 3;
constexpr std::size_t kShownUnknowns = 100;  // of a prompt that was meant for another model, or is no text
constexpr std::uint32_t kShownPieces = 512;

// Where a character stands that the vocabulary lacks, counted in characters from 1.
struct Unknown {
  std::size_t count = 0;
  std::vector<std::size_t> places;  // the first kShownPlaces
};
using Unknowns = std::map<std::string, Unknown>;

std::string code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(character[i])); };
  char name[16];
  if (!is_utf8(character)) {
    std::snprintf(name, sizeof name, "byte 0x%02X", byte(0));
    return name;
  }
  unsigned code = character.size() == 1 ? byte(0) : byte(0) & (0x7fu >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3fu);
  std::snprintf(name, sizeof name, "U+%04X", code);
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

int report_unknown(const std::string& command, const Tokenizer& tokenizer, const Unknowns& unknowns) {
  std::string list;
  std::size_t shown = 0;
  std::vector<const Unknowns::value_type*> in_order;  // of first places
  for (const auto& each : unknowns) in_order.push_back(&each);
  std::sort(in_order.begin(), in_order.end(),
            [](const auto* a, const auto* b) { return a->second.places[0] < b->second.places[0]; });
  for (const auto* each : in_order) {
    const auto& [character, unknown] = *each;
    if (shown++ == kShownUnknowns) {
      list += "; and " + std::to_string(unknowns.size() - kShownUnknowns) + " other characters";
      break;
    }
    list += (list.empty() ? "'" : "; '") + printable(character) + "' (" + code_point(character) + ") at character ";
    for (std::size_t i = 0; i < unknown.places.size(); ++i) {
      list += (i == 0 ? "" : ", ") + std::to_string(unknown.places[i]);
    }
    const std::size_t more = unknown.count - unknown.places.size();
    if (more > 0) list += " and " + std::to_string(more) + " more";
  }
  complain(command, "the model does not know " + list);
  complain(command, "its alphabet: " + alphabet(tokenizer));
  if (unknowns.count("\\") != 0)
    complain(command, "in many shells $'\\n' is a new line, and '\\n' a backslash and an n");
  return complain(command, "leave them out, or go on without them with --unknown skip", kMisused);
}

}  // namespace

int read_input(const std::string& command, const std::string& path, std::string* out) {
  const bool is_stdin = path == "-";
  std::FILE* const file = is_stdin ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr && errno == EINTR && interrupted()) return kInterrupted;
  if (file == nullptr) return complain(command, printable(path) + ": cannot open: " + std::strerror(errno));
  out->clear();
  char buffer[1 << 14];
  while (out->size() <= kMaxInput && !interrupted()) {
    const std::size_t got = std::fread(buffer, 1, sizeof buffer, file);
    out->append(buffer, got);
    if (got == sizeof buffer) continue;
    if (std::ferror(file) == 0 || errno != EINTR) break;
    std::clearerr(file);
  }
  const int error = std::ferror(file) != 0 ? errno : 0;
  if (!is_stdin) std::fclose(file);
  if (interrupted()) return kInterrupted;
  if (error != 0) return complain(command, printable(path) + ": cannot read: " + std::strerror(error));
  if (out->size() > kMaxInput) {
    return complain(command, printable(path) + ": over " + std::to_string(kMaxInput) + " bytes, the most that is read");
  }
  return kDone;
}

int encode_text(const std::string& command, const Tokenizer& tokenizer, std::string_view text, bool skip,
                std::vector<Token>* out) {
  out->assign(text.size(), 0);
  std::size_t tokens = 0;
  std::size_t skipped = 0;
  std::size_t place = 0;  // characters before text
  Unknowns unknowns;
  EncodeResult result;
  while (tokenizer.encode(text, {out->data() + tokens, out->size() - tokens}, &result) == Status::bad_argument) {
    tokens += result.tokens;
    for (std::size_t at = 0; at < result.bytes; ++place) {
      const std::size_t length = utf8_length(text.substr(at));
      at += length == 0 ? 1 : length;
    }
    text.remove_prefix(result.bytes);
    const std::size_t length = utf8_length(text) == 0 ? 1 : utf8_length(text);
    Unknown& unknown = unknowns[std::string(text.substr(0, length))];
    if (unknown.count++ < kShownPlaces) unknown.places.push_back(place + 1);
    ++skipped;
    ++place;
    text.remove_prefix(length);
  }
  out->resize(tokens + result.tokens);
  if (unknowns.empty()) return kDone;
  if (!skip) return report_unknown(command, tokenizer, unknowns);
  complain(command,
           "skipped " + std::to_string(skipped) + plural(skipped, " character") + " that the model does not know");
  return kDone;
}

int parse_ids(const std::string& command, std::string_view text, std::uint32_t n_ids, std::vector<Token>* out) {
  constexpr std::string_view kBetween = " ,\t\r\n";
  out->clear();
  while (true) {
    const std::size_t begin = text.find_first_not_of(kBetween);
    if (begin == std::string_view::npos) return kDone;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(kBetween));
    text.remove_prefix(word.size());
    std::uint64_t id = 0;
    if (!parse_number(word, &id) || id >= n_ids) {
      return complain(
          command,
          "ids: found '" + printable(word) + "', expected whole numbers from 0 to " + std::to_string(n_ids - 1),
          kMisused);
    }
    out->push_back(static_cast<Token>(id));
  }
}

}  // namespace minnow
