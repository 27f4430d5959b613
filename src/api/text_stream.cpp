#include "api/text_stream.hpp"

#include <cstring>

#include "text/utf8.hpp"

namespace minnow {

// How many bytes at the end of stop_[0 .. matched) + byte begin the stop text: the longest such overlap. Tries each
// length, since a table of overlaps would need memory and stop texts are short.
std::size_t TextStream::matched_after(std::size_t matched, char byte) const noexcept {
  if (stop_[matched] == byte) return matched + 1;
  for (std::size_t overlap = matched; overlap > 0; --overlap) {
    const bool same = stop_[overlap - 1] == byte &&
                      std::memcmp(stop_.data(), stop_.data() + (matched - (overlap - 1)), overlap - 1) == 0;
    if (same) return overlap;
  }
  return 0;
}

bool TextStream::push(std::string_view piece) noexcept {
  if (stop_.empty()) return emit_characters(piece);
  const std::size_t held = matched_;
  std::size_t used = 0;
  while (used < piece.size() && !stopped_) {
    matched_ = matched_after(matched_, piece[used++]);
    stopped_ = matched_ == stop_.size();
  }
  // The text so far is stop_[0 .. held) + piece[0 .. used); its last matched_ bytes stay back, or are the stop text.
  const std::size_t ready = held + used - matched_;
  const std::size_t old = ready < held ? ready : held;
  if (stopped_) matched_ = 0;
  return emit_characters({stop_.data(), old}) && emit_characters({piece.data(), ready - old});
}

bool TextStream::flush() noexcept {
  const std::size_t held = matched_;
  matched_ = 0;
  if (!emit_characters({stop_.data(), held})) return false;
  const std::size_t size = unfinished_size_;
  unfinished_size_ = 0;
  return emit({unfinished_, size});
}

bool TextStream::emit_characters(std::string_view bytes) noexcept {
  while (unfinished_size_ > 0 && !bytes.empty()) {
    unfinished_[unfinished_size_++] = bytes[0];
    bytes.remove_prefix(1);
    const std::size_t rest = utf8_unfinished({unfinished_, unfinished_size_});
    const std::size_t ready = unfinished_size_ - rest;
    unfinished_size_ = rest;
    if (ready == 0) continue;
    if (!emit({unfinished_, ready})) return false;
    std::memmove(unfinished_, unfinished_ + ready, rest);
  }
  const std::size_t rest = utf8_unfinished(bytes);
  if (rest > 0) {  // then nothing was held back any more
    std::memcpy(unfinished_, bytes.data() + (bytes.size() - rest), rest);
    unfinished_size_ = rest;
  }
  return emit({bytes.data(), bytes.size() - rest});
}

bool TextStream::emit(std::string_view bytes) noexcept {
  return bytes.empty() || sink_ == nullptr || sink_(user_, bytes);
}

}  // namespace minnow
