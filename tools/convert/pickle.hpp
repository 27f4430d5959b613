// A pickle reader that only builds data: protocols 0 to 5 into a tree of inert nodes. Nothing is called, imported or
// looked up: a global is its name, a call is a node that holds the callee and its arguments. Depends on refusal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace minnow::convert {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xffffffffu;

enum class NodeKind : std::uint8_t {
  none,
  boolean,
  integer,      // fits 64 bits
  big_integer,  // does not; value dropped
  real,
  text,  // UTF-8, or with surrogates encoded alike
  bytes,
  tuple,
  list,
  set,
  dict,     // children: key, value, key, value; an OrderedDict, a defaultdict and a Counter are dicts too
  global,   // children: module, name
  object,   // a call that was not made; children: callee, arguments, then state if BUILD gave one
  storage,  // a persistent id; child: the id
};

// What read_pickle makes. Children are reached through Items; a container may hold itself, so walk with care.
class PickleTree {
 public:
  NodeId root() const { return root_; }
  NodeId size() const { return static_cast<NodeId>(nodes_.size()); }  // ids are below; some are no part of the root
  std::size_t bytes_read() const { return bytes_read_; }              // up to and with STOP

  NodeKind kind(NodeId id) const { return nodes_[id].kind; }
  bool is(NodeId id, NodeKind kind) const { return id != kNoNode && nodes_[id].kind == kind; }
  std::int64_t integer(NodeId id) const { return nodes_[id].integer; }  // integer, boolean
  double real(NodeId id) const { return nodes_[id].real; }
  std::string_view text(NodeId id) const;                            // text, bytes
  std::uint32_t count(NodeId id) const { return nodes_[id].count; }  // children

  // Iterates over the children of one node.
  class Items {
   public:
    Items(const PickleTree& tree, NodeId id) : tree_(&tree), link_(tree.nodes_[id].head) {}
    bool done() const { return link_ == kNoNode; }
    NodeId take() {
      const Link& link = tree_->links_[link_];
      link_ = link.next;
      return link.child;
    }

   private:
    const PickleTree* tree_;
    std::uint32_t link_;
  };
  Items items(NodeId id) const { return Items(*this, id); }

  NodeId child(NodeId id, std::uint32_t index) const;         // kNoNode if there is none, or of kNoNode
  NodeId find(NodeId dict, std::string_view key) const;       // the last value under a text key, or kNoNode
  bool is_global(NodeId id, std::string_view dotted) const;   // "torch.FloatStorage"
  std::string global_name(NodeId id) const;                   // the same, for messages
  bool is_call_of(NodeId id, std::string_view dotted) const;  // an object whose callee is this global
  bool integer_value(NodeId id, std::int64_t* out) const;     // integer, boolean, or a numpy integer scalar
  bool real_value(NodeId id, double* out) const;              // a float, or a numpy float scalar
  static const char* kind_name(NodeKind kind);

 private:
  friend class PickleMachine;

  bool numpy_scalar(NodeId id, char* type, std::uint64_t* bits, unsigned* bytes) const;

  struct TextRange {
    std::uint32_t at;  // in bytes_, or behind it in decoded_
    std::uint32_t size;
  };
  struct Node {
    NodeKind kind = NodeKind::none;
    std::uint32_t count = 0;
    std::uint32_t head = kNoNode;  // of the children's list
    std::uint32_t tail = kNoNode;
    union {
      std::int64_t integer = 0;
      double real;
      TextRange text;
    };
  };
  struct Link {
    NodeId child;
    std::uint32_t next;
  };

  std::string bytes_;    // the pickle; most texts are views into it
  std::string decoded_;  // texts that had escapes
  std::vector<Node> nodes_;
  std::vector<Link> links_;  // a flat pool, so that depth costs nothing to build or destroy
  NodeId root_ = kNoNode;
  std::size_t bytes_read_ = 0;
};

inline constexpr std::size_t kMaxPickleBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxPickleNodes = std::size_t{1} << 19;

// Throws Refusal, whose text begins with `where` ("data.pkl") and the byte. A global becomes a node, unless its module
// exists to reach out of the program (os, subprocess, ..): refused. Takes less than 100 MB, whatever the input.
PickleTree read_pickle(std::string bytes, std::string_view where);

}  // namespace minnow::convert
