// The stack machine behind read_pickle, one function a group of opcodes. Only pickle*.cpp include this.
#pragma once

#include "tools/convert/pickle.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

class PickleMachine {
 public:
  PickleMachine(std::string bytes, std::string_view where);
  PickleTree run();

 private:
  using Node = PickleTree::Node;

  // Each takes the opcode if it is one of its group.
  bool constant_op(unsigned char op);   // None, booleans, numbers
  bool decimal_op(unsigned char op);    // numbers as text
  bool text_op(unsigned char op);       // strings and byte strings
  bool stack_op(unsigned char op);      // mark, pop, memo, frames
  bool container_op(unsigned char op);  // tuples, lists, sets, dicts
  bool object_op(unsigned char op);     // globals, calls, persistent ids

  [[noreturn]] void fail(std::string_view what) const;

  // Input.
  std::string_view take(std::uint64_t bytes);
  std::uint64_t take_number(unsigned bytes);  // little-endian, unsigned
  std::string_view take_line();               // without its line end

  // Nodes.
  NodeId add(NodeKind kind);
  NodeId add_integer(std::int64_t value, NodeKind kind = NodeKind::integer);
  NodeId add_real(double value);
  NodeId add_text(std::string_view view_of_input, NodeKind kind = NodeKind::text);
  NodeId add_decoded(const std::string& text, NodeKind kind = NodeKind::text);
  void append(NodeId parent, NodeId child);

  // The stack.
  void push(NodeId id);
  NodeId pop();
  NodeId top() const;
  std::size_t pop_mark();                           // the index of the first item above it
  NodeId collect(NodeKind kind, std::size_t from);  // pops everything from there into a new container
  void add_items(NodeKind kind, std::size_t from);  // the same into the container below `from`

  void remember(std::uint64_t index);
  void recall(std::uint64_t index);

  NodeId make_global(NodeId module, NodeId name);
  NodeId make_call(NodeId callee, NodeId arguments);
  NodeId make_ordered_dict(NodeId arguments);
  NodeId make_latin1_bytes(NodeId arguments);
  void build();

  PickleTree tree_;
  std::string where_;
  std::size_t at_ = 0;  // next byte
  std::size_t op_at_ = 0;
  std::vector<NodeId> stack_;
  std::vector<std::size_t> marks_;  // stack sizes
  std::vector<NodeId> memo_;
  std::size_t memo_count_ = 0;
  std::size_t latin1_work_ = 0;
};

// Number texts and escapes of protocols 0 and 1 (pickle_text.cpp). False: malformed.
bool parse_decimal(std::string_view text, std::int64_t* value, bool* too_big);
bool parse_real(std::string_view text, double* value);
bool decode_python2_string(std::string_view quoted_text, std::string* out);
bool decode_raw_unicode_escape(std::string_view text, std::string* out);

}  // namespace minnow::convert
