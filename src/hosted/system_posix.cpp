// Files and cores on POSIX.
#include "hosted/system.hpp"

#if !defined(_WIN32)

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#endif

namespace minnow::system {
namespace {

#if !defined(MAP_ANONYMOUS)
#define MAP_ANONYMOUS MAP_ANON
#endif

constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::size_t kReadAtOnce = std::size_t{64} << 20;

// The size of a regular file. Returns 0 or an errno value, as all functions here.
int file_size(int descriptor, std::size_t* out) noexcept {
  struct stat info = {};
  if (::fstat(descriptor, &info) != 0) return errno;
  if (S_ISDIR(info.st_mode)) return EISDIR;
  if (!S_ISREG(info.st_mode)) return ENODEV;
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (bytes > SIZE_MAX - 2 * kLargePage) return EFBIG;
  *out = static_cast<std::size_t>(bytes);
  return 0;
}

int map_open(int descriptor, std::size_t bytes, Span<const std::byte>* out) noexcept {
  void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (at == MAP_FAILED) return errno;
  *out = {static_cast<const std::byte*>(at), bytes};
  return 0;
}

// Memory on a boundary of large pages: more is taken, and what lies in front and behind is given back, so that the end
// of the last, partial page takes no more than it needs.
int take_memory(std::size_t bytes, std::byte** out) noexcept {
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t whole = (bytes + page - 1) / page * page;
  void* const taken = ::mmap(nullptr, whole + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (taken == MAP_FAILED) return errno;
  std::byte* const begin = static_cast<std::byte*>(taken);
  const std::size_t before = (kLargePage - reinterpret_cast<std::uintptr_t>(begin) % kLargePage) % kLargePage;
  if (before != 0) ::munmap(begin, before);
  ::munmap(begin + before + whole, kLargePage - before);
  *out = begin + before;
#if defined(MADV_HUGEPAGE)
  static_cast<void>(::madvise(*out, whole, MADV_HUGEPAGE));  // a wish: small pages do as well
#endif
  return 0;
}

// From front to back, so that each page is touched once and in the order of the disk.
int read_whole(int descriptor, std::byte* to, std::size_t bytes) noexcept {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t wanted = bytes - done < kReadAtOnce ? bytes - done : kReadAtOnce;
    const ssize_t n = ::read(descriptor, to + done, wanted);
    if (n == 0) return kBecameShorter;
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return 0;
}

int read_open(int descriptor, std::size_t bytes, Span<const std::byte>* out) noexcept {
  std::byte* at = nullptr;
  if (const int error = take_memory(bytes, &at); error != 0) return error;
  const int error = read_whole(descriptor, at, bytes);
  if (error != 0) {
    ::munmap(at, bytes);
    return error;
  }
  static_cast<void>(::mprotect(at, bytes, PROT_READ));  // against stray writes
  *out = {at, bytes};
  return 0;
}

// An empty file gives an empty span, since nothing can be mapped.
int load_file(const char* path, int (*load)(int, std::size_t, Span<const std::byte>*),
              Span<const std::byte>* out) noexcept {
  int descriptor = -1;
  do {
    descriptor = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // non-blocking: a fifo must not wait for a writer
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return errno;
  std::size_t bytes = 0;
  int error = file_size(descriptor, &bytes);
  if (error == 0 && bytes != 0) error = load(descriptor, bytes, out);
  ::close(descriptor);
  return error;
}

}  // namespace

int map_file(const char* path, Span<const std::byte>* out) noexcept { return load_file(path, map_open, out); }

int read_file(const char* path, Span<const std::byte>* out) noexcept { return load_file(path, read_open, out); }

void release(Span<const std::byte> bytes) noexcept {
  if (!bytes.empty()) ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

std::uint32_t usable_cores() noexcept {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<std::uint32_t>(CPU_COUNT(&allowed));
#endif
  return 0;
}

std::uint64_t process_id() noexcept { return static_cast<std::uint64_t>(::getpid()); }

}  // namespace minnow::system

#endif
