// How the converter says no: one line with what was found, what was expected and what to do. Depends on nothing.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace minnow::convert {

// How the message ends where a checkpoint of PyTorch contradicts itself.
inline constexpr std::string_view kDamaged = "expected an undamaged checkpoint; copy or save the file again";

// Thrown by every reader and writer here, caught in convert.cpp and, for the output of logits, in tools/eval.cpp.
class Refusal : public std::exception {
 public:
  explicit Refusal(std::string text, std::string path = {}) : text_(std::move(text)), path_(std::move(path)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& path() const noexcept { return path_; }  // the file that is at fault; empty: the checkpoint

 private:
  std::string text_;
  std::string path_;
};

// Thrown when SIGINT, SIGTERM or SIGHUP arrived.
struct Interrupted {};

inline void append_part(std::string& out, std::string_view part) { out += part; }
template <class T, class = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, char>>>
void append_part(std::string& out, T number) {
  out += std::to_string(number);
}

// The parts, texts and whole numbers, one after the other.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string out;
  (append_part(out, parts), ...);
  return out;
}

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw Refusal(concat(parts...));
}

// A name out of an untrusted file, made safe for a terminal: in double quotes, whatever is not plain ASCII escaped,
// cut at 80 bytes.
std::string quoted(std::string_view name);

}  // namespace minnow::convert
