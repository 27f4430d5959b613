// Text that a user gives, as an argument, a file or a pipe of any length: read in pieces, and again from its beginning.
// Depends on tools/system.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace minnow {

// What fits a piece stays in memory. A longer file is read again where it lies; a longer pipe, or a file that has no
// size of its own, goes to a nameless temporary file in $TMPDIR, or where the system keeps such, while it is first read. Functions that return
// an exit status have printed why.
class TextInput {
 public:
  static constexpr std::size_t kPiece = std::size_t{1} << 16;
  enum class Passes { one, many };  // `one`: nothing is kept for a second, and rewind() is never called

  explicit TextInput(std::string command, std::size_t piece = kPiece) : command_(std::move(command)), piece_(piece) {}
  ~TextInput();
  TextInput(const TextInput&) = delete;
  TextInput& operator=(const TextInput&) = delete;

  void use(std::string_view text) { memory_ = text; }  // stays the caller's
  int open(const std::string& path, Passes passes);    // "-" is stdin

  // The next bytes, at most a piece, valid until the next call; none at the end. kInterrupted if a signal came. Later
  // passes end where the first one did, and fail if what they read is something else.
  int read(std::string_view* out);

  // Back to the beginning. The first pass must have come to its end.
  void rewind();

  // Says that the input is no longer what the first pass read.
  int changed() const;

 private:
  int fill(std::size_t wanted);
  int spool();
  void end_first_pass();

  std::string command_;
  std::size_t piece_;
  std::string name_;
  Passes passes_ = Passes::many;
  int descriptor_ = -1;      // -1: all is in memory_
  bool positioned_ = false;  // reads say where, so that the descriptor can be read again
  std::uint64_t start_ = 0;  // where the input begins in it
  int spool_ = -1;           // where a pipe is kept; becomes the descriptor after the first pass
  std::string buffer_;       // the piece that was read last
  std::string_view memory_;
  std::uint64_t at_ = 0;  // bytes before the next piece
  std::uint32_t checksum_ = 0;
  bool first_pass_ = true;
  std::uint64_t size_ = 0;            // known after the first pass
  std::uint32_t first_checksum_ = 0;  // likewise
};

}  // namespace minnow
