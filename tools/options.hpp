// The one option parser of the program: every subcommand binds names to variables, and gets parsing, --help and error
// messages from here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/messages.hpp"

namespace minnow {

// Strict, the same in every locale: the whole of `text` is a decimal number inside the range of the type.
bool parse_number(std::string_view text, std::uint64_t* out);
bool parse_number(std::string_view text, double* out);  // digits, point, exponent; finite

// The one of `names` that `word` was probably meant to be; empty if none is near.
std::string_view nearest_name(std::string_view word, const std::vector<std::string_view>& names);

struct Choice {
  const char* name;
  std::uint32_t value;
};

// Options may stand anywhere among the positional arguments, as `--name value` or `--name=value`; an option whose name
// is one letter is written -p, or --c where it is bound as "--c". `--` ends the options. The last one of a name holds.
class Options {
 public:
  // `usage` is the line after "usage: minnow ", `summary` one sentence. In a program that carries a model the line is
  // without the command's name.
  Options(std::string command, std::string usage, std::string summary)
      : command_(std::move(command)), usage_(std::move(usage)), summary_(std::move(summary)) {}

  // Binds; a variable keeps its value where the option is absent. `value` names the argument in --help. An empty help
  // text keeps an option out of --help.
  void flag(const char* name, bool* out, const char* help);
  void text(const char* name, const char* value, std::string* out, bool* given_or_null, const char* help);
  void number(const char* name, const char* value, std::uint64_t least, std::uint64_t most, std::uint64_t* out,
              const char* help);
  void real(const char* name, const char* value, double least, double most, double* out, const char* help);
  void choice(const char* name, const char* value, std::vector<Choice> choices, std::uint32_t* out, const char* help);
  void alias(const char* name, const char* of);  // another name of an option that is already bound; its line tells it
  void heading(const char* line);                // a line of its own in --help
  void positional(const char* name, std::string* out, bool* given_or_null);  // required if given_or_null is null

  // True: go on. False: leave with *status; help went to stdout, an error to stderr.
  bool parse(int argc, char** argv, int* status);

 private:
  enum class Kind { flag, text, number, real, choice, heading };
  struct Option {
    Kind kind;
    std::string name;
    std::string value;
    std::string help;
    void* out = nullptr;
    bool* given = nullptr;
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    double least_real = 0;
    double most_real = 0;
    std::vector<Choice> choices;
  };
  struct Positional {
    std::string name;
    std::string* out;
    bool* given;
  };

  const Option* find(std::string_view name) const;
  bool parse_option(std::string_view argument, int argc, char** argv, int* index);
  bool store(const Option& option, std::string_view text);
  bool store_positional(std::string_view argument);
  void print_help() const;
  bool misuse(const std::string& message) const;  // prints, returns false

  std::string command_;
  std::string usage_;
  std::string summary_;
  std::vector<Option> options_;
  std::vector<Positional> positionals_;
  std::size_t positionals_seen_ = 0;
};

}  // namespace minnow
