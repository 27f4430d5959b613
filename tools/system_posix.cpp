#if !defined(_FILE_OFFSET_BITS)
#define _FILE_OFFSET_BITS 64  // 32-bit systems: files beyond 2 GiB
#endif
#include "tools/system.hpp"

#if !defined(_WIN32)

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#if defined(__linux__)
#include <sys/auxv.h>
#elif defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

namespace minnow::system {
namespace {

#if defined(__APPLE__)
timespec modification_time(const struct stat& status) { return status.st_mtimespec; }
#else
timespec modification_time(const struct stat& status) { return status.st_mtim; }
#endif

void translate(const struct stat& from, FileStatus* out) {
  using Kind = FileStatus::Kind;
  out->kind = S_ISREG(from.st_mode) ? Kind::regular : S_ISDIR(from.st_mode) ? Kind::folder : Kind::other;
  out->bytes = static_cast<std::uint64_t>(from.st_size);
  out->device = static_cast<std::uint64_t>(from.st_dev);
  out->number = static_cast<std::uint64_t>(from.st_ino);
  const timespec modified = modification_time(from);
  out->modified = static_cast<std::int64_t>(modified.tv_sec) * 1000000000 + static_cast<std::int64_t>(modified.tv_nsec);
  out->mode = static_cast<std::uint32_t>(from.st_mode) & 0777;
}

}  // namespace

void prepare_process(int*, char***) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

bool nobody_reads(int error) { return error == EPIPE; }

bool stderr_is_terminal() { return isatty(2) == 1; }

std::vector<std::string> executable_paths() {
  std::vector<std::string> out;
#if defined(__linux__)
  out.push_back("/proc/self/exe");  // opens also when the file was renamed or removed meanwhile
  // Without /proc: the path that was executed, where argv[0] was the caller's to choose.
  const auto* const executed = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (executed != nullptr) out.push_back(executed);
#elif defined(__APPLE__)
  std::uint32_t bytes = 0;
  _NSGetExecutablePath(nullptr, &bytes);
  std::string path(bytes, '\0');
  if (_NSGetExecutablePath(path.data(), &bytes) == 0) out.push_back(path.c_str());
#endif
  return out;
}


// getrusage also counts what the parent had resident before exec, so Linux is asked for this program's own figure.
std::uint64_t peak_memory() {
  if (std::FILE* const file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    unsigned long long kib = 0;
    while (kib == 0 && std::fgets(line, sizeof line, file) != nullptr) {
      if (std::sscanf(line, "VmHWM: %llu kB", &kib) != 1) kib = 0;
    }
    std::fclose(file);
    if (kib != 0) return std::uint64_t{kib} * 1024;
  }
  struct rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#if defined(__APPLE__)
  return static_cast<std::uint64_t>(usage.ru_maxrss);
#else
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
#endif
}

bool status_of(const std::string& path, FileStatus* out) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return false;
  translate(status, out);
  return true;
}

bool status_of(int descriptor, FileStatus* out) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return false;
  translate(status, out);
  return true;
}

int open_to_read(const std::string& path, Pipes pipes) {
  return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (pipes == Pipes::refuse ? O_NONBLOCK : 0));
}

int create_file(const std::string& path, std::uint32_t mode) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, static_cast<mode_t>(mode));
}

int create_nameless(const std::string& folder) {
  std::string path = folder + "/minnow-XXXXXX";
  const int descriptor = mkstemp(path.data());
  if (descriptor < 0) return -1;
  unlink(path.c_str());
  static_cast<void>(fcntl(descriptor, F_SETFD, FD_CLOEXEC));
  return descriptor;
}

bool close_file(int descriptor) { return close(descriptor) == 0; }

std::int64_t read_next(int descriptor, void* to, std::size_t bytes) { return read(descriptor, to, bytes); }

std::int64_t read_at(int descriptor, std::uint64_t offset, void* to, std::size_t bytes) {
  return pread(descriptor, to, bytes, static_cast<off_t>(offset));
}

std::int64_t write_at(int descriptor, std::uint64_t offset, const void* from, std::size_t bytes) {
  return pwrite(descriptor, from, bytes, static_cast<off_t>(offset));
}

std::uint64_t position(int descriptor) {
  const off_t at = lseek(descriptor, 0, SEEK_CUR);
  return at < 0 ? 0 : static_cast<std::uint64_t>(at);
}

void set_position(int descriptor, std::uint64_t offset) { lseek(descriptor, static_cast<off_t>(offset), SEEK_SET); }

bool flush_file(int descriptor) { return fsync(descriptor) == 0; }

void set_mode(int descriptor, std::uint32_t mode) {
  static_cast<void>(fchmod(descriptor, static_cast<mode_t>(mode)));
}

bool replace_file(const std::string& from, const std::string& to) { return rename(from.c_str(), to.c_str()) == 0; }

void flush_folder(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  static_cast<void>(fsync(descriptor));
  close(descriptor);
}

void remove_file(const std::string& path) { unlink(path.c_str()); }

bool read_link(const std::string& path, std::string* out) {
  char buffer[PATH_MAX];
  const ssize_t bytes = readlink(path.c_str(), buffer, sizeof buffer);
  if (bytes < 0) return false;
  out->assign(buffer, static_cast<std::size_t>(bytes));
  return true;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open_folder = opendir(folder.c_str());
  if (open_folder == nullptr) return names;
  while (const dirent* entry = readdir(open_folder)) names.emplace_back(entry->d_name);
  closedir(open_folder);
  return names;
}

std::string absolute_path(const std::string& path) {
  char* const resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string out = resolved;
  std::free(resolved);
  return out;
}

std::string temporary_folder() {
  const char* const folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

}  // namespace minnow::system

#endif
