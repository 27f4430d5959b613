// JSON texts (RFC 8259), read in one pass with the open arrays and objects on a stack. Depends on file and text/utf8.
#include "tools/convert/json_reader.hpp"

#include <algorithm>
#include <locale>
#include <sstream>

#include "text/utf8.hpp"
#include "tools/convert/file.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/utf8.hpp"

namespace minnow::convert {

namespace {

// Decimal fractions are slow to read and rare: a budget of their own keeps hostile texts quick.
constexpr std::size_t kMaxReals = std::size_t{1} << 19;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_surrogate(std::uint32_t c) { return c >= 0xd800 && c < 0xe000; }

}  // namespace

class JsonReader {
 public:
  JsonReader(std::string text, std::string_view where) : where_(where) {
    if (text.size() > kMaxJsonBytes) {
      refuse(where_, " has ", text.size(), " bytes; expected at most ", kMaxJsonBytes, "; name the right file");
    }
    tree_.text_ = std::move(text);
  }

  JsonTree run() {
    if (text().substr(0, 3) == "\xef\xbb\xbf") at_ = 3;
    do {
      begin_item();
      if (read_value()) finish_value();
    } while (!open_.empty());
    skip_space();
    if (at_ != text().size()) fail("there is more text behind the end");
    return std::move(tree_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    refuse(where_, ", byte ", at_, ": ", what, "; expected JSON; copy or download the file again");
  }

  std::string_view text() const { return tree_.text_; }
  char peek() const { return at_ < text().size() ? text()[at_] : '\0'; }  // '\0' is no part of JSON

  void skip_space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') ++at_;
  }
  char next() {
    skip_space();
    if (at_ == text().size()) fail("the text ends too early");
    return text()[at_];
  }

  JsonId add(JsonKind kind) {
    if (tree_.nodes_.size() >= kMaxJsonNodes) fail(concat("more than ", kMaxJsonNodes, " values"));
    tree_.nodes_.emplace_back();
    tree_.nodes_.back().kind = kind;
    return static_cast<JsonId>(tree_.nodes_.size() - 1);
  }

  // Of an object: the key and the colon.
  void begin_item() {
    if (open_.empty()) return;
    JsonTree::Node& container = tree_.nodes_[open_.back()];
    ++container.items.count;
    if (container.kind != JsonKind::object) return;
    if (next() != '"') fail("a key is no string");
    read_text();
    if (next() != ':') fail("a key has no colon");
    ++at_;
  }

  // False: a container that has items was opened.
  bool read_value() {
    const char c = next();
    if (c == '{' || c == '[') return !opens(c == '{' ? JsonKind::object : JsonKind::array);
    if (c == '"') {
      read_text();
    } else if (c == '-' || is_digit(c)) {
      read_number();
    } else {
      read_word();
    }
    return true;
  }

  bool opens(JsonKind kind) {
    const JsonId id = add(kind);
    tree_.nodes_[id].items = {0, id + 1};
    ++at_;
    if (next() == closing(kind)) {
      ++at_;
      return false;
    }
    if (open_.size() >= kMaxJsonDepth) fail(concat("more than ", kMaxJsonDepth, " brackets inside each other"));
    open_.push_back(id);
    return true;
  }

  static char closing(JsonKind kind) { return kind == JsonKind::object ? '}' : ']'; }

  // What may follow a value: the end of its container, of the one around it .., a comma.
  void finish_value() {
    while (!open_.empty()) {
      const char c = next();
      JsonTree::Node& container = tree_.nodes_[open_.back()];
      if (c != ',' && c != closing(container.kind)) fail("a comma or a closing bracket is missing");
      ++at_;
      if (c == ',') return;
      container.items.end = static_cast<std::uint32_t>(tree_.nodes_.size());
      if (container.kind == JsonKind::object && container.items.count > 1) require_distinct_keys(open_.back());
      open_.pop_back();
    }
  }

  void require_distinct_keys(JsonId object) {
    keys_.clear();
    for (JsonTree::Items items = tree_.items(object); !items.done(); items.take()) keys_.push_back(items.take());
    const auto less = [this](JsonId a, JsonId b) { return tree_.text(a) < tree_.text(b); };
    std::sort(keys_.begin(), keys_.end(), less);
    for (std::size_t i = 1; i < keys_.size(); ++i) {
      if (!less(keys_[i - 1], keys_[i])) fail(concat("the key ", quoted(tree_.text(keys_[i])), " is there twice"));
    }
  }

  void read_word() {
    const auto takes = [this](std::string_view word) {
      if (text().substr(at_, word.size()) != word) return false;
      at_ += word.size();
      return true;
    };
    if (takes("null")) {
      add(JsonKind::null);
    } else if (takes("true")) {
      tree_.nodes_[add(JsonKind::boolean)].integer = 1;
    } else if (takes("false")) {
      add(JsonKind::boolean);
    } else {
      fail("a value is missing");
    }
  }

  void take_digits() {
    if (!is_digit(peek())) fail("a number is malformed");
    while (is_digit(peek())) ++at_;
  }

  void read_number() {
    const std::size_t from = at_;
    if (peek() == '-') ++at_;
    const std::size_t digits = at_;
    take_digits();
    if (text()[digits] == '0' && at_ - digits > 1) fail("a number begins with 0");
    bool whole = true;
    if (peek() == '.') {
      whole = false;
      ++at_;
      take_digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      whole = false;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      take_digits();
    }
    std::int64_t value = 0;
    if (whole && to_integer(text().substr(from, at_ - from), &value)) {
      tree_.nodes_[add(JsonKind::integer)].integer = value;
    } else {
      tree_.nodes_[add(JsonKind::real)].real = to_real(text().substr(from, at_ - from));
    }
  }

  static bool to_integer(std::string_view digits, std::int64_t* out) {
    const bool negative = digits[0] == '-';
    std::uint64_t magnitude = 0;
    for (const char c : digits.substr(negative ? 1 : 0)) {
      const std::uint64_t digit = static_cast<std::uint64_t>(c - '0');
      if (magnitude > (static_cast<std::uint64_t>(INT64_MAX) - digit) / 10) return false;
      magnitude = magnitude * 10 + digit;
    }
    *out = negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
    return true;
  }

  double to_real(std::string_view digits) {
    constexpr std::size_t kLongest = 400;  // no writer needs more to say a double exactly enough
    if (++reals_ > kMaxReals) fail(concat("more than ", kMaxReals, " decimal numbers"));
    if (digits.size() > kLongest) fail(concat("a number has more than ", kLongest, " characters"));
    std::istringstream in{std::string(digits)};
    in.imbue(std::locale::classic());  // a decimal comma elsewhere in the process changes nothing here
    double value = 0;
    if (!(in >> value)) fail("a number is too large");
    return value;
  }

  // A string, decoded over itself: no escape is shorter than what it means.
  void read_text() {
    const std::size_t from = ++at_;
    std::size_t to = from;
    std::string& all = tree_.text_;
    for (;;) {
      if (at_ == all.size()) fail("a string has no end");
      const char c = all[at_];
      if (c == '"') break;
      if (c == '\\') {
        ++at_;
        const std::string meaning = read_escape();
        for (const char byte : meaning) all[to++] = byte;
        continue;
      }
      if (static_cast<unsigned char>(c) < 0x20) fail("a string holds a control character");
      const std::size_t bytes = utf8_length(text().substr(at_));
      if (bytes == 0 || !is_utf8(text().substr(at_, bytes))) fail("a string is no valid UTF-8");
      for (std::size_t i = 0; i < bytes; ++i) all[to++] = all[at_++];
    }
    ++at_;
    tree_.nodes_[add(JsonKind::text)].range = {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to - from)};
  }

  std::string read_escape() {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char c = peek();
    if (c != '\0' && kLetters.find(c) != std::string_view::npos) {
      ++at_;
      return std::string(1, kMeanings[kLetters.find(c)]);
    }
    if (c != 'u') fail("a string has an escape that JSON does not know");
    ++at_;
    std::uint32_t code_point = read_hex();
    if (is_surrogate(code_point) && code_point < 0xdc00 && text().substr(at_, 2) == "\\u") {
      const std::size_t back = at_;
      at_ += 2;
      const std::uint32_t low = read_hex();
      if (is_surrogate(low) && low >= 0xdc00) {
        code_point = 0x10000 + ((code_point - 0xd800) << 10 | (low - 0xdc00));
      } else {
        at_ = back;  // an escape of its own
      }
    }
    std::string out;
    append_utf8(code_point, &out);
    return out;
  }

  std::uint32_t read_hex() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
      if (!is_digit(c) && (lower < 'a' || lower > 'f')) fail("an escape has no four hexadecimal digits");
      value = value << 4 | static_cast<std::uint32_t>(is_digit(c) ? c - '0' : lower - 'a' + 10);
    }
    return value;
  }

  std::string where_;
  JsonTree tree_;
  std::size_t at_ = 0;  // next byte
  std::size_t reals_ = 0;
  std::vector<JsonId> open_;  // containers, the innermost last
  std::vector<JsonId> keys_;
};

JsonId JsonTree::find(JsonId object, std::string_view key) const {
  if (!is(object, JsonKind::object)) return kNoJson;
  for (Items members = items(object); !members.done();) {
    const JsonId name = members.take();
    const JsonId value = members.take();
    if (text(name) == key) return value;
  }
  return kNoJson;
}

const char* JsonTree::kind_name(JsonKind kind) {
  switch (kind) {
    case JsonKind::null:
      return "null";
    case JsonKind::boolean:
      return "a boolean";
    case JsonKind::integer:
      return "an integer";
    case JsonKind::real:
      return "a decimal number";
    case JsonKind::text:
      return "a string";
    case JsonKind::array:
      return "an array";
    case JsonKind::object:
      return "an object";
  }
  return "";
}

JsonTree read_json(std::string text, std::string_view where) { return JsonReader(std::move(text), where).run(); }

JsonTree read_json_file(const std::string& path) {
  std::string text = InputFile(path).read_all(kMaxJsonBytes);
  try {
    return read_json(std::move(text), "the text");
  } catch (const Refusal& refusal) {
    throw Refusal(refusal.what(), path);
  }
}

}  // namespace minnow::convert
