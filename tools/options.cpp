#include "tools/options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "minnow/minnow.hpp"

namespace minnow {
namespace {

std::string dashed(const std::string& name) { return name[0] == '-' ? name : (name.size() == 1 ? "-" : "--") + name; }

std::string quoted(std::string_view text) { return "'" + printable(text) + "'"; }

std::string shortest(double x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", x);
  return buffer;
}

// An option and what it does, beside it in a column of its own, or below where the option is long.
std::string help_entry(const std::string& left, std::string_view help) {
  constexpr std::size_t kColumn = 25;
  constexpr std::size_t kWidth = 110;
  const std::string below = "\n" + std::string(kColumn, ' ');
  std::string out = "  " + left;
  out += out.size() + 1 < kColumn ? std::string(kColumn - out.size(), ' ') : below;
  std::size_t column = kColumn;  // where the last line ends
  while (!help.empty()) {
    const std::string_view word = help.substr(0, help.find(' '));
    help.remove_prefix(std::min(help.size(), word.size() + 1));
    if (column > kColumn) {
      const bool fits = column + 1 + word.size() <= kWidth;
      out += fits ? " " : below;
      column = fits ? column + 1 : kColumn;
    }
    out += word;
    column += word.size();
  }
  return out + '\n';
}

// Changes of one letter, or swaps of two neighbours, that turn a into b (Damerau, 1964; optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

bool parse_number(std::string_view text, std::uint64_t* out) {
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (UINT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  if (text.empty()) return false;
  *out = value;
  return true;
}

bool parse_number(std::string_view text, double* out) {
  // The program never leaves the C locale, so strtod reads a point; the letters that it would take are kept out here.
  const bool plain = !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  if (!plain) return false;
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size() || !std::isfinite(value)) return false;
  *out = value;
  return true;
}

std::string_view nearest_name(std::string_view word, const std::vector<std::string_view>& names) {
  std::string_view best;
  std::size_t least = word.size() / 3 + 1;  // farther away is another word
  for (const std::string_view name : names) {
    const bool begins = word.size() >= 2 && name.substr(0, word.size()) == word;
    const std::size_t d = begins ? 1 : distance(word, name);
    if (d > least || (d == least && !best.empty())) continue;
    least = d;
    best = name;
  }
  return best;
}

void Options::flag(const char* name, bool* out, const char* help) {
  options_.push_back({Kind::flag, name, "", help, out, nullptr, 0, 0, 0, 0, {}});
}
void Options::text(const char* name, const char* value, std::string* out, bool* given_or_null, const char* help) {
  options_.push_back({Kind::text, name, value, help, out, given_or_null, 0, 0, 0, 0, {}});
}
void Options::number(const char* name, const char* value, std::uint64_t least, std::uint64_t most, std::uint64_t* out,
                     const char* help) {
  options_.push_back({Kind::number, name, value, help, out, nullptr, least, most, 0, 0, {}});
}
void Options::real(const char* name, const char* value, double least, double most, double* out, const char* help) {
  options_.push_back({Kind::real, name, value, help, out, nullptr, 0, 0, least, most, {}});
}
void Options::choice(const char* name, const char* value, std::vector<Choice> choices, std::uint32_t* out,
                     const char* help) {
  options_.push_back({Kind::choice, name, value, help, out, nullptr, 0, 0, 0, 0, std::move(choices)});
}
void Options::alias(const char* name, const char* of) {
  Option option = *find(of);
  option.name = name;
  option.help.clear();
  for (Option& each : options_) {
    if (each.name == of) each.help += "; also " + dashed(name);
  }
  options_.push_back(std::move(option));
}
void Options::heading(const char* line) {
  options_.push_back({Kind::heading, "", "", line, nullptr, nullptr, 0, 0, 0, 0, {}});
}
void Options::positional(const char* name, std::string* out, bool* given_or_null) {
  positionals_.push_back({name, out, given_or_null});
}

const Options::Option* Options::find(std::string_view name) const {
  for (const Option& option : options_) {
    if (option.kind != Kind::heading && option.name == name) return &option;
  }
  return nullptr;
}

bool Options::misuse(const std::string& message) const {
  complain(command_, message, kMisused);
  return false;
}

bool Options::parse(int argc, char** argv, int* status) {
  *status = kMisused;
  bool options_over = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool is_option = !options_over && argument.size() > 1 && argument[0] == '-';
    if (!is_option) {
      if (!store_positional(argument)) return false;
    } else if (argument == "--") {
      options_over = true;
    } else if (argument == "--help" || argument == "-h") {
      print_help();
      *status = kDone;
      return false;
    } else if (argument == "--version") {
      std::printf("minnow %s\n", version());
      *status = kDone;
      return false;
    } else if (!parse_option(argument, argc, argv, &i)) {
      return false;
    }
  }
  for (std::size_t i = positionals_seen_; i < positionals_.size(); ++i) {
    if (positionals_[i].given == nullptr) {
      return misuse(positionals_[i].name + " is missing; usage: " + program_name() + " " + usage_);
    }
  }
  *status = kDone;
  return true;
}

// `argument` begins with a dash. Advances *index over a value of its own.
bool Options::parse_option(std::string_view argument, int argc, char** argv, int* index) {
  const bool is_long = argument[1] == '-';
  std::string_view name = argument.substr(is_long ? 2 : 1);
  std::string_view value;
  bool has_value = false;
  if (const std::size_t equals = name.find('='); is_long && equals != std::string_view::npos) {
    value = name.substr(equals + 1);
    name = name.substr(0, equals);
    has_value = true;
  }
  const Option* const option = find(is_long && name.size() == 1 ? std::string("--").append(name) : std::string(name));
  if (option == nullptr || (!is_long && name.size() != 1)) {
    std::vector<std::string_view> names;
    for (const Option& each : options_) {
      if (each.kind != Kind::heading && each.name.size() > 1) names.push_back(each.name);
    }
    const std::string_view near = name.size() > 1 ? nearest_name(name, names) : std::string_view();
    return misuse("unknown option " + quoted(argument) +
                  (near.empty() ? "" : "; did you mean --" + std::string(near) + "?") + " (see " + full_name(command_) +
                  " --help)");
  }
  if (option->kind == Kind::flag) {
    const bool off = value == "false" || value == "False";
    if (has_value && !off && value != "true" && value != "True") {
      return misuse(dashed(option->name) + ": found " + quoted(value) + ", expected no value, true or false");
    }
    *static_cast<bool*>(option->out) = !off;
    return true;
  }
  if (!has_value) {
    if (*index + 1 >= argc) return misuse(dashed(option->name) + " needs a value: " + option->value);
    value = argv[++*index];
  }
  return store(*option, value);
}

bool Options::store(const Option& option, std::string_view text) {
  if (option.given != nullptr) *option.given = true;
  const std::string found = dashed(option.name) + ": found " + quoted(text) + ", expected ";
  switch (option.kind) {
    case Kind::flag:
    case Kind::heading:
      break;
    case Kind::text:
      *static_cast<std::string*>(option.out) = text;
      break;
    case Kind::number: {
      std::uint64_t value = 0;
      if (!parse_number(text, &value) || value < option.least || value > option.most) {
        return misuse(found + "a whole number, " + std::to_string(option.least) + " to " + std::to_string(option.most));
      }
      *static_cast<std::uint64_t*>(option.out) = value;
      break;
    }
    case Kind::real: {
      double value = 0;
      if (!parse_number(text, &value) || value < option.least_real || value > option.most_real) {
        return misuse(found + "a number, " + shortest(option.least_real) + " to " + shortest(option.most_real));
      }
      *static_cast<double*>(option.out) = value;
      break;
    }
    case Kind::choice: {
      std::string names;
      for (const Choice& choice : option.choices) {
        if (text == choice.name) {
          *static_cast<std::uint32_t*>(option.out) = choice.value;
          return true;
        }
        names += (names.empty() ? "" : ", ") + std::string(choice.name);
      }
      return misuse(found + "one of " + names);
    }
  }
  return true;
}

bool Options::store_positional(std::string_view argument) {
  if (positionals_seen_ == positionals_.size()) {
    return misuse("one argument too many, " + quoted(argument) + "; usage: " + program_name() + " " + usage_);
  }
  const Positional& positional = positionals_[positionals_seen_++];
  *positional.out = argument;
  if (positional.given != nullptr) *positional.given = true;
  return true;
}

void Options::print_help() const {
  std::printf("usage: %s %s\n%s\n\n", program_name(), usage_.c_str(), summary_.c_str());
  for (const Option& option : options_) {
    if (option.kind == Kind::heading) std::printf("\n%s\n", option.help.c_str());
    if (option.kind == Kind::heading || option.help.empty()) continue;
    const std::string left = dashed(option.name) + (option.value.empty() ? "" : " " + option.value);
    std::fputs(help_entry(left, option.help).c_str(), stdout);
  }
  std::fputs(help_entry("--help", "this text").c_str(), stdout);
  std::fputs(help_entry("--version", "minnow's version").c_str(), stdout);
}

}  // namespace minnow
