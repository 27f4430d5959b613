// The pickle machine: input, nodes, stack and memo. What opcodes make is in pickle_values.cpp and pickle_objects.cpp.
#include "tools/convert/pickle_machine.hpp"

namespace minnow::convert {

namespace {

constexpr std::size_t kMaxLinks = 4 * kMaxPickleNodes;
constexpr std::size_t kMaxStack = 2 * kMaxPickleNodes;
constexpr unsigned kNewestProtocol = 5;

}  // namespace

PickleMachine::PickleMachine(std::string bytes, std::string_view where) : where_(where) {
  tree_.bytes_ = std::move(bytes);
  if (tree_.bytes_.size() > kMaxPickleBytes) {
    refuse(where_, " has ", tree_.bytes_.size(), " bytes; expected at most ", kMaxPickleBytes,
           "; weights belong into storages of their own: save the checkpoint with torch.save");
  }
}

PickleTree PickleMachine::run() {
  for (;;) {
    op_at_ = at_;
    const unsigned char op = static_cast<unsigned char>(take(1)[0]);
    if (op == '.') break;
    if (!constant_op(op) && !decimal_op(op) && !text_op(op) && !stack_op(op) && !container_op(op) && !object_op(op)) {
      fail(concat("opcode ", static_cast<unsigned>(op), " is not one that a checkpoint uses"));
    }
  }
  if (stack_.size() != 1 || !marks_.empty()) fail(concat("the pickle ends with ", stack_.size(), " values, not one"));
  tree_.root_ = stack_[0];
  tree_.bytes_read_ = at_;
  return std::move(tree_);
}

void PickleMachine::fail(std::string_view what) const {
  refuse(where_, ", byte ", op_at_, ": ", what, "; expected an undamaged pickle; copy or save the file again");
}

std::string_view PickleMachine::take(std::uint64_t bytes) {
  const std::size_t left = tree_.bytes_.size() - at_;
  if (left == 0 && bytes > 0) fail("the data ends here");
  if (bytes > left) fail(concat(bytes, " bytes are announced but ", left, " are left"));
  const std::string_view taken = std::string_view(tree_.bytes_).substr(at_, static_cast<std::size_t>(bytes));
  at_ += taken.size();
  return taken;
}

std::uint64_t PickleMachine::take_number(unsigned bytes) {
  const std::string_view raw = take(bytes);
  std::uint64_t value = 0;
  for (unsigned i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(raw[i]);
  return value;
}

std::string_view PickleMachine::take_line() {
  const std::size_t end = tree_.bytes_.find('\n', at_);
  if (end == std::string::npos) fail("a line has no end");
  const std::string_view line = take(end - at_);
  at_ += 1;
  return line;
}

NodeId PickleMachine::add(NodeKind kind) {
  if (tree_.nodes_.size() >= kMaxPickleNodes) fail(concat("more than ", kMaxPickleNodes, " values"));
  tree_.nodes_.emplace_back();
  tree_.nodes_.back().kind = kind;
  return static_cast<NodeId>(tree_.nodes_.size() - 1);
}

NodeId PickleMachine::add_integer(std::int64_t value, NodeKind kind) {
  const NodeId id = add(kind);
  tree_.nodes_[id].integer = value;
  return id;
}

NodeId PickleMachine::add_real(double value) {
  const NodeId id = add(NodeKind::real);
  tree_.nodes_[id].real = value;
  return id;
}

NodeId PickleMachine::add_text(std::string_view view, NodeKind kind) {
  const NodeId id = add(kind);
  Node& node = tree_.nodes_[id];
  node.text.at = static_cast<std::uint32_t>(view.data() - tree_.bytes_.data());
  node.text.size = static_cast<std::uint32_t>(view.size());
  return id;
}

NodeId PickleMachine::add_decoded(const std::string& text, NodeKind kind) {
  if (tree_.decoded_.size() + text.size() > kMaxPickleBytes) fail("too much escaped text");
  const NodeId id = add(kind);
  Node& node = tree_.nodes_[id];
  node.text.at = static_cast<std::uint32_t>(tree_.bytes_.size() + tree_.decoded_.size());
  node.text.size = static_cast<std::uint32_t>(text.size());
  tree_.decoded_ += text;
  return id;
}

void PickleMachine::append(NodeId parent, NodeId child) {
  if (tree_.links_.size() >= kMaxLinks) fail(concat("more than ", kMaxLinks, " items"));
  const std::uint32_t link = static_cast<std::uint32_t>(tree_.links_.size());
  tree_.links_.push_back({child, kNoNode});
  Node& node = tree_.nodes_[parent];
  (node.tail == kNoNode ? node.head : tree_.links_[node.tail].next) = link;
  node.tail = link;
  ++node.count;
}

void PickleMachine::push(NodeId id) {
  if (stack_.size() >= kMaxStack) fail("the stack grows too large");
  stack_.push_back(id);
}

NodeId PickleMachine::top() const {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) fail("a value is taken from an empty stack");
  return stack_.back();
}

NodeId PickleMachine::pop() {
  const NodeId id = top();
  stack_.pop_back();
  return id;
}

std::size_t PickleMachine::pop_mark() {
  if (marks_.empty()) fail("a mark is missing");
  const std::size_t from = marks_.back();
  marks_.pop_back();
  return from;
}

NodeId PickleMachine::collect(NodeKind kind, std::size_t from) {
  if (kind == NodeKind::dict && (stack_.size() - from) % 2 != 0) fail("a key has no value");
  const NodeId container = add(kind);
  for (std::size_t i = from; i < stack_.size(); ++i) append(container, stack_[i]);
  stack_.resize(from);
  return container;
}

void PickleMachine::add_items(NodeKind kind, std::size_t from) {
  if (from == 0 || from <= (marks_.empty() ? 0 : marks_.back())) fail("items without a container");
  if (kind == NodeKind::dict && (stack_.size() - from) % 2 != 0) fail("a key has no value");
  const NodeId container = stack_[from - 1];
  const NodeKind found = tree_.kind(container);
  if (found != kind && found != NodeKind::object) {
    fail(concat("items for ", PickleTree::kind_name(kind), " are added to ", PickleTree::kind_name(found)));
  }
  // What a class of its own does with items is unknown; they are dropped.
  for (std::size_t i = from; found == kind && i < stack_.size(); ++i) append(container, stack_[i]);
  stack_.resize(from);
}

void PickleMachine::remember(std::uint64_t index) {
  if (index >= kMaxPickleNodes) fail(concat("memo entry ", index, " is too high"));
  const NodeId id = top();
  if (index >= memo_.size()) memo_.resize(static_cast<std::size_t>(index) + 1, kNoNode);
  NodeId& entry = memo_[static_cast<std::size_t>(index)];
  memo_count_ += entry == kNoNode ? 1 : 0;
  entry = id;
}

void PickleMachine::recall(std::uint64_t index) {
  if (index >= memo_.size() || memo_[static_cast<std::size_t>(index)] == kNoNode) {
    fail(concat("memo entry ", index, " is used but was never set"));
  }
  push(memo_[static_cast<std::size_t>(index)]);
}

bool PickleMachine::stack_op(unsigned char op) {
  switch (op) {
    case 0x80: {  // PROTO
      const std::uint64_t protocol = take_number(1);
      if (protocol > kNewestProtocol) fail(concat("protocol ", protocol, " is newer than ", kNewestProtocol));
      return true;
    }
    case 0x95: {  // FRAME: a hint for buffering
      const std::uint64_t bytes = take_number(8);
      if (bytes > tree_.bytes_.size() - at_) fail(concat("a frame of ", bytes, " bytes ends behind the data"));
      return true;
    }
    case '(':  // MARK
      if (marks_.size() >= kMaxStack) fail("too many marks");
      marks_.push_back(stack_.size());
      return true;
    case '0':  // POP, of a value or of a mark with nothing above it
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
      } else {
        pop();
      }
      return true;
    case '1':  // POP_MARK
      stack_.resize(pop_mark());
      return true;
    case '2':  // DUP
      push(top());
      return true;
    case 'p': {  // PUT
      std::int64_t index = 0;
      bool too_big = false;
      if (!parse_decimal(take_line(), &index, &too_big) || too_big || index < 0) fail("a memo index is malformed");
      remember(static_cast<std::uint64_t>(index));
      return true;
    }
    case 'q':  // BINPUT
    case 'r':  // LONG_BINPUT
      remember(take_number(op == 'q' ? 1 : 4));
      return true;
    case 0x94:  // MEMOIZE
      remember(memo_count_);
      return true;
    case 'g': {  // GET
      std::int64_t index = 0;
      bool too_big = false;
      if (!parse_decimal(take_line(), &index, &too_big) || too_big || index < 0) fail("a memo index is malformed");
      recall(static_cast<std::uint64_t>(index));
      return true;
    }
    case 'h':  // BINGET
    case 'j':  // LONG_BINGET
      recall(take_number(op == 'h' ? 1 : 4));
      return true;
    default:
      return false;
  }
}

}  // namespace minnow::convert
