// tools/options.hpp: numbers, names, and what each kind of argument does; messages are tested with the program.
#include "tools/options.hpp"

#include <doctest/doctest.h>

namespace minnow {
namespace {

struct Parsed {
  bool go_on = false;
  int status = -1;
  bool flag = false;
  std::string text = "unset";
  bool given = false;
  std::uint64_t number = 7;
  double real = 0.5;
  std::uint32_t choice = 9;
  std::string first;
  std::string second;
  bool has_second = false;
};

Parsed parse(std::vector<std::string> words) {
  Parsed p;
  Options options("test", "test MODEL", "For tests.");
  options.positional("MODEL", &p.first, nullptr);
  options.positional("-", &p.second, &p.has_second);
  options.flag("flag", &p.flag, "a flag");
  options.text("p", "TEXT", &p.text, &p.given, "a text");
  options.number("number", "N", 1, 100, &p.number, "a number");
  options.real("real", "X", 0, 2, &p.real, "a real");
  options.choice("choice", "WHAT", {{"one", 1}, {"two", 2}}, &p.choice, "a choice");
  options.alias("old_number", "number");
  words.insert(words.begin(), "test");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  p.go_on = options.parse(static_cast<int>(argv.size()), argv.data(), &p.status);
  return p;
}

}  // namespace

TEST_CASE("options: whole numbers are strict") {
  std::uint64_t n = 1;
  CHECK(parse_number("0", &n));
  CHECK(n == 0);
  CHECK(parse_number("18446744073709551615", &n));
  CHECK(n == UINT64_MAX);
  for (const char* bad : {"", "18446744073709551616", "99999999999999999999", "-1", "+1", " 1", "1 ", "1.0", "0x10",
                          "1e3", "abc", "1,000"}) {
    CAPTURE(std::string(bad));
    CHECK(!parse_number(bad, &n));
  }
  CHECK(n == UINT64_MAX);
}

TEST_CASE("options: real numbers are strict, and finite") {
  double x = 0;
  CHECK(parse_number("0.8", &x));
  CHECK(x == 0.8);
  CHECK(parse_number("1e-30", &x));
  CHECK(x == 1e-30);
  CHECK(parse_number("-.5", &x));
  CHECK(x == -0.5);
  for (const char* bad : {"", "0,8", "1e999", "nan", "inf", "0x1p3", " 1", "1 ", "1e", "--1", "1.2.3", "."}) {
    CAPTURE(std::string(bad));
    CHECK(!parse_number(bad, &x));
  }
  CHECK(x == -0.5);
}

TEST_CASE("options: the nearest name") {
  const std::vector<std::string_view> names = {"temp", "top-k", "top-p", "samples", "when-full", "no-echo"};
  CHECK(nearest_name("tmep", names) == "temp");
  CHECK(nearest_name("top_k", names) == "top-k");
  CHECK(nearest_name("sample", names) == "samples");
  CHECK(nearest_name("whenfull", names) == "when-full");
  CHECK(nearest_name("when", names) == "when-full");
  CHECK(nearest_name("quantise", names).empty());
  CHECK(nearest_name("x", {}).empty());
}

TEST_CASE("options: forms of options and arguments") {
  Parsed p = parse({"m", "--number", "5", "--real=1.5", "--choice", "two", "-p", "-x", "--flag"});
  CHECK(p.go_on);
  CHECK(p.first == "m");
  CHECK(p.number == 5);
  CHECK(p.real == 1.5);
  CHECK(p.choice == 2);
  CHECK(p.text == "-x");  // a value may begin with a dash
  CHECK(p.given);
  CHECK(p.flag);

  p = parse({"--old_number=99", "--flag=False", "m", "-"});
  CHECK(p.go_on);
  CHECK(p.number == 99);
  CHECK(!p.flag);
  CHECK(p.second == "-");
  CHECK(p.has_second);

  p = parse({"--", "--flag"});
  CHECK(p.go_on);
  CHECK(p.first == "--flag");
  CHECK(!p.flag);

  p = parse({"m", "-p", "", "--number", "1", "--number", "2"});
  CHECK(p.go_on);
  CHECK(p.text == "");
  CHECK(p.number == 2);

  p = parse({"m"});
  CHECK(p.go_on);
  CHECK(!p.given);
  CHECK(p.number == 7);
}

TEST_CASE("options: misuse is status 2, help is status 0") {
  const std::vector<std::vector<std::string>> misuses = {
      {},
      {"m", "--number", "0"},
      {"m", "--number", "101"},
      {"m", "--number"},
      {"m", "--real", "2.1"},
      {"m", "--real", "-1"},
      {"m", "--choice", "three"},
      {"m", "--choice=ONE"},
      {"m", "--flag=maybe"},
      {"m", "--unheard-of"},
      {"m", "-q"},
      {"m", "-number", "5"},
      {"m", "--p", "text"},
      {"m", "-", "third"},
  };
  for (const auto& words : misuses) {
    CAPTURE(words.size());
    const Parsed p = parse(words);
    CHECK(!p.go_on);
    CHECK(p.status == 2);
  }
  const Parsed p = parse({"--number", "5", "--help", "--unheard-of"});
  CHECK(!p.go_on);
  CHECK(p.status == 0);
}

}  // namespace minnow
