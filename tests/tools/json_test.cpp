// tools/json.hpp: any bytes give legal JSON, numbers read back equal.
#include "tools/json.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/bits.hpp"
#include "base/rng.hpp"

namespace minnow {

TEST_CASE("json: strings") {
  using namespace std::string_view_literals;
  CHECK(json_string("") == "\"\"");
  CHECK(json_string("a\"b\\c/") == "\"a\\\"b\\\\c/\"");
  CHECK(json_string("\n\t\r\x01\x1f\x7f\0z"sv) == "\"\\u000a\\u0009\\u000d\\u0001\\u001f\\u007f\\u0000z\"");
  bool lossy = false;
  CHECK(json_string("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", &lossy) == "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
  CHECK(!lossy);
  CHECK(json_string("a\xff\xe2\x82", &lossy) == "\"a\\ufffd\\ufffd\\ufffd\"");
  CHECK(lossy);
  CHECK(json_string("\xed\xa0\x80") == "\"\\ufffd\\ufffd\\ufffd\"");  // a surrogate
}

TEST_CASE("json: numbers read back as the same double") {
  CHECK(json_number(0) == "0");
  CHECK(json_number(1.5) == "1.5");
  CHECK(json_number(0.1) == "0.1");
  CHECK(json_number(-1e-30) == "-1e-30");
  CHECK(json_number(std::numeric_limits<double>::infinity()) == "null");
  CHECK(json_number(std::nan("")) == "null");
  int wrong = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double x = bit_cast<double>(draw64(3, i));
    if (!std::isfinite(x)) continue;
    wrong += std::strtod(json_number(x).c_str(), nullptr) != x;
  }
  CHECK(wrong == 0);
}

TEST_CASE("json: objects and arrays keep their order") {
  JsonObject object;
  object.add("b", std::uint64_t{1}).add("a", "x").add("c", true).add("d", 0.5);
  object.raw("e", json_array(3, [](std::size_t i) { return std::to_string(i); }));
  object.raw("f", json_array(0, [](std::size_t) { return std::string(); }));
  object.raw("g", JsonObject().str());
  CHECK(object.str() == R"({"b": 1, "a": "x", "c": true, "d": 0.5, "e": [0, 1, 2], "f": [], "g": {}})");
}

}  // namespace minnow
