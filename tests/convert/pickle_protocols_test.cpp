// tools/convert/pickle*.cpp on what Python itself writes, in its six protocols (tests/fixtures/make_pickles.py).
#include <doctest/doctest.h>

#include "tests/convert/support.hpp"
#include "tools/convert/pickle.hpp"

namespace minnow::convert::test {

namespace {

std::string show(const PickleTree& tree, NodeId id) {
  const auto list = [&](char open, char close) {
    std::string out(1, open);
    for (PickleTree::Items items = tree.items(id); !items.done();) out += show(tree, items.take()) + " ";
    return out + close;
  };
  switch (tree.kind(id)) {
    case NodeKind::none:
      return "None";
    case NodeKind::boolean:
      return tree.integer(id) != 0 ? "True" : "False";
    case NodeKind::integer:
      return std::to_string(tree.integer(id));
    case NodeKind::big_integer:
      return "big";
    case NodeKind::real:
      return tree.real(id) == 1e300 ? "1e300" : std::to_string(tree.real(id));
    case NodeKind::text:
      return "'" + std::string(tree.text(id)) + "'";
    case NodeKind::bytes:
      return "b'" + std::string(tree.text(id)) + "'";
    case NodeKind::tuple:
      return list('(', ')');
    case NodeKind::list:
      return list('[', ']');
    case NodeKind::set:
      return list('<', '>');
    case NodeKind::dict:
      return list('{', '}');
    case NodeKind::object:
    case NodeKind::global:
    case NodeKind::storage:
      return "object";
  }
  return "?";
}

// The class of an object, which protocols 0 and 1 make by way of a function.
std::string class_of(const PickleTree& tree, NodeId object) {
  if (!tree.is(object, NodeKind::object)) return "no object";
  NodeId type = tree.child(object, 0);
  if (tree.is_global(type, "copy_reg._reconstructor")) type = tree.child(tree.child(object, 1), 0);
  return tree.global_name(type);
}

}  // namespace

TEST_CASE("pickle: the six protocols of Python") {
  for (int protocol = 0; protocol <= 5; ++protocol) {
    CAPTURE(protocol);
    const std::string name = "pickles/protocol" + std::to_string(protocol) + ".pkl";
    const PickleTree tree = read_pickle(read_file(fixture(name)), name);
    const auto value = [&](const char* key) { return tree.find(tree.root(), key); };
    CHECK(show(tree, value("none")) == "None");
    CHECK(show(tree, value("booleans")) == "[True False ]");
    CHECK(show(tree, value("integers")) ==
          "[0 255 256 65535 65536 -1 2147483647 -2147483648 2147483648 -9223372036854775808 9223372036854775807 big "
          "big ]");
    CHECK(show(tree, value("reals")) == "[0.000000 -1.500000 1e300 0.000010 ]");
    CHECK(show(tree, value("texts")) ==
          "['' 'plain' 'caf\xc3\xa9' '\xe2\x82\xac' '\xf0\x9f\x98\x80' "
          "'new\nline \\ 'quote'' '" +
              std::string(300, 'x') + "' ]");
    CHECK(show(tree, tree.child(value("bytes"), 1)) == std::string("b'\0\xff'", 5));
    CHECK(show(tree, tree.child(value("bytes"), 2)) == "b'" + std::string(300, 'y') + "'");
    CHECK(show(tree, value("tuples")) == "[() (1 ) (1 2 ) (1 2 3 ) (1 2 3 4 ) ]");
    CHECK(show(tree, value("shared")) == "[['shared' 1 ] ['shared' 1 ] ]");
    CHECK(tree.child(value("shared"), 0) == tree.child(value("shared"), 1));
    CHECK(show(tree, value("ordered")) == "{'a' 1 'b' 2 }");
    CHECK(show(tree, value("default")) == "{'c' 3 }");
    CHECK(class_of(tree, value("namespace")) == "argparse.Namespace");
    CHECK(show(tree, tree.child(value("namespace"), 2)) == "{'lr' 0.500000 }");
    CHECK(class_of(tree, value("plain")) == "model.Plain");
    CHECK(show(tree, tree.child(value("plain"), 2)) == "{'n_head' 3 }");
    CHECK(class_of(tree, value("data")) == "model.Data");
    CHECK(show(tree, tree.child(value("data"), 2)) == "{'n_embd' 48 'bias' False }");
    CHECK(class_of(tree, value("path")) == "pathlib.PurePosixPath");
    CHECK(class_of(tree, value("time")) == "datetime.datetime");
    CHECK(class_of(tree, tree.child(value("own"), 0)) == "model.OwnDict");
    CHECK(class_of(tree, tree.child(value("own"), 1)) == "model.OwnList");
    if (protocol >= 2) {
      CHECK(class_of(tree, value("slots")) == "model.Slots");
      CHECK(show(tree, tree.child(value("slots"), 2)) == "(None {'n_layer' 4 } )");
    }
    if (protocol >= 4) CHECK(show(tree, value("sets")) == "[<> <1 > <2 > ]");
    if (protocol == 5) CHECK(show(tree, value("bytearray")) == "b'z\xfe'");
  }
}

}  // namespace minnow::convert::test
