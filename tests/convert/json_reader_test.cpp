// tools/convert/json_reader.cpp: every kind of value, what is no JSON, and texts that are made to cost much.
#include "tools/convert/json_reader.hpp"

#include <doctest/doctest.h>

#include "tests/convert/support.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert::test {

namespace {

// The tree in a canonical form, or the refusal's text.
std::string print(const JsonTree& tree, JsonId id) {
  switch (tree.kind(id)) {
    case JsonKind::null:
      return "null";
    case JsonKind::boolean:
      return tree.integer(id) != 0 ? "true" : "false";
    case JsonKind::integer:
      return std::to_string(tree.integer(id));
    case JsonKind::real:
      return "r" + std::to_string(tree.real(id));
    case JsonKind::text:
      return "'" + std::string(tree.text(id)) + "'";
    case JsonKind::array:
    case JsonKind::object: {
      std::string out = std::to_string(tree.count(id)) + "(";
      for (JsonTree::Items items = tree.items(id); !items.done();) out += print(tree, items.take()) + ";";
      return out + ")";
    }
  }
  return "?";
}

std::string read(const std::string& text) {
  try {
    const JsonTree tree = read_json(text, "it");
    return print(tree, tree.root());
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
}

}  // namespace

TEST_CASE("json: values of every kind") {
  CHECK(read("null") == "null");
  CHECK(read(" true ") == "true");
  CHECK(read("\xef\xbb\xbf"
             "false\n") == "false");
  CHECK(read("0") == "0");
  CHECK(read("-0") == "0");
  CHECK(read("-9223372036854775807") == "-9223372036854775807");
  CHECK(read("9223372036854775807") == "9223372036854775807");
  CHECK(read("9223372036854775808") == "r9223372036854775808.000000");
  CHECK(read("1.5") == "r1.500000");
  CHECK(read("-2e3") == "r-2000.000000");
  CHECK(read("1E-2") == "r0.010000");
  CHECK(read("1e-05") == "r0.000010");
  CHECK(read("[]") == "0()");
  CHECK(read("{}") == "0()");
  CHECK(read("[1,[2,[]],{}, 3]") == "4(1;2(2;0(););0();3;)");
  CHECK(read("{\"a\":1,\"b\":{\"a\":[true]},\"\":null}") == "3('a';1;'b';1('a';1(true;););'';null;)");
  CHECK(read("{ \"a\" : 1 , \"b\" : 2 }\r\n\t ") == "2('a';1;'b';2;)");
}

TEST_CASE("json: strings") {
  CHECK(read("\"\"") == "''");
  CHECK(read("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\"") == "'a\"\\/\b\f\n\r\tz'");
  CHECK(read("\"\\u0041\\u00e9\\u20AC\"") == "'A\xc3\xa9\xe2\x82\xac'");
  CHECK(read("\"\\ud83d\\ude00\"") == "'\xf0\x9f\x98\x80'");
  CHECK(read("\"\\ud83d\"") == "'\xed\xa0\xbd'");
  CHECK(read("\"\\ud83d\\ud83d\\ude00\"") == "'\xed\xa0\xbd\xf0\x9f\x98\x80'");
  CHECK(read("\"\\ude00\\n\"") == "'\xed\xb8\x80\n'");
  CHECK(read("\"\\u0000\"") == std::string("'\0'", 3));
  CHECK(read("\"\xc3\xa9\xf0\x9f\x98\x80\"") == "'\xc3\xa9\xf0\x9f\x98\x80'");
  for (const char* bad : {"\"\xff\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "\"\xc0\xaf\"", "\"\xf5\x80\x80\x80\""}) {
    CHECK(contains(read(bad), "no valid UTF-8"));
  }
  for (const char* bad :
       {"\"\\x41\"", "\"\\", "\"\\\"", "\"\\u12g4\"", "\"\\u12", "\"\\ud800\\u1\"", "\"a\nb\"", "\"a"}) {
    CHECK_MESSAGE(contains(read(bad), "; expected JSON; "), bad);
  }
}

TEST_CASE("json: members are found by their key") {
  const JsonTree tree = read_json("{\"a\":{\"b\":1},\"b\":2.5,\"c\":[7]}", "it");
  CHECK(tree.integer(tree.find(tree.find(tree.root(), "a"), "b")) == 1);
  CHECK(tree.real(tree.find(tree.root(), "b")) == 2.5);
  CHECK(tree.find(tree.root(), "d") == kNoJson);
  CHECK(tree.find(tree.find(tree.root(), "c"), "a") == kNoJson);
  CHECK(tree.find(kNoJson, "a") == kNoJson);
  CHECK_FALSE(tree.is(kNoJson, JsonKind::null));
}

TEST_CASE("json: what is no JSON") {
  for (const char* bad :
       {"",         " ",         "nul", "True", "NaN", "Infinity", "-",       "01",       "-01",
        "1.",       ".5",        "+1",  "1e",   "1e+", "[",        "[1",      "[1,",      "[1,]",
        "[,1]",     "[1 2]",     "[1}", "]",    "{",   "{1:2}",    "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
        "{\"a\":1", "{\"a\" 1}", "{,}", "1 2",  "{}x", "'a'",      "[1]]",    "//",       "\x01"}) {
    CHECK_MESSAGE(contains(read(bad), "; expected JSON; "), bad);
  }
  CHECK(contains(read("[1, x]"), "it, byte 4: a value is missing"));
  CHECK(contains(read("1e999"), "too large"));
  CHECK(contains(read(std::string("[1\0]", 4)), "it, byte 2: a comma"));
  CHECK(contains(read("{\"k\":1,\"\\u006b\":2}"), "the key \"k\" is there twice"));
}

TEST_CASE("json: cut at every byte, damaged at every byte") {
  const std::string whole = "{\"a\\u0041\":[1,2.5,\"\\ud83d\\ude00\",null],\"b\":{\"c\":true}}";
  REQUIRE(read(whole) == "2('aA';4(1;r2.500000;'\xf0\x9f\x98\x80';null;);'b';1('c';true;);)");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK_MESSAGE(contains(read(whole.substr(0, i)), "; expected JSON; "), i);
    for (const int flip : {1, 0x80, 0xff}) {
      std::string broken = whole;
      broken[i] = static_cast<char>(broken[i] ^ flip);
      CHECK_MESSAGE(!read(broken).empty(), i);
    }
  }
}

TEST_CASE("json: texts that would cost much") {
  const std::size_t many = std::size_t{20} << 20;
  CHECK(contains(read(std::string(many, '[')), "brackets inside each other"));
  CHECK(contains(read(std::string(kMaxJsonBytes + 1, ' ')), "expected at most"));
  std::string values = "[1";
  for (std::size_t i = 0; i < kMaxJsonNodes; ++i) values += ",1";
  CHECK(contains(read(values + "]"), "more than"));
  std::string reals = "[1";
  for (std::size_t i = 0; i <= kMaxJsonNodes / 4; ++i) reals += ",0.1e-300";
  CHECK(contains(read(reals + "]"), "expected JSON"));
  CHECK(contains(read(std::string(many, '1')), "a number has more than"));
  // Keys that differ only at their ends, each object's compared once.
  std::string keys = "{";
  for (int i = 0; i < 20000; ++i) keys += "\"" + std::string(1000, 'k') + std::to_string(i) + "\":0,";
  CHECK(contains(read(keys + "\"x\":0}"), "20001("));
  CHECK(read("\"" + std::string(many, 'x') + "\"").size() == many + 2);
}

TEST_CASE("json: a file's refusal carries its path") {
  const TemporaryFolder folder;
  write_file(folder / "a.json", "{\"a\":[1]}");
  CHECK(read_json_file(folder / "a.json").count(0) == 1);
  write_file(folder / "a.json", "{\"a\":[1}");
  try {
    read_json_file(folder / "a.json");
    FAIL("it was read");
  } catch (const Refusal& refusal) {
    CHECK(refusal.path() == folder / "a.json");
    CHECK(contains(refusal.what(), "the text, byte 7: "));
  }
}

}  // namespace minnow::convert::test
