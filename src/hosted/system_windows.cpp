// Files and cores on Windows. Depends on hosted/windows.hpp.
#include "hosted/system.hpp"

#if defined(_WIN32)

#include "hosted/windows.hpp"

namespace minnow::system {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::size_t kReadAtOnce = std::size_t{64} << 20;

// The size of a regular file. Returns 0 or an errno value, as all functions here.
int file_size(HANDLE file, std::size_t* out) noexcept {
  BY_HANDLE_FILE_INFORMATION info = {};
  if (GetFileType(file) != FILE_TYPE_DISK) return ENODEV;
  if (!GetFileInformationByHandle(file, &info)) return windows::last_error();
  if ((info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return EISDIR;
  const std::uint64_t bytes = std::uint64_t{info.nFileSizeHigh} << 32 | info.nFileSizeLow;
  if (bytes > SIZE_MAX - 2 * kLargePage) return EFBIG;
  *out = static_cast<std::size_t>(bytes);
  return 0;
}

int map_open(HANDLE file, std::size_t bytes, Span<const std::byte>* out) noexcept {
  const HANDLE mapping = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (mapping == nullptr) return windows::last_error();
  const void* const at = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, bytes);
  const int error = at == nullptr ? windows::last_error() : 0;
  CloseHandle(mapping);  // the view holds it
  if (error != 0) return error;
  *out = {static_cast<const std::byte*>(at), bytes};
  return 0;
}

// Memory on a boundary of large pages: addresses for more are taken, memory for what is needed. They are given back by
// the first address.
int take_memory(std::size_t bytes, std::byte** out) noexcept {
  void* const taken = VirtualAlloc(nullptr, bytes + kLargePage, MEM_RESERVE, PAGE_READWRITE);
  if (taken == nullptr) return windows::last_error();
  const auto address = reinterpret_cast<std::uintptr_t>(taken);
  std::byte* const begin = static_cast<std::byte*>(taken) + (kLargePage - address % kLargePage) % kLargePage;
  if (VirtualAlloc(begin, bytes, MEM_COMMIT, PAGE_READWRITE) == nullptr) {
    const int error = windows::last_error();
    VirtualFree(taken, 0, MEM_RELEASE);
    return error;
  }
  *out = begin;
  return 0;
}

int read_whole(HANDLE file, std::byte* to, std::size_t bytes) noexcept {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t wanted = bytes - done < kReadAtOnce ? bytes - done : kReadAtOnce;
    DWORD n = 0;
    if (!ReadFile(file, to + done, static_cast<DWORD>(wanted), &n, nullptr)) return windows::last_error();
    if (n == 0) return kBecameShorter;
    done += n;
  }
  return 0;
}

int read_open(HANDLE file, std::size_t bytes, Span<const std::byte>* out) noexcept {
  std::byte* at = nullptr;
  if (const int error = take_memory(bytes, &at); error != 0) return error;
  if (const int error = read_whole(file, at, bytes); error != 0) {
    release({at, bytes});
    return error;
  }
  DWORD before = 0;
  static_cast<void>(VirtualProtect(at, bytes, PAGE_READONLY, &before));  // against stray writes
  *out = {at, bytes};
  return 0;
}

int load_file(const char* path, int (*load)(HANDLE, std::size_t, Span<const std::byte>*),
              Span<const std::byte>* out) noexcept {
  int error = 0;
  const HANDLE file = windows::open_existing(path, GENERIC_READ, &error);
  if (file == INVALID_HANDLE_VALUE) return error;
  std::size_t bytes = 0;
  error = file_size(file, &bytes);
  if (error == 0 && bytes != 0) error = load(file, bytes, out);
  CloseHandle(file);
  return error;
}

}  // namespace

int map_file(const char* path, Span<const std::byte>* out) noexcept { return load_file(path, map_open, out); }

int read_file(const char* path, Span<const std::byte>* out) noexcept { return load_file(path, read_open, out); }

void release(Span<const std::byte> bytes) noexcept {
  MEMORY_BASIC_INFORMATION info = {};
  if (bytes.empty() || VirtualQuery(bytes.data(), &info, sizeof info) == 0) return;
  if (info.Type == MEM_MAPPED) {
    UnmapViewOfFile(info.AllocationBase);
  } else {
    VirtualFree(info.AllocationBase, 0, MEM_RELEASE);
  }
}

std::uint32_t usable_cores() noexcept {
  DWORD_PTR ours = 0;
  DWORD_PTR all = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &ours, &all)) return 0;
  std::uint32_t count = 0;
  for (; ours != 0; ours &= ours - 1) ++count;
  return count;
}

std::uint64_t process_id() noexcept { return GetCurrentProcessId(); }

}  // namespace minnow::system

#endif
