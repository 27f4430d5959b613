// Pieces of text in, whole characters out, ending before a stop text. Holds back at most a prefix of the stop text,
// which needs no buffer since the caller's stop text has the same bytes, and 3 bytes of an unfinished character.
// Depends on text/utf8.hpp and public types.
#pragma once

#include "minnow/minnow.hpp"

namespace minnow {

class TextStream {
 public:
  // `stop` (empty: none) must stay valid. A null sink takes everything.
  TextStream(std::string_view stop, TextSink sink_or_null, void* user) noexcept
      : stop_(stop), sink_(sink_or_null), user_(user) {}

  // Passes on what is sure to be printed. False if the sink said stop; nothing may be pushed after that, or after the
  // stop text appeared.
  bool push(std::string_view piece) noexcept;

  // Passes on all that is still held back.
  bool flush() noexcept;

  bool stopped() const noexcept { return stopped_; }  // the stop text appeared

 private:
  std::size_t matched_after(std::size_t matched, char byte) const noexcept;
  bool emit_characters(std::string_view bytes) noexcept;
  bool emit(std::string_view bytes) noexcept;

  std::string_view stop_;
  TextSink sink_;
  void* user_;
  std::size_t matched_ = 0;          // bytes held back: the first `matched_` of stop_
  char unfinished_[4] = {};          // before them, a character without its end
  std::size_t unfinished_size_ = 0;  // 0 .. 3
  bool stopped_ = false;
};

}  // namespace minnow
