// The tree that a pickle becomes: how it is read. The machine that builds it is in pickle_machine.cpp.
#include "tools/convert/pickle.hpp"

#include "tools/convert/pickle_machine.hpp"

namespace minnow::convert {

std::string_view PickleTree::text(NodeId id) const {
  const Node& node = nodes_[id];
  const std::string_view all = node.text.at < bytes_.size() ? std::string_view(bytes_) : std::string_view(decoded_);
  const std::size_t at = node.text.at < bytes_.size() ? node.text.at : node.text.at - bytes_.size();
  return all.substr(at, node.text.size);
}

NodeId PickleTree::child(NodeId id, std::uint32_t index) const {
  if (index >= count(id)) return kNoNode;
  Items items(*this, id);
  while (index-- > 0) items.take();
  return items.take();
}

NodeId PickleTree::find(NodeId dict, std::string_view key) const {
  NodeId found = kNoNode;
  if (!is(dict, NodeKind::dict)) return found;
  for (Items items(*this, dict); !items.done();) {
    const NodeId name = items.take();
    const NodeId value = items.take();
    if (is(name, NodeKind::text) && text(name) == key) found = value;
  }
  return found;
}

std::string PickleTree::global_name(NodeId id) const {
  return std::string(text(child(id, 0))) + "." + std::string(text(child(id, 1)));
}

bool PickleTree::is_global(NodeId id, std::string_view dotted) const {
  if (!is(id, NodeKind::global)) return false;
  const std::string_view module = text(child(id, 0));
  const std::string_view name = text(child(id, 1));
  return dotted.size() == module.size() + 1 + name.size() && dotted.substr(0, module.size()) == module &&
         dotted[module.size()] == '.' && dotted.substr(module.size() + 1) == name;
}

bool PickleTree::is_call_of(NodeId id, std::string_view dotted) const {
  return is(id, NodeKind::object) && is_global(child(id, 0), dotted);
}

// numpy.core.multiarray.scalar(numpy.dtype("i8", ..) with state (3, "<", ..), bytes)
bool PickleTree::integer_value(NodeId id, std::int64_t* out) const {
  if (is(id, NodeKind::integer) || is(id, NodeKind::boolean)) {
    *out = integer(id);
    return true;
  }
  if (!is_call_of(id, "numpy.core.multiarray.scalar") && !is_call_of(id, "numpy._core.multiarray.scalar")) return false;
  const NodeId arguments = child(id, 1);
  if (!is(arguments, NodeKind::tuple) || count(arguments) != 2) return false;
  const NodeId dtype = child(arguments, 0);
  const NodeId value = child(arguments, 1);
  if (!is_call_of(dtype, "numpy.dtype") || !is(value, NodeKind::bytes)) return false;
  const NodeId dtype_arguments = child(dtype, 1);
  if (!is(dtype_arguments, NodeKind::tuple) || count(dtype_arguments) < 1) return false;
  const NodeId code = child(dtype_arguments, 0);
  if (!is(code, NodeKind::text) || text(code).size() != 2) return false;
  const char sign = text(code)[0];
  const std::string_view raw = text(value);
  if ((sign != 'i' && sign != 'u') || raw.empty() || raw.size() > 8) return false;
  if (text(code)[1] - '0' != static_cast<int>(raw.size())) return false;
  const NodeId state = child(dtype, 2);
  const NodeId order = is(state, NodeKind::tuple) ? child(state, 1) : kNoNode;
  const bool big_endian = is(order, NodeKind::text) && text(order) == ">";

  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const std::size_t from_top = big_endian ? i : raw.size() - 1 - i;
    bits = bits << 8 | static_cast<unsigned char>(raw[from_top]);
  }
  const unsigned unused = 64 - 8 * static_cast<unsigned>(raw.size());
  if (sign == 'i') {
    *out = static_cast<std::int64_t>(bits << unused) >> unused;
    return true;
  }
  *out = static_cast<std::int64_t>(bits);
  return *out >= 0;
}

const char* PickleTree::kind_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::none:
      return "None";
    case NodeKind::boolean:
      return "a boolean";
    case NodeKind::integer:
    case NodeKind::big_integer:
      return "an integer";
    case NodeKind::real:
      return "a float";
    case NodeKind::text:
      return "a string";
    case NodeKind::bytes:
      return "bytes";
    case NodeKind::tuple:
      return "a tuple";
    case NodeKind::list:
      return "a list";
    case NodeKind::set:
      return "a set";
    case NodeKind::dict:
      return "a dict";
    case NodeKind::global:
      return "a class or function";
    case NodeKind::object:
      return "an object";
    case NodeKind::storage:
      return "a storage";
  }
  return "";
}

PickleTree read_pickle(std::string bytes, Globals globals, std::string_view where) {
  return PickleMachine(std::move(bytes), globals, where).run();
}

}  // namespace minnow::convert
