// The pickle opcodes that would import and call. Here they only write down what was asked for. Depends on
// pickle_machine.
#include "tools/convert/pickle_machine.hpp"

namespace minnow::convert {

namespace {

// Modules that no checkpoint needs and an attack does. Nothing of them would run here either; naming them warns the
// user before another program loads the file.
constexpr std::string_view kReachingOut[] = {
    "os",       "posix",           "nt",     "subprocess", "sys",     "importlib",  "runpy",
    "socket",   "shutil",          "pty",    "code",       "ctypes",  "webbrowser", "marshal",
    "pickle",   "_pickle",         "http",   "urllib",     "asyncio", "pip",        "commands",
    "requests", "multiprocessing", "timeit", "pdb",        "bdb",
};
constexpr std::string_view kHarmlessBuiltins[] = {
    "set", "frozenset", "complex",   "list",  "dict",  "tuple",  "int",  "float",   "bool",
    "str", "bytes",     "bytearray", "slice", "range", "object", "long", "unicode", "xrange",
};

constexpr std::size_t kLongestName = 1000;  // of a global; real ones have less than 100 bytes

template <std::size_t N>
bool contains(const std::string_view (&list)[N], std::string_view name) {
  for (const std::string_view item : list) {
    if (item == name) return true;
  }
  return false;
}

bool reaches_out(std::string_view module, std::string_view name) {
  if (module == "builtins" || module == "__builtin__") return !contains(kHarmlessBuiltins, name);
  return contains(kReachingOut, module.substr(0, module.find('.')));
}

}  // namespace

NodeId PickleMachine::make_global(NodeId module, NodeId name) {
  if (!tree_.is(module, NodeKind::text) || !tree_.is(name, NodeKind::text)) fail("a global's name is not a string");
  if (tree_.text(module).size() + tree_.text(name).size() > kLongestName) fail("a global's name is too long");
  const NodeId id = add(NodeKind::global);
  append(id, module);
  append(id, name);
  const std::string dotted = tree_.global_name(id);
  if (reaches_out(tree_.text(module), tree_.text(name))) {
    refuse(where_, ", byte ", op_at_, ": it asks to call ", quoted(dotted), ", which no such file needs; expected ",
           "tensors, numbers and texts; nothing was run: do not load this file with Python either");
  }
  return id;
}

// collections.OrderedDict() or OrderedDict([[key, value], ..])
NodeId PickleMachine::make_ordered_dict(NodeId arguments) {
  const NodeId dict = add(NodeKind::dict);
  if (tree_.count(arguments) == 0) return dict;
  const NodeId pairs = tree_.child(arguments, 0);
  if (!tree_.is(pairs, NodeKind::list)) fail("an OrderedDict is not made of pairs");
  for (PickleTree::Items items = tree_.items(pairs); !items.done();) {
    const NodeId pair = items.take();
    const bool pair_like = tree_.is(pair, NodeKind::list) || tree_.is(pair, NodeKind::tuple);
    if (!pair_like || tree_.count(pair) != 2) fail("an OrderedDict is not made of pairs");
    append(dict, tree_.child(pair, 0));
    append(dict, tree_.child(pair, 1));
  }
  return dict;
}

// _codecs.encode(text, "latin1"): how protocol 2 writes Python 3's bytes. kNoNode: something else.
NodeId PickleMachine::make_latin1_bytes(NodeId arguments) {
  const NodeId text = tree_.child(arguments, 0);
  if (!tree_.is(text, NodeKind::text)) return kNoNode;
  const std::string_view utf8 = tree_.text(text);
  latin1_work_ += utf8.size();  // one text may be encoded many times
  if (latin1_work_ > kMaxPickleBytes) fail("too much text is turned into bytes");
  std::string bytes;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const unsigned char lead = static_cast<unsigned char>(utf8[i]);
    if (lead < 0x80) {
      bytes += utf8[i];
    } else if ((lead == 0xc2 || lead == 0xc3) && i + 1 < utf8.size()) {
      bytes += static_cast<char>((lead & 3) << 6 | (static_cast<unsigned char>(utf8[++i]) & 0x3f));
    } else {
      return kNoNode;
    }
  }
  return add_decoded(bytes, NodeKind::bytes);
}

NodeId PickleMachine::make_call(NodeId callee, NodeId arguments) {
  // Before PyTorch 1.6 a module's class was a persistent id with its source: ('module', class, file, text).
  if (tree_.is(callee, NodeKind::storage)) {
    const NodeId id = tree_.child(callee, 0);
    const NodeId what = tree_.is(id, NodeKind::tuple) ? tree_.child(id, 0) : kNoNode;
    if (tree_.is(what, NodeKind::text) && tree_.text(what) == "module") callee = tree_.child(id, 1);
    if (callee == kNoNode) fail("a call of nothing");
  }
  if (!tree_.is(callee, NodeKind::global)) {
    fail(concat("a call of ", PickleTree::kind_name(tree_.kind(callee)), " instead of a class or function"));
  }
  if (!tree_.is(arguments, NodeKind::tuple)) fail("the arguments of a call are no tuple");
  if (tree_.is_global(callee, "collections.OrderedDict")) return make_ordered_dict(arguments);
  if (tree_.is_global(callee, "collections.defaultdict")) return add(NodeKind::dict);  // its items follow
  if (tree_.is_global(callee, "collections.Counter")) {
    const NodeId counts = tree_.child(arguments, 0);
    return tree_.is(counts, NodeKind::dict) ? counts : add(NodeKind::dict);
  }
  if (tree_.is_global(callee, "_codecs.encode")) {
    if (const NodeId bytes = make_latin1_bytes(arguments); bytes != kNoNode) return bytes;
  }
  const NodeId id = add(NodeKind::object);
  append(id, callee);
  append(id, arguments);
  return id;
}

// A dict's state is torch's `_metadata`, which says nothing that matters here.
void PickleMachine::build() {
  const NodeId state = pop();
  const NodeId target = top();
  if (tree_.is(target, NodeKind::dict)) return;
  if (!tree_.is(target, NodeKind::object)) {
    fail(concat("a state is given to ", PickleTree::kind_name(tree_.kind(target))));
  }
  if (tree_.count(target) == 2) append(target, state);
}

bool PickleMachine::object_op(unsigned char op) {
  switch (op) {
    case 'c': {  // GLOBAL
      const NodeId module = add_text(take_line());
      push(make_global(module, add_text(take_line())));
      return true;
    }
    case 0x93: {  // STACK_GLOBAL
      const NodeId name = pop();
      push(make_global(pop(), name));
      return true;
    }
    case 'R':     // REDUCE
    case 0x81: {  // NEWOBJ
      const NodeId arguments = pop();
      push(make_call(pop(), arguments));
      return true;
    }
    case 0x92: {  // NEWOBJ_EX; keyword arguments are dropped
      pop();
      const NodeId arguments = pop();
      push(make_call(pop(), arguments));
      return true;
    }
    case 'i': {  // INST
      const NodeId module = add_text(take_line());
      const NodeId callee = make_global(module, add_text(take_line()));
      push(make_call(callee, collect(NodeKind::tuple, pop_mark())));
      return true;
    }
    case 'o': {  // OBJ
      const std::size_t from = pop_mark();
      if (from >= stack_.size()) fail("a class is missing");
      const NodeId arguments = collect(NodeKind::tuple, from + 1);
      push(make_call(pop(), arguments));
      return true;
    }
    case 'b':  // BUILD
      build();
      return true;
    case 'P':    // PERSID
    case 'Q': {  // BINPERSID
      const NodeId persistent = op == 'P' ? add_text(take_line()) : pop();
      const NodeId id = add(NodeKind::storage);
      append(id, persistent);
      push(id);
      return true;
    }
    case 0x82:  // EXT1, EXT2, EXT4
    case 0x83:
    case 0x84:
      fail("it asks for a class by a number of the extension registry, which only the program that wrote it knows");
    case 0x97:  // NEXT_BUFFER, READONLY_BUFFER
    case 0x98:
      fail("it refers to a buffer outside of it");
    default:
      return false;
  }
}

}  // namespace minnow::convert
