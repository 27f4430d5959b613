// Input and output files, on POSIX. Depends on refusal, and on tools/signals.hpp and tools/temporary.hpp.
#if !defined(_FILE_OFFSET_BITS)
#define _FILE_OFFSET_BITS 64  // 32-bit systems: files beyond 2 GiB
#endif
#include "tools/convert/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/convert/refusal.hpp"
#include "tools/signals.hpp"
#include "tools/temporary.hpp"

namespace minnow::convert {

namespace {

[[noreturn]] void refuse_file(const std::string& path, const std::string& text) { throw Refusal(text, path); }

std::string error_text() { return std::strerror(errno); }

#if defined(__APPLE__)
timespec modification_time(const struct stat& status) { return status.st_mtimespec; }
#else
timespec modification_time(const struct stat& status) { return status.st_mtim; }
#endif

// What `path` names after following symbolic links, also when the last one names nothing yet.
std::string follow_links(std::string path) {
  for (int hops = 0; hops < 40; ++hops) {
    char buffer[PATH_MAX];
    const ssize_t bytes = readlink(path.c_str(), buffer, sizeof buffer);
    if (bytes < 0) return path;
    const std::string to(buffer, static_cast<std::size_t>(bytes));
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
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor_ < 0 && errno == EINTR) check_interrupted();
  } while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0)
    refuse_file(path_, "cannot be opened: " + error_text() + "; expected a readable file; check the path");
  struct stat status;
  const bool folder = fstat(descriptor_, &status) == 0 && S_ISDIR(status.st_mode);
  if (!look()) {
    close(descriptor_);
    refuse_file(path_, folder ? "this is a folder; expected a file; name the checkpoint inside it"
                              : "this is a pipe or a device; expected a file; save it to disk first");
  }
}

InputFile::InputFile(int descriptor, std::string path) : path_(std::move(path)), descriptor_(descriptor) { look(); }

bool InputFile::look() {
  struct stat status;
  if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  size_ = static_cast<std::uint64_t>(status.st_size);
  device_ = static_cast<std::uint64_t>(status.st_dev);
  inode_ = static_cast<std::uint64_t>(status.st_ino);
  modified_seconds_ = static_cast<std::int64_t>(modification_time(status).tv_sec);
  modified_nanoseconds_ = static_cast<std::int64_t>(modification_time(status).tv_nsec);
  return true;
}

InputFile::~InputFile() { close(descriptor_); }

void InputFile::read_at(std::uint64_t offset, void* out, std::size_t bytes) const {
  char* to = static_cast<char*>(out);
  while (bytes > 0) {
    check_interrupted();
    const ssize_t got = pread(descriptor_, to, bytes < kMaxTransfer ? bytes : kMaxTransfer, static_cast<off_t>(offset));
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

void InputFile::require_unchanged() const {
  struct stat status;
  if (fstat(descriptor_, &status) != 0 || static_cast<std::uint64_t>(status.st_size) != size_ ||
      static_cast<std::int64_t>(modification_time(status).tv_sec) != modified_seconds_ ||
      static_cast<std::int64_t>(modification_time(status).tv_nsec) != modified_nanoseconds_) {
    refuse_file(path_,
                "was written to while it was read; expected a finished file; convert again when training has saved it");
  }
}

bool InputFile::is_same_file(const std::string& path) const {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && static_cast<std::uint64_t>(status.st_dev) == device_ &&
         static_cast<std::uint64_t>(status.st_ino) == inode_;
}

OutputFile::OutputFile(const std::string& target, Kind kind) : target_(follow_links(target)) {
  struct stat status;
  const bool replaces = stat(target_.c_str(), &status) == 0;
  if (replaces && !S_ISREG(status.st_mode)) {
    refuse_file(target_, S_ISDIR(status.st_mode) ? "this is a folder; expected a file name; add one"
                                                 : "this is a pipe or a device; expected a file name; give another");
  }
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    // Short, so that a target with the longest legal name still has a neighbour.
    temporary_ = concat(folder_of(target_), "/.minnow-", getpid(), "-", attempt, ".tmp");
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kind == Kind::program ? 0777 : 0666);
    if (descriptor_ < 0 && errno == EINTR) check_interrupted();
    if (descriptor_ < 0 && errno != EEXIST && errno != EINTR) break;
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    refuse_file(target_,
                "cannot be created: " + error_text() + "; expected a folder that can be written; give another");
  }
  const mode_t executable = kind == Kind::program ? (status.st_mode & 0444) >> 2 : 0;
  if (replaces) static_cast<void>(fchmod(descriptor_, (status.st_mode & 0777) | executable));
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
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
  const std::string folder_name = folder_of(target_);
  while (fsync(descriptor_) != 0) {
    if (errno == EINVAL || errno == ENOTSUP) break;  // a file system that cannot
    if (errno != EINTR) fail("flushed to disk");
    check_interrupted();
  }
  const int closing = descriptor_;
  descriptor_ = -1;
  if (close(closing) != 0 && errno != EINTR) fail("closed");
  check_interrupted();
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail("renamed into place");
  temporary_.clear();
  // The new name itself reaches the disk with its folder; a file system that cannot is not an error.
  const int folder = open(folder_name.c_str(), O_RDONLY | O_CLOEXEC);
  if (folder >= 0) {
    static_cast<void>(fsync(folder));
    close(folder);
  }
}

TemporaryFile::TemporaryFile(const std::string& folder) : folder_(folder.empty() ? temporary_folder() : folder) {
  descriptor_ = open_temporary(folder_);
  if (descriptor_ < 0) {
    refuse_file(folder_, "cannot hold a temporary file: " + error_text() +
                             "; expected a folder that can be written; set TMPDIR to another");
  }
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) close(descriptor_);
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
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool folder_exists(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open_folder = opendir(folder.c_str());
  if (open_folder == nullptr) return names;
  while (const dirent* entry = readdir(open_folder)) names.emplace_back(entry->d_name);
  closedir(open_folder);
  std::sort(names.begin(), names.end());
  return names;
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

std::string file_name_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string absolute_path(const std::string& path) {
  char* const resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string out = resolved;
  std::free(resolved);
  return out;
}

bool stderr_is_terminal() { return isatty(2) == 1; }

}  // namespace minnow::convert
