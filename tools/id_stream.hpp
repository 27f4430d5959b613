// Token ids out of a file or pipe, a piece at a time. Depends on tools/system.hpp.
#pragma once

#include <string>
#include <vector>

#include "minnow/minnow.hpp"

namespace minnow {

// Little-endian 16-bit ids, as nanoGPT's prepare.py writes them. Functions that return an exit status have printed why.
class IdStream {
 public:
  explicit IdStream(std::string command) : command_(std::move(command)) {}
  ~IdStream();
  IdStream(const IdStream&) = delete;
  IdStream& operator=(const IdStream&) = delete;

  int open(const std::string& path, std::uint32_t vocab_size);  // "-" is stdin
  // Appends up to `count` ids, fewer only at the end. kInterrupted if a signal came.
  int read(std::size_t count, std::vector<Token>* out);

 private:
  int fill();
  int odd(std::uint64_t bytes) const;

  std::string command_;
  std::string name_;
  std::uint32_t vocab_size_ = 0;
  int descriptor_ = -1;
  bool over_ = false;
  std::vector<unsigned char> buffer_;
  std::size_t begin_ = 0;    // of what is left of the buffer
  std::uint64_t taken_ = 0;  // bytes before it
};

// Whether both names lead to one existing file; "-" is stdin.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace minnow
