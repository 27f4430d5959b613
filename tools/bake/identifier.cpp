// Names of a baked model's symbols.
#include <algorithm>

#include "tools/bake/baked.hpp"

namespace minnow::bake {
namespace {

// Of C23 and C++20, those that <stddef.h> may define as macros, and main.
constexpr std::string_view kKeywords[] = {
    "NULL",      "alignas",   "alignof",  "and",        "and_eq",       "asm",           "auto",
    "bitand",    "bitor",     "bool",     "break",      "case",         "catch",         "char",
    "char16_t",  "char32_t",  "char8_t",  "class",      "co_await",     "co_return",     "co_yield",
    "compl",     "concept",   "const",    "const_cast", "consteval",    "constexpr",     "constinit",
    "continue",  "decltype",  "default",  "delete",     "do",           "double",        "dynamic_cast",
    "else",      "enum",      "explicit", "export",     "extern",       "false",         "float",
    "for",       "friend",    "goto",     "if",         "inline",       "int",           "linux",
    "long",      "main",      "mutable",  "namespace",  "new",          "noexcept",      "not",
    "not_eq",    "nullptr",   "offsetof", "operator",   "or",           "or_eq",         "private",
    "protected", "ptrdiff_t", "public",   "register",   "requires",     "restrict",      "return",
    "short",     "signed",    "size_t",   "sizeof",     "static",       "static_assert", "static_cast",
    "struct",    "switch",    "template", "this",       "thread_local", "throw",         "true",
    "try",       "typedef",   "typeid",   "typename",   "typeof",       "typeof_unqual", "union",
    "unix",      "unsigned",  "using",    "virtual",    "void",         "volatile",      "wchar_t",
    "while",     "xor",       "xor_eq",   "i386",       "max_align_t",  "nullptr_t",     "unreachable"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_identifier(std::string_view name) {
  if (name.empty() || !is_letter(name[0]) || name.size() > 200) return false;
  // Two underscores anywhere belong to C++, also those of NAME_size; one in front to both languages at file scope.
  if (name[0] == '_' || name.back() == '_' || name.find("__") != std::string_view::npos) return false;
  const auto fits = [](char c) { return is_letter(c) || is_digit(c); };
  return std::all_of(name.begin(), name.end(), fits) &&
         std::find(std::begin(kKeywords), std::end(kKeywords), name) == std::end(kKeywords);
}

std::string identifier_from(std::string_view file_name) {
  std::string out;
  for (const char c : file_name.substr(0, std::min<std::size_t>(file_name.rfind('.'), 100))) {
    if (is_letter(c) || is_digit(c)) {
      if (c != '_' || (!out.empty() && out.back() != '_')) out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return is_identifier(out) ? out : out.empty() ? "model" : "model_" + out;
}

}  // namespace minnow::bake
