#include "tools/id_stream.hpp"

#include <cerrno>
#include <cstring>

#include "tools/messages.hpp"
#include "tools/signals.hpp"
#include "tools/system.hpp"

namespace minnow {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 16;

using system::FileStatus;

bool status_of_input(const std::string& path, FileStatus* out) {
  return path == "-" ? system::status_of(0, out) : system::status_of(path, out);
}

}  // namespace

IdStream::~IdStream() {
  if (descriptor_ > 0) system::close_file(descriptor_);
}

int IdStream::open(const std::string& path, std::uint32_t vocab_size) {
  name_ = printable(path);
  vocab_size_ = vocab_size;
  descriptor_ = path == "-" ? 0 : system::open_to_read(path, system::Pipes::wait);
  if (descriptor_ < 0 && errno == EINTR && interrupted()) return kInterrupted;
  if (descriptor_ < 0) return complain(command_, name_ + ": cannot open: " + std::strerror(errno));
  FileStatus status;
  const bool known = system::status_of(descriptor_, &status) && status.kind == FileStatus::Kind::regular;
  // Known before hours of reading. A stdin that somebody else has read from tells at its end.
  if (known && path != "-" && status.bytes % 2 != 0) return odd(status.bytes);
  return kDone;
}

int IdStream::odd(std::uint64_t bytes) const {
  return complain(command_, name_ + ": " + std::to_string(bytes) +
                                " bytes, expected an even number: ids of 16 bits, as in nanoGPT's val.bin");
}

// Reads until the buffer holds an id or the input is over.
int IdStream::fill() {
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
  while (buffer_.size() < 2 && !over_) {
    if (interrupted()) return kInterrupted;
    const std::size_t before = buffer_.size();
    buffer_.resize(kBuffer);
    const std::int64_t got = system::read_next(descriptor_, buffer_.data() + before, kBuffer - before);
    const int error = errno;
    buffer_.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got < 0 && error == EINTR) continue;
    if (got < 0) return complain(command_, name_ + ": cannot read: " + std::strerror(error));
    over_ = got == 0;
  }
  return buffer_.size() == 1 ? odd(taken_ + 1) : kDone;
}

int IdStream::read(std::size_t count, std::vector<Token>* out) {
  for (; count > 0; --count) {
    if (buffer_.size() - begin_ < 2) {
      if (const int status = fill(); status != kDone) return status;
      if (buffer_.empty()) return kDone;
    }
    const auto id = static_cast<std::uint32_t>(buffer_[begin_] | buffer_[begin_ + 1] << 8);
    if (id >= vocab_size_) {
      return complain(command_, name_ + ": id " + std::to_string(id) + " at byte " + std::to_string(taken_) +
                                    ", expected ids below " + std::to_string(vocab_size_) +
                                    ", the model's vocab_size; was the file made with another vocabulary?");
    }
    out->push_back(static_cast<Token>(id));
    begin_ += 2;
    taken_ += 2;
  }
  return kDone;
}

bool is_same_file(const std::string& a, const std::string& b) {
  FileStatus of_a, of_b;
  return status_of_input(a, &of_a) && status_of_input(b, &of_b) && of_a.device == of_b.device &&
         of_a.number == of_b.number;
}

}  // namespace minnow
