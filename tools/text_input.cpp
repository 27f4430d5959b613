#include "tools/text_input.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/crc32.hpp"
#include "tools/messages.hpp"
#include "tools/signals.hpp"
#include "tools/system.hpp"
#include "tools/write_all.hpp"

namespace minnow {
TextInput::~TextInput() {
  if (descriptor_ > 0) system::close_file(descriptor_);
  if (spool_ >= 0) system::close_file(spool_);
}

int TextInput::open(const std::string& path, Passes passes) {
  name_ = printable(path);
  passes_ = passes;
  do {
    descriptor_ = path == "-" ? 0 : system::open_to_read(path, system::Pipes::wait);
  } while (descriptor_ < 0 && errno == EINTR && !interrupted());
  if (descriptor_ < 0 && errno == EINTR) return kInterrupted;
  if (descriptor_ < 0) return complain(command_, name_ + ": cannot open: " + std::strerror(errno));
  system::FileStatus status;
  // Files of procfs say that they are empty, and may be something else each time.
  const bool known = system::status_of(descriptor_, &status);
  positioned_ = known && status.kind == system::FileStatus::Kind::regular && status.bytes > 0;
  if (positioned_) start_ = system::position(descriptor_);
  return kDone;
}

// Reads up to `wanted` bytes, fewer only at the end.
int TextInput::fill(std::size_t wanted) {
  buffer_.resize(wanted);
  std::size_t got = 0;
  while (got < wanted) {
    if (interrupted()) return kInterrupted;
    const std::int64_t n = positioned_ ? system::read_at(descriptor_, start_ + at_ + got, &buffer_[got], wanted - got)
                                       : system::read_next(descriptor_, &buffer_[got], wanted - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return complain(command_, name_ + ": cannot read: " + std::strerror(errno));
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  buffer_.resize(got);
  checksum_ = crc32(checksum_, buffer_.data(), got);
  return kDone;
}

// Keeps the piece in the buffer for later passes.
int TextInput::spool() {
  if (spool_ < 0) spool_ = system::create_nameless(system::temporary_folder());
  if (spool_ >= 0 && write_all(spool_, at_, buffer_.data(), buffer_.size())) return kDone;
  const int error = errno;
  if (error == EINTR) return kInterrupted;
  return complain(command_, name_ + ": cannot be kept in " + printable(system::temporary_folder()) +
                                " for a second reading: " + std::strerror(error) +
                                "; set TMPDIR to a folder with room, or give a regular file");
}

void TextInput::end_first_pass() {
  first_pass_ = false;
  size_ = at_;
  first_checksum_ = checksum_;
  // As if it had been read in order, for whoever reads this stdin next.
  if (positioned_) system::set_position(descriptor_, start_ + size_);
  const bool is_whole = size_ == buffer_.size();
  if (!is_whole && spool_ < 0) return;
  if (descriptor_ > 0) system::close_file(descriptor_);
  descriptor_ = spool_;
  spool_ = -1;
  positioned_ = true;
  if (is_whole) memory_ = buffer_;
}

int TextInput::read(std::string_view* out) {
  *out = {};
  if (descriptor_ < 0) {
    *out = memory_.substr(static_cast<std::size_t>(at_), piece_);
    at_ += out->size();
    return kDone;
  }
  const std::uint64_t left = size_ - at_;
  const std::size_t wanted = first_pass_ || left > piece_ ? piece_ : static_cast<std::size_t>(left);
  if (const int status = fill(wanted); status != kDone) return status;
  const bool is_short = buffer_.size() < wanted;
  if (first_pass_) {
    const bool must_be_kept = passes_ == Passes::many && !positioned_ && !(at_ == 0 && is_short) && !buffer_.empty();
    if (const int status = must_be_kept ? spool() : kDone; status != kDone) return status;
  }
  at_ += buffer_.size();
  *out = buffer_;
  if (first_pass_ && is_short) {
    end_first_pass();
  } else if (!first_pass_ && (is_short || (at_ == size_ && checksum_ != first_checksum_))) {
    return changed();
  }
  return kDone;
}

void TextInput::rewind() {
  at_ = 0;
  checksum_ = 0;
}

int TextInput::changed() const {
  return complain(command_, name_ + ": it changed while it was read; run this again when nothing writes to it");
}

}  // namespace minnow
