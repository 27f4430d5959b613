// tools/convert/pickle*.cpp: every opcode, and what a damaged or hostile pickle may try.
#include "tools/convert/pickle.hpp"

#include <doctest/doctest.h>

#include "tests/convert/support.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert::test {

namespace {

std::string show(const PickleTree& tree, NodeId id, int depth = 0) {
  if (depth > 4) return "..";
  const auto list = [&](const char* open, const char* close) {
    std::string out = open;
    for (PickleTree::Items items = tree.items(id); !items.done();) {
      out += (out.size() > 1 ? " " : "") + show(tree, items.take(), depth + 1);
    }
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
      return std::to_string(tree.real(id));
    case NodeKind::text:
      return "'" + std::string(tree.text(id)) + "'";
    case NodeKind::bytes:
      return "b'" + std::string(tree.text(id)) + "'";
    case NodeKind::tuple:
      return list("(", ")");
    case NodeKind::list:
      return list("[", "]");
    case NodeKind::set:
      return list("<", ">");
    case NodeKind::dict:
      return list("{", "}");
    case NodeKind::global:
      return tree.global_name(id);
    case NodeKind::object:
      return "call" + list("(", ")");
    case NodeKind::storage:
      return "storage" + list("(", ")");
  }
  return "?";
}

// The value of a pickle, or the refusal's text.
std::string value(const std::string& pickle) {
  try {
    const PickleTree tree = read_pickle(pickle, "here");
    return show(tree, tree.root());
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
}

// String literals with zero bytes in them.
template <std::size_t N>
std::string bin(const char (&literal)[N]) {
  return std::string(literal, N - 1);
}

}  // namespace

TEST_CASE("pickle: constants and numbers") {
  CHECK(value("N.") == "None");
  CHECK(value("\x88.") == "True");
  CHECK(value("\x89.") == "False");
  CHECK(value("I01\n.") == "True");
  CHECK(value("I00\n.") == "False");
  CHECK(value("I-12\n.") == "-12");
  CHECK(value("I9223372036854775807\n.") == "9223372036854775807");
  CHECK(value("I9223372036854775808\n.") == "big");
  CHECK(value("L-5L\n.") == "-5");
  CHECK(value("J\xfe\xff\xff\xff.") == "-2");
  CHECK(value("K\xff.") == "255");
  CHECK(value("M\xff\xff.") == "65535");
  CHECK(value(bin("\x8a\0.")) == "0");
  CHECK(value("\x8a\x01\x80.") == "-128");
  CHECK(value("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f.") == "9223372036854775807");
  CHECK(value("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x01.") == "big");
  CHECK(value(bin("\x8b\x02\0\0\0\x01\x02.")) == "513");
  CHECK(value(bin("G\x3f\xf8\0\0\0\0\0\0.")) == "1.500000");
  CHECK(value("F-2.5\n.") == "-2.500000");
  CHECK(contains(value("F1,5\n."), "malformed"));
  CHECK(contains(value("I1x\n."), "malformed"));
  CHECK(contains(value("I\n."), "malformed"));
}

TEST_CASE("pickle: strings of every protocol") {
  CHECK(value("X" + number(3, 4) + "abc.") == "'abc'");
  CHECK(value("\x8c\x03"
              "abc.") == "'abc'");
  CHECK(value("\x8d" + number(3, 8) + "abc.") == "'abc'");
  CHECK(value("U\x03"
              "abc.") == "'abc'");
  CHECK(value("T" + number(3, 4) + "abc.") == "'abc'");
  CHECK(value("S'a\\n\\x41\\\\\\'\"'\n.") == "'a\nA\\'\"'");
  CHECK(value("Va\\u00e9\\U0001f600\\ud800\xe9\n.") == "'a\u00e9\U0001f600\xed\xa0\x80\u00e9'");
  CHECK(value("C\x02xy.") == "b'xy'");
  CHECK(value("B" + number(2, 4) + "xy.") == "b'xy'");
  CHECK(value("\x8e" + number(2, 8) + "xy.") == "b'xy'");
  CHECK(value("\x96" + number(2, 8) + "xy.") == "b'xy'");
  CHECK(value("X" + number(0, 4) + ".") == "''");
  CHECK(value("S''\n.") == "''");
  for (const char* wrong : {"S'a\n.", "Sa\n.", "S'\\q'\n.", "S'\\x4'\n.", "V\\u12\n.", "V\\U00110000\n.", "Vabc"}) {
    CHECK_MESSAGE(contains(value(wrong), "; expected "), wrong);
  }
}

TEST_CASE("pickle: containers") {
  CHECK(value(").") == "()");
  CHECK(value("].") == "[]");
  CHECK(value("}.") == "{}");
  CHECK(value("\x8f.") == "<>");
  CHECK(value("(K\1K\2t.") == "(1 2)");
  CHECK(value("(K\1K\2l.") == "[1 2]");
  CHECK(value("(K\1K\2d.") == "{1 2}");
  CHECK(value("(K\1K\2\x91.") == "<1 2>");
  CHECK(value("K\1\x85.") == "(1)");
  CHECK(value("K\1K\2\x86.") == "(1 2)");
  CHECK(value("K\1K\2K\3\x87.") == "(1 2 3)");
  CHECK(value("]K\1a(K\2K\3e.") == "[1 2 3]");
  CHECK(value("}K\1K\2s(K\3K\4u.") == "{1 2 3 4}");
  CHECK(value("\x8f(K\1K\2\x90.") == "<1 2>");
  CHECK(value("(0K\1.") == "1");
  CHECK(value("K\1(K\2K\3"
              "1.") == "1");
  CHECK(value("K\1"
              "2\x86.") == "(1 1)");
}

TEST_CASE("pickle: the memo") {
  CHECK(value("K\1q\5K\2h\5\x87.") == "(1 2 1)");
  CHECK(value("K\1r" + number(70000, 4) + "j" + number(70000, 4) + "\x86.") == "(1 1)");
  CHECK(value("K\1p12\ng12\n\x86.") == "(1 1)");
  CHECK(value("K\1\x94K\2\x94h\1\x87.") == "(1 2 2)");
  CHECK(contains(value("h\5."), "memo entry 5 is used but was never set"));
  CHECK(contains(value("K\1q\5h\4."), "never set"));
  CHECK(contains(value("K\1r\xff\xff\xff\xff."), "too high"));
  CHECK(contains(value("q\1."), "empty stack"));
}

TEST_CASE("pickle: globals and calls are written down, not made") {
  CHECK(value("cmodel\nGPTConfig\n.") == "model.GPTConfig");
  CHECK(value("\x8c\x01m\x8c\x01n\x93.") == "m.n");
  CHECK(value("cm\nn\n(K\1tR.") == "call(m.n (1))");
  CHECK(value("cm\nn\n)\x81.") == "call(m.n ())");
  CHECK(value("cm\nn\n)}\x92.") == "call(m.n ())");
  CHECK(value("cm\nn\n)\x81}b.") == "call(m.n () {})");
  CHECK(value("(K\1im\nn\n.") == "call(m.n (1))");
  CHECK(value("(cm\nn\nK\1o.") == "call(m.n (1))");
  CHECK(value("K\7Q.") == "storage(7)");
  CHECK(value("Pabc\n.") == "storage('abc')");
  CHECK(value("ccollections\nOrderedDict\n)R(K\1K\2u}b.") == "{1 2}");
  CHECK(value("ccollections\nOrderedDict\n]](K\1K\2ea\x85R.") == "{1 2}");
  CHECK(value("c_codecs\nencode\nX" + number(3, 4) + "a\xc3\xa9X" + number(6, 4) + "latin1\x86R.") == "b'a\xe9'");
  // Items and state of a class of its own do not matter.
  CHECK(value("cm\nn\n)\x81(K\1K\2u.") == "call(m.n ())");
  for (const char* wrong : {"K\1)R.", "cm\nn\nK\1R.", "K\1}b.", "(o.", "cm\n", "cm\nn", "K\1K\2\x93."}) {
    CHECK_MESSAGE(contains(value(wrong), "; expected "), wrong);
  }
}

TEST_CASE("pickle: what reaches out of the program is refused by name") {
  for (const char* name : {"os\nsystem", "posix\nsystem", "builtins\neval", "__builtin__\nexec", "subprocess\nPopen",
                           "importlib.util\nx", "builtins\ngetattr"}) {
    const std::string text = value("c" + std::string(name) + "\n(X" + number(2, 4) + "lstR.");
    std::string dotted = name;
    dotted[dotted.find('\n')] = '.';
    CHECK_MESSAGE(contains(text, "it asks to call \"" + dotted + "\""), text);
    CHECK(contains(text, "nothing was run"));
  }
  CHECK(contains(value("\x8c\x02os\x8c\x06system\x93."), "os.system"));
  CHECK(contains(value("(ios\nsystem\n."), "os.system"));
  CHECK(value("cbuiltins\nset\n.") == "builtins.set");
  CHECK(value("cnumpy\ndtype\n.") == "numpy.dtype");
}

TEST_CASE("pickle: integers of numpy") {
  const auto scalar = [](const std::string& code, const std::string& order, const std::string& raw_bytes) {
    PickleMaker p;
    p.global("numpy.core.multiarray", "scalar").global("numpy", "dtype").text(code).op("\x89\x88\x87R(K\x03");
    p.text(order).op("NNNtb").op("C").op(number(raw_bytes.size(), 1)).op(raw_bytes).op("\x86R");
    const PickleTree tree = read_pickle(p.done(), "here");
    std::int64_t out = 12345678;
    const bool ok = tree.integer_value(tree.root(), &out);
    return ok ? std::to_string(out) : std::string("no");
  };
  CHECK(scalar("i8", "<", number(65, 8)) == "65");
  CHECK(scalar("i8", "<", number(static_cast<std::uint64_t>(-3), 8)) == "-3");
  CHECK(scalar("i4", ">", bin("\0\0\1\2")) == "258");
  CHECK(scalar("u1", "|", "\xff") == "255");
  CHECK(scalar("i1", "|", "\xff") == "-1");
  CHECK(scalar("u8", "<", std::string(8, '\xff')) == "no");
  CHECK(scalar("f8", "<", number(65, 8)) == "no");
  CHECK(scalar("i8", "<", number(65, 4)) == "no");
  CHECK(scalar("i8", "<", "") == "no");
}

TEST_CASE("pickle: protocol and frames") {
  CHECK(value("\x80\x05N.") == "None");
  CHECK(contains(value("\x80\x06N."), "protocol 6"));
  CHECK(value("\x95" + number(2, 8) + "N.") == "None");
  CHECK(contains(value("\x95" + number(3, 8) + "N."), "frame"));
  CHECK(contains(value("\x82\x01."), "extension registry"));
  CHECK(contains(value("\xa0."), "opcode 160"));
  CHECK(contains(value("\x97."), "a buffer outside"));
  const PickleTree tree = read_pickle("N.behind", "here");
  CHECK(tree.bytes_read() == 2);
}

TEST_CASE("pickle: stack faults") {
  for (const char* wrong :
       {".",       "0",   "a.",    "]a.",      "s.",     "}K\1s.",    "t.", "e.",    "u.", "(K\1u.",    "K\1(K\2K\3u.",
        "1",       "2",   "\x85.", "K\1\x86.", "(\x85.", "K\1(\x85.", "R.", "Q.",    "b.", "]K\1K\2s.", "}K\1a.",
        "(K\1(a.", "NN.", "(N.",   "",         "K",      "](K\1s.",   "d",  "(K\1d."}) {
    CHECK_MESSAGE(contains(value(wrong), "; expected "), wrong, " gave ", value(wrong));
  }
}

TEST_CASE("pickle: lengths beyond the data are refused before anything is reserved") {
  for (const std::string& op :
       {"X" + number(0xffffffff, 4), "\x8d" + number(std::uint64_t{1} << 63, 8), "\x8e" + number(UINT64_MAX, 8),
        "B" + number(0x7fffffff, 4), "\x8b" + number(0xffffffff, 4), "\x96" + number(UINT64_MAX, 8),
        std::string("U\xff"), "\x95" + number(UINT64_MAX, 8)}) {
    CHECK(contains(value(op + "x."), "; expected "));
  }
}

TEST_CASE("pickle: a list that holds itself, and depth") {
  const PickleTree tree = read_pickle("]q\1h\1a.", "here");
  CHECK(tree.child(tree.root(), 0) == tree.root());
  std::string deep = ")";
  for (int i = 0; i < 100000; ++i) deep += "\x85";
  CHECK(contains(value(deep + "."), ".."));
  std::string marks;
  for (int i = 0; i < 100000; ++i) marks += "(";
  CHECK(contains(value(marks + "."), "; expected "));
}

TEST_CASE("pickle: budgets") {
  CHECK(contains(value(std::string(kMaxPickleNodes + 1, 'N')), "more than"));
  CHECK(contains(value("N" + std::string(4 * kMaxPickleNodes, '2')), "stack grows too large"));
  std::string bomb = "]q\1";  // each step doubles nothing but the count of references
  for (std::size_t i = 0; i < 4 * kMaxPickleNodes + 1; ++i) bomb += "h\1a";
  CHECK(contains(value(bomb + "."), "items"));
  CHECK(contains(value(std::string(kMaxPickleBytes + 1, 'N')), "expected at most"));
}

TEST_CASE("pickle: cut at every byte") {
  const std::string whole = pickle_meta(9);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK(contains(value(whole.substr(0, size)), "; expected "));
  }
}

TEST_CASE("pickle: lookups") {
  const PickleTree tree =
      read_pickle("}(X" + number(1, 4) + "aK\1X" + number(1, 4) + "bK\2X" + number(1, 4) + "aK\3u.", "here");
  CHECK(tree.integer(tree.find(tree.root(), "a")) == 3);  // as in Python the last one holds
  CHECK(tree.integer(tree.find(tree.root(), "b")) == 2);
  CHECK(tree.find(tree.root(), "c") == kNoNode);
  CHECK(tree.find(kNoNode, "c") == kNoNode);
  CHECK(tree.child(tree.root(), 6) == kNoNode);
}

}  // namespace minnow::convert::test
