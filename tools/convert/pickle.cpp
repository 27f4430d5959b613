// The tree that a pickle becomes: how it is read. The machine that builds it is in pickle_machine.cpp.
#include "tools/convert/pickle.hpp"

#include "base/bits.hpp"
#include "tools/convert/pickle_machine.hpp"

namespace minnow::convert {

std::string_view PickleTree::text(NodeId id) const {
  const Node& node = nodes_[id];
  const std::string_view all = node.text.at < bytes_.size() ? std::string_view(bytes_) : std::string_view(decoded_);
  const std::size_t at = node.text.at < bytes_.size() ? node.text.at : node.text.at - bytes_.size();
  return all.substr(at, node.text.size);
}

NodeId PickleTree::child(NodeId id, std::uint32_t index) const {
  if (id == kNoNode || index >= count(id)) return kNoNode;
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

// numpy.core.multiarray.scalar(numpy.dtype("i8", ..) with state (3, "<", ..), bytes). `type`: i, u or f.
bool PickleTree::numpy_scalar(NodeId id, char* type, std::uint64_t* bits, unsigned* bytes) const {
  if (!is_call_of(id, "numpy.core.multiarray.scalar") && !is_call_of(id, "numpy._core.multiarray.scalar")) return false;
  const NodeId arguments = child(id, 1);
  if (!is(arguments, NodeKind::tuple) || count(arguments) != 2) return false;
  const NodeId dtype = child(arguments, 0);
  const NodeId value = child(arguments, 1);
  if (!is_call_of(dtype, "numpy.dtype") || !is(value, NodeKind::bytes)) return false;
  const NodeId code = child(child(dtype, 1), 0);
  if (!is(code, NodeKind::text) || text(code).size() != 2) return false;
  const std::string_view raw = text(value);
  if (raw.empty() || raw.size() > 8 || text(code)[1] - '0' != static_cast<int>(raw.size())) return false;
  const NodeId state = child(dtype, 2);
  const NodeId order = is(state, NodeKind::tuple) ? child(state, 1) : kNoNode;
  const bool big_endian = is(order, NodeKind::text) && text(order) == ">";
  *type = text(code)[0];
  *bytes = static_cast<unsigned>(raw.size());
  *bits = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    *bits = *bits << 8 | static_cast<unsigned char>(raw[big_endian ? i : raw.size() - 1 - i]);
  }
  return true;
}

bool PickleTree::integer_value(NodeId id, std::int64_t* out) const {
  if (is(id, NodeKind::integer) || is(id, NodeKind::boolean)) {
    *out = integer(id);
    return true;
  }
  char type = 0;
  std::uint64_t bits = 0;
  unsigned bytes = 0;
  if (!numpy_scalar(id, &type, &bits, &bytes) || (type != 'i' && type != 'u')) return false;
  const unsigned unused = 64 - 8 * bytes;
  *out = type == 'i' ? static_cast<std::int64_t>(bits << unused) >> unused : static_cast<std::int64_t>(bits);
  return type == 'i' || *out >= 0;
}

bool PickleTree::real_value(NodeId id, double* out) const {
  if (is(id, NodeKind::real)) {
    *out = real(id);
    return true;
  }
  char type = 0;
  std::uint64_t bits = 0;
  unsigned bytes = 0;
  if (!numpy_scalar(id, &type, &bits, &bytes) || type != 'f' || bytes < 4) return false;
  *out = bytes == 8 ? bit_cast<double>(bits) : static_cast<double>(bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return bytes == 4 || bytes == 8;
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

PickleTree read_pickle(std::string bytes, std::string_view where) {
  return PickleMachine(std::move(bytes), where).run();
}

}  // namespace minnow::convert
