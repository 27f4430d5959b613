// Input and output files. Depends on refusal, and on tools/signals.hpp, tools/system.hpp and tools/write_all.hpp.
#include "tools/convert/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "hosted/system.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/signals.hpp"
#include "tools/system.hpp"
#include "tools/write_all.hpp"

namespace minnow::convert {

namespace {

using system::FileStatus;

[[noreturn]] void refuse_file(const std::string& path, const std::string& text) { throw Refusal(text, path); }

std::string error_text() { return std::strerror(errno); }

// What `path` names after following symbolic links, also when the last one names nothing yet.
std::string follow_links(std::string path) {
  for (int hops = 0; hops < 40; ++hops) {
    std::string to;
    if (!system::read_link(path, &to)) return path;
    path = to.empty() || to[0] == '/' ? to : folder_of(path) + "/" + to;
  }
  refuse_file(path, "a chain of symbolic links without end; expected a file name; give another");
}

// False: errno says why. Throws Interrupted.
bool write_or_throw(int descriptor, std::uint64_t offset, const void* data, std::size_t bytes) {
  if (write_all(descriptor, offset, data, bytes)) return true;
  if (errno == EINTR) throw Interrupted();
  return false;
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  do {
    descriptor_ = system::open_to_read(path, system::Pipes::refuse);
    if (descriptor_ < 0 && errno == EINTR) check_interrupted();
  } while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0)
    refuse_file(path_, "cannot be opened: " + error_text() + "; expected a readable file; check the path");
  FileStatus status;
  const bool folder = system::status_of(descriptor_, &status) && status.kind == FileStatus::Kind::folder;
  if (!look()) {
    system::close_file(descriptor_);
    refuse_file(path_, folder ? "this is a folder; expected a file; name the checkpoint inside it"
                              : "this is a pipe or a device; expected a file; save it to disk first");
  }
}

InputFile::InputFile(int descriptor, std::string path) : path_(std::move(path)), descriptor_(descriptor) { look(); }

bool InputFile::look() {
  FileStatus status;
  if (!system::status_of(descriptor_, &status) || status.kind != FileStatus::Kind::regular) return false;
  size_ = status.bytes;
  device_ = status.device;
  number_ = status.number;
  modified_ = status.modified;
  return true;
}

InputFile::~InputFile() { system::close_file(descriptor_); }

void InputFile::read_at(std::uint64_t offset, void* out, std::size_t bytes) const {
  char* to = static_cast<char*>(out);
  while (bytes > 0) {
    check_interrupted();
    const std::int64_t got = system::read_at(descriptor_, offset, to, std::min(bytes, kMaxTransfer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_file(path_, "cannot be read: " + error_text() + "; expected a readable file; check the disk");
    if (got == 0)
      refuse_file(path_,
                  "ends before byte " + std::to_string(offset + bytes) +
                      "; expected the bytes that were there when it was opened; try again when nothing writes to it");
    to += got;
    bytes -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
}

std::string InputFile::read_all(std::uint64_t limit) const {
  if (size_ > limit)
    refuse_file(path_, concat("has ", size_, " bytes; expected at most ", limit, "; name the right file"));
  std::string bytes(static_cast<std::size_t>(size_), '\0');
  read_at(0, &bytes[0], bytes.size());
  return bytes;
}

void InputFile::require_unchanged(const char* remedy) const {
  FileStatus status;
  if (!system::status_of(descriptor_, &status) || status.bytes != size_ || status.modified != modified_) {
    refuse_file(path_, concat("was written to while it was read; expected a finished file; ", remedy));
  }
}

bool InputFile::is_same_file(const std::string& path) const {
  FileStatus status;
  return system::status_of(path, &status) && status.device == device_ && status.number == number_;
}

OutputFile::OutputFile(const std::string& target, Kind kind) : target_(follow_links(target)) {
  FileStatus status;
  const bool replaces = system::status_of(target_, &status);
  if (replaces && status.kind != FileStatus::Kind::regular) {
    refuse_file(target_, status.kind == FileStatus::Kind::folder
                             ? "this is a folder; expected a file name; add one"
                             : "this is a pipe or a device; expected a file name; give another");
  }
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    // Short, so that a target with the longest legal name still has a neighbour.
    temporary_ = concat(folder_of(target_), "/.minnow-", system::process_id(), "-", attempt, ".tmp");
    descriptor_ = system::create_file(temporary_, kind == Kind::program ? 0777 : 0666);
    if (descriptor_ < 0 && errno == EINTR) check_interrupted();
    if (descriptor_ < 0 && errno != EEXIST && errno != EINTR) break;
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    refuse_file(target_,
                "cannot be created: " + error_text() + "; expected a folder that can be written; give another");
  }
  const std::uint32_t executable = kind == Kind::program ? (status.mode & 0444) >> 2 : 0;
  if (replaces) system::set_mode(descriptor_, status.mode | executable);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) system::close_file(descriptor_);
  if (!temporary_.empty()) system::remove_file(temporary_);
}

void OutputFile::fail(const char* action) {
  refuse_file(target_, concat("cannot be ", action, ": ", error_text(),
                              "; nothing was left behind; make room or give another place"));
}

void OutputFile::append(const void* data, std::size_t bytes) { write_at(size_, data, bytes); }

void OutputFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  if (!write_or_throw(descriptor_, offset, data, bytes)) fail("written");
  if (offset + bytes > size_) size_ = offset + bytes;
}

void OutputFile::commit() {
  while (!system::flush_file(descriptor_)) {
    if (errno == EINVAL || errno == ENOTSUP) break;  // a file system that cannot
    if (errno != EINTR) fail("flushed to disk");
    check_interrupted();
  }
  const int closing = descriptor_;
  descriptor_ = -1;
  if (!system::close_file(closing) && errno != EINTR) fail("closed");
  check_interrupted();
  const std::string folder = folder_of(target_);  // before: nothing may fail once the target is there
  if (!system::replace_file(temporary_, target_)) fail("renamed into place");
  temporary_.clear();
  // The new name itself reaches the disk with its folder; a file system that cannot is not an error.
  system::flush_folder(folder);
}

TemporaryFile::TemporaryFile(const std::string& folder) : folder_(folder.empty() ? system::temporary_folder() : folder) {
  descriptor_ = system::create_nameless(folder_);
  if (descriptor_ < 0) {
    refuse_file(folder_, "cannot hold a temporary file: " + error_text() +
                             "; expected a folder that can be written; set TMPDIR to another");
  }
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) system::close_file(descriptor_);
}

void TemporaryFile::append(const void* data, std::size_t bytes) {
  if (!write_or_throw(descriptor_, size_, data, bytes)) {
    refuse_file(folder_, concat("cannot hold the unpacked checkpoint, after ", size_, " bytes: ", error_text(),
                                "; expected room for it; make room, or set TMPDIR to another folder"));
  }
  size_ += bytes;
}

std::shared_ptr<const InputFile> TemporaryFile::finish(const std::string& path) {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  return std::shared_ptr<const InputFile>(new InputFile(descriptor, path));
}

void check_interrupted() {
  if (interrupted()) throw Interrupted();
}

bool file_exists(const std::string& path) {
  FileStatus status;
  return system::status_of(path, &status) && status.kind == FileStatus::Kind::regular;
}

bool folder_exists(const std::string& path) {
  FileStatus status;
  return system::status_of(path, &status) && status.kind == FileStatus::Kind::folder;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names = system::names_in(folder);
  std::sort(names.begin(), names.end());
  return names;
}

std::string folder_of(std::string_view path) {
  const std::size_t end = path.find_last_of(system::kSeparators);
  if (end == std::string_view::npos) return ".";
  if (path[end] == ':') return std::string(path.substr(0, end + 1)) + ".";  // where that drive stands
  const bool is_root = end == 0 || (system::kHasDrives && path[end - 1] == ':');
  return std::string(path.substr(0, is_root ? end + 1 : end));
}

std::string file_name_of(std::string_view path) {
  const std::size_t end = path.find_last_of(system::kSeparators);
  return std::string(end == std::string_view::npos ? path : path.substr(end + 1));
}

}  // namespace minnow::convert
