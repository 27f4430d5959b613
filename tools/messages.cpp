#include "tools/messages.hpp"

#include <cstdio>

#include "text/utf8.hpp"

namespace minnow {
namespace {

std::string other_name;  // empty: "minnow"

}  // namespace

void set_program_name(const std::string& name) { other_name = name; }
const char* program_name() { return other_name.empty() ? "minnow" : other_name.c_str(); }
bool has_commands() { return other_name.empty(); }
std::string full_name(const std::string& command) {
  return has_commands() ? "minnow " + command : std::string(program_name());
}

int complain(const std::string& command, const std::string& message, int status) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", full_name(command).c_str(), message.c_str());
  return status;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text) == 0 ? 1 : utf8_length(text);
    const std::string_view character = text.substr(0, length);
    text.remove_prefix(length);
    const unsigned first = static_cast<unsigned char>(character[0]);
    const bool c1_control = length == 2 && first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
    if (character == "\n") {
      out += "\\n";
    } else if (character == "\t") {
      out += "\\t";
    } else if (character == "\r") {
      out += "\\r";
    } else if (!is_utf8(character) || first < 0x20 || first == 0x7f || c1_control) {
      for (const char byte : character) {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
        out += escape;
      }
    } else {
      out += character;
    }
  }
  return out;
}

}  // namespace minnow
