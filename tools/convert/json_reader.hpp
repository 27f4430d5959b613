// A strict JSON reader: a text becomes a flat tree of values. Nothing here recurses, and memory is bounded whatever the
// text says. Depends on refusal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace minnow::convert {

using JsonId = std::uint32_t;
inline constexpr JsonId kNoJson = 0xffffffffu;

enum class JsonKind : std::uint8_t {
  null,
  boolean,
  integer,  // a whole number without point or exponent that fits 64 bits
  real,     // any other number
  text,     // UTF-8; an escaped surrogate without its partner is three bytes
  array,
  object,
};

class JsonTree {
 public:
  JsonId root() const { return 0; }

  JsonKind kind(JsonId id) const { return nodes_[id].kind; }
  bool is(JsonId id, JsonKind kind) const { return id != kNoJson && nodes_[id].kind == kind; }
  std::int64_t integer(JsonId id) const { return nodes_[id].integer; }  // integer, boolean
  double real(JsonId id) const {                                        // real, integer
    return nodes_[id].kind == JsonKind::real ? nodes_[id].real : static_cast<double>(nodes_[id].integer);
  }
  std::string_view text(JsonId id) const {
    return std::string_view(text_).substr(nodes_[id].range.at, nodes_[id].range.size);
  }
  std::uint32_t count(JsonId id) const { return nodes_[id].items.count; }  // items of an array, members of an object

  // Iterates over an array's items, or over an object's members: key (a text), value, key, value, ...
  class Items {
   public:
    Items(const JsonTree& tree, JsonId id) : tree_(&tree), next_(id + 1), end_(tree.nodes_[id].items.end) {}
    bool done() const { return next_ == end_; }
    JsonId take() {
      const JsonId id = next_;
      next_ = tree_->end_of(id);
      return id;
    }

   private:
    const JsonTree* tree_;
    JsonId next_;
    JsonId end_;
  };
  Items items(JsonId id) const { return Items(*this, id); }

  // The value under a key; kNoJson if there is none or `object` is no object. Looks at every member: whoever wants all
  // of them takes items().
  JsonId find(JsonId object, std::string_view key) const;

  static const char* kind_name(JsonKind kind);  // "an array"

 private:
  friend class JsonReader;

  struct Range {
    std::uint32_t at;
    std::uint32_t size;
  };
  struct Contents {
    std::uint32_t count;
    std::uint32_t end;  // the node behind the last one inside
  };
  struct Node {
    union {
      std::int64_t integer = 0;
      double real;
      Range range;
      Contents items;
    };
    JsonKind kind = JsonKind::null;
  };

  // The node behind this one and everything inside it: its next sibling, if it has one.
  JsonId end_of(JsonId id) const { return nodes_[id].kind < JsonKind::array ? id + 1 : nodes_[id].items.end; }

  std::string text_;  // decoded in place, so that texts are views into it
  std::vector<Node> nodes_;
};

inline constexpr std::size_t kMaxJsonBytes = std::size_t{32} << 20;
inline constexpr std::size_t kMaxJsonNodes = std::size_t{1} << 21;
inline constexpr std::size_t kMaxJsonDepth = 256;

// Throws Refusal, whose text begins with `where` ("the header") and the byte. A byte order mark before the text is
// skipped; a key that is twice in one object is refused. Takes less than 100 MB, whatever the input.
JsonTree read_json(std::string text, std::string_view where);

// The same of a whole file; a Refusal then carries its path.
JsonTree read_json_file(const std::string& path);

}  // namespace minnow::convert
