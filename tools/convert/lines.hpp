// A text line by line, whatever ends its lines. Depends on nothing.
#pragma once

#include <cstddef>
#include <string_view>

namespace minnow::convert {

class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {
    if (text_.substr(0, 3) == "\xef\xbb\xbf") text_.remove_prefix(3);  // a byte order mark
  }

  // The next line, without LF or CR LF. False behind the last one.
  bool next(std::string_view* line) {
    if (text_.empty()) return false;
    ++number_;
    const std::size_t end = text_.find('\n');
    *line = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    if (!line->empty() && line->back() == '\r') line->remove_suffix(1);
    return true;
  }
  std::size_t number() const { return number_; }  // of the line that next() gave, from 1

 private:
  std::string_view text_;
  std::size_t number_ = 0;
};

}  // namespace minnow::convert
