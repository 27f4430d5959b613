// The program in an environment that asks for a decimal comma: it reads and writes points.
#include "tests/comma_locale.hpp"
#include "tests/tools/child.hpp"

using namespace minnow;
using namespace minnow::test;

TEST_CASE("locale: the program reads and writes decimal points whatever the environment asks for") {
  const std::string model = "models/shakespeare-char.minnow";
  const std::vector<std::vector<std::string>> commands = {
      {"run", model, "-p", "A", "-n", "20", "--seed", "1", "--temp", "0.5", "--top-p", "0.9"},
      {"plan", model, "--json"},
      {"info", model, "--json"},
      {"run", model, "-n", "1", "--temp", "0,5"},
  };
  std::vector<Outcome> expected;
  for (const auto& command : commands) expected.push_back(run_program(command));
  CHECK(expected[0].status == 0);
  CHECK(expected[2].status == 0);
  CHECK(expected[3].status == 2);  // a comma is no number
  const CommaLocale locale;
  if (locale.name().empty()) {
    MESSAGE("no locale with a decimal comma here");
    return;
  }
  REQUIRE(setenv("LC_ALL", locale.name().c_str(), 1) == 0);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    CAPTURE(i);
    const Outcome outcome = run_program(commands[i]);
    CHECK(outcome.status == expected[i].status);
    CHECK(outcome.out == expected[i].out);
    CHECK(outcome.err == expected[i].err);
  }
  unsetenv("LC_ALL");
}
