// Words for the user, on stderr.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace minnow {

// Exit statuses of the program.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kMisused = 2;
inline constexpr int kInterrupted = 130;

// The program's name in all messages: "minnow", or that of a program that carries a model. Such a program has no
// commands, so that none is named. To be called once, first of all.
void set_program_name(const std::string& name);
const char* program_name();
bool has_commands();
std::string full_name(const std::string& command);  // "minnow run"

// Prints "minnow COMMAND: MESSAGE" on stderr and returns `status`.
int complain(const std::string& command, const std::string& message, int status = kFailed);

// Text with control characters and bytes that are no UTF-8 as escapes, fit for a terminal.
std::string printable(std::string_view text);

// "layer" for 1, else "layers".
inline std::string plural(std::uint64_t n, const char* noun) { return std::string(noun) + (n == 1 ? "" : "s"); }

}  // namespace minnow
