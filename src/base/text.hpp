// Parts of texts, without the exception that std::string_view::substr may throw. Depends on the standard library only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace minnow {

// text[at ..), at most `count` bytes of it; at <= text.size().
constexpr std::string_view text_at(std::string_view text, std::size_t at, std::size_t count = SIZE_MAX) noexcept {
  const std::size_t rest = text.size() - at;
  return {text.data() + at, count < rest ? count : rest};
}

}  // namespace minnow
