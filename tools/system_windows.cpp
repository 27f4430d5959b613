// Depends on hosted/windows.hpp. Descriptors are those of the C library, around handles that are opened here.
#include "tools/system.hpp"

#if defined(_WIN32)

#include "hosted/system.hpp"
#include "hosted/windows.hpp"

// After windows.hpp.
#include <fcntl.h>
#include <io.h>
#include <psapi.h>
#include <shellapi.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cwchar>

namespace minnow::system {
namespace {

using windows::WideName;

constexpr DWORD kShared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
constexpr std::size_t kMost = std::size_t{1} << 30;  // bytes of one call

std::string to_utf8(const wchar_t* text, std::size_t length) {
  const int wide = static_cast<int>(length);
  std::string out(static_cast<std::size_t>(WideCharToMultiByte(CP_UTF8, 0, text, wide, nullptr, 0, nullptr, nullptr)),
                  '\0');
  WideCharToMultiByte(CP_UTF8, 0, text, wide, out.data(), static_cast<int>(out.size()), nullptr, nullptr);
  return out;
}

std::string to_utf8(const wchar_t* text) { return to_utf8(text, std::wcslen(text)); }

// What a function gives that wants room for as many characters as it returns when there is too little.
template <class Function>
std::string grown(Function get) {
  std::wstring text(MAX_PATH, L'\0');
  for (;;) {
    const std::size_t length = get(text.data(), static_cast<DWORD>(text.size()));
    if (length < text.size()) return to_utf8(text.data(), length);
    text.resize(std::max<std::size_t>(length, 2 * text.size()));
  }
}

std::int64_t failed(DWORD error) {
  errno = windows::errno_of(error);
  return -1;
}

HANDLE handle_of(int descriptor) {
  return descriptor < 0 ? INVALID_HANDLE_VALUE : reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
}

int descriptor_of(HANDLE handle) {
  if (handle == INVALID_HANDLE_VALUE) return static_cast<int>(failed(GetLastError()));
  const int descriptor = _open_osfhandle(reinterpret_cast<std::intptr_t>(handle), _O_BINARY | _O_NOINHERIT);
  if (descriptor < 0) CloseHandle(handle);
  return descriptor;
}

bool is_console(HANDLE handle) {
  DWORD mode = 0;
  return GetConsoleMode(handle, &mode) != 0;
}

UINT console_before = 0;

extern "C" void restore_console() { SetConsoleOutputCP(console_before); }

// Lines that are typed, as UTF-8 with the line ends of files. ^Z at the beginning of one is the end.
class ConsoleInput {
 public:
  std::int64_t read(HANDLE console, char* to, std::size_t bytes) {
    if (ready_.empty() && !fill(console)) return -1;
    const std::size_t taken = std::min(bytes, ready_.size());
    std::copy_n(ready_.data(), taken, to);
    ready_.erase(0, taken);
    return static_cast<std::int64_t>(taken);
  }

 private:
  bool fill(HANDLE console) {
    constexpr DWORD kRoom = 4096;
    wchar_t line[kRoom + 1];
    DWORD used = 0;
    if (half_ != 0) line[used++] = half_;
    half_ = 0;
    DWORD got = 0;
    SetLastError(ERROR_SUCCESS);
    const bool ok = ReadConsoleW(console, line + used, kRoom, &got, nullptr) != 0;
    if (!ok || (got == 0 && GetLastError() == ERROR_OPERATION_ABORTED)) {
      const DWORD error = ok ? ERROR_OPERATION_ABORTED : GetLastError();
      if (error == ERROR_OPERATION_ABORTED) Sleep(20);  // until the handler of ^C has run, on its own thread
      failed(error);
      return false;
    }
    used += got;
    if (at_line_start_ && got != 0 && line[0] == 0x1a) return true;
    if (used != 0 && IS_HIGH_SURROGATE(line[used - 1])) half_ = line[--used];
    ready_ = to_utf8(line, used);
    ready_.erase(std::remove(ready_.begin(), ready_.end(), '\r'), ready_.end());
    at_line_start_ = !ready_.empty() && ready_.back() == '\n';
    return true;
  }

  std::string ready_;
  wchar_t half_ = 0;  // the first half of a character whose second was not read yet
  bool at_line_start_ = true;
};

std::int64_t read_console(HANDLE console, void* to, std::size_t bytes) {
  static ConsoleInput input;
  return input.read(console, static_cast<char*>(to), bytes);
}

OVERLAPPED place(std::uint64_t offset) {
  OVERLAPPED at = {};
  at.Offset = static_cast<DWORD>(offset);
  at.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return at;
}

// The outcome of ReadFile.
std::int64_t outcome(BOOL ok, DWORD bytes) {
  const DWORD error = ok ? ERROR_SUCCESS : GetLastError();
  if (ok) return bytes;
  return error == ERROR_HANDLE_EOF || error == ERROR_BROKEN_PIPE ? 0 : failed(error);
}

bool status_of(HANDLE handle, FileStatus* out) {
  using Kind = FileStatus::Kind;
  *out = {};
  BY_HANDLE_FILE_INFORMATION info = {};
  if (GetFileType(handle) != FILE_TYPE_DISK) return handle != INVALID_HANDLE_VALUE;
  if (!GetFileInformationByHandle(handle, &info)) return failed(GetLastError()) == 0;
  out->kind = (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? Kind::folder : Kind::regular;
  out->bytes = std::uint64_t{info.nFileSizeHigh} << 32 | info.nFileSizeLow;
  out->device = info.dwVolumeSerialNumber;
  out->number = std::uint64_t{info.nFileIndexHigh} << 32 | info.nFileIndexLow;
  const FILETIME& written = info.ftLastWriteTime;
  out->modified = static_cast<std::int64_t>(std::uint64_t{written.dwHighDateTime} << 32 | written.dwLowDateTime);
  return true;
}

}  // namespace

// The arguments of main are in the code page of the system, which lacks most characters.
void prepare_process(int* argc, char*** argv) {
  static std::vector<std::string> words;
  static std::vector<char*> pointers;
  int count = 0;
  if (wchar_t** const wide = CommandLineToArgvW(GetCommandLineW(), &count)) {
    for (int i = 0; i < count; ++i) words.push_back(to_utf8(wide[i]));
    LocalFree(wide);
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    *argc = count;
    *argv = pointers.data();
  }
  for (const int descriptor : {0, 1, 2}) _setmode(descriptor, _O_BINARY);
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX);  // errors instead of windows
  const bool shows_out = is_console(GetStdHandle(STD_OUTPUT_HANDLE));
  // Else the C library writes single bytes to a console, where older ones need whole characters.
  if (shows_out) std::setvbuf(stdout, nullptr, _IOFBF, 4096);
  if (shows_out || stderr_is_terminal()) {
    console_before = GetConsoleOutputCP();
    SetConsoleOutputCP(CP_UTF8);
    std::atexit(restore_console);
  }
}

bool nobody_reads(int error) { return error == EPIPE || error == EINVAL; }  // the C library says either

bool stderr_is_terminal() { return is_console(GetStdHandle(STD_ERROR_HANDLE)); }

std::vector<std::string> executable_paths() {
  return {grown([](wchar_t* to, DWORD room) { return GetModuleFileNameW(nullptr, to, room); })};
}


std::uint64_t peak_memory() {
  PROCESS_MEMORY_COUNTERS counters = {};
  return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? counters.PeakWorkingSetSize : 0;
}

bool status_of(const std::string& path, FileStatus* out) {
  const HANDLE handle = windows::open_existing(path.c_str(), 0, &errno);
  if (handle == INVALID_HANDLE_VALUE) return false;
  const bool ok = status_of(handle, out);
  CloseHandle(handle);
  return ok;
}

bool status_of(int descriptor, FileStatus* out) { return status_of(handle_of(descriptor), out); }

int open_to_read(const std::string& path, Pipes) {
  const HANDLE handle = windows::open_existing(path.c_str(), GENERIC_READ, &errno);
  return handle == INVALID_HANDLE_VALUE ? -1 : descriptor_of(handle);
}

int create_file(const std::string& path, std::uint32_t) {
  const WideName name(path.c_str());
  return descriptor_of(
      CreateFileW(name.get(), GENERIC_WRITE, kShared, nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
}

int create_nameless(const std::string& folder) {
  static std::atomic<unsigned> made{0};
  for (;;) {
    const std::string path =
        folder + "/minnow-" + std::to_string(process_id()) + "-" + std::to_string(made.fetch_add(1)) + ".tmp";
    const WideName name(path.c_str());
    const HANDLE handle =
        CreateFileW(name.get(), GENERIC_READ | GENERIC_WRITE, kShared, nullptr, CREATE_NEW,
                    FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE | FILE_ATTRIBUTE_HIDDEN, nullptr);
    if (handle != INVALID_HANDLE_VALUE || GetLastError() != ERROR_FILE_EXISTS) return descriptor_of(handle);
  }
}

bool close_file(int descriptor) { return _close(descriptor) == 0; }

std::int64_t read_next(int descriptor, void* to, std::size_t bytes) {
  const HANDLE handle = handle_of(descriptor);
  if (is_console(handle)) return read_console(handle, to, bytes);
  DWORD got = 0;
  const BOOL ok = ReadFile(handle, to, static_cast<DWORD>(std::min(bytes, kMost)), &got, nullptr);
  return outcome(ok, got);
}

std::int64_t read_at(int descriptor, std::uint64_t offset, void* to, std::size_t bytes) {
  OVERLAPPED at = place(offset);
  DWORD got = 0;
  const BOOL ok = ReadFile(handle_of(descriptor), to, static_cast<DWORD>(std::min(bytes, kMost)), &got, &at);
  return outcome(ok, got);
}

std::int64_t write_at(int descriptor, std::uint64_t offset, const void* from, std::size_t bytes) {
  OVERLAPPED at = place(offset);
  DWORD put = 0;
  const BOOL ok = WriteFile(handle_of(descriptor), from, static_cast<DWORD>(std::min(bytes, kMost)), &put, &at);
  return ok ? std::int64_t{put} : failed(GetLastError());
}

std::uint64_t position(int descriptor) {
  LARGE_INTEGER at = {};
  if (!SetFilePointerEx(handle_of(descriptor), LARGE_INTEGER{}, &at, FILE_CURRENT)) return 0;
  return static_cast<std::uint64_t>(at.QuadPart);
}

void set_position(int descriptor, std::uint64_t offset) {
  LARGE_INTEGER to = {};
  to.QuadPart = static_cast<LONGLONG>(offset);
  SetFilePointerEx(handle_of(descriptor), to, nullptr, FILE_BEGIN);
}

bool flush_file(int descriptor) {
  return FlushFileBuffers(handle_of(descriptor)) != 0 || failed(GetLastError()) == 0;
}

void set_mode(int, std::uint32_t) {}  // what the folder grants, the file inherits

bool replace_file(const std::string& from, const std::string& to) {
  const WideName old_name(from.c_str());
  const WideName new_name(to.c_str());
  const DWORD how = MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH;
  return MoveFileExW(old_name.get(), new_name.get(), how) != 0 || failed(GetLastError()) == 0;
}

void flush_folder(const std::string&) {}  // MOVEFILE_WRITE_THROUGH has

void remove_file(const std::string& path) { DeleteFileW(WideName(path.c_str()).get()); }

bool read_link(const std::string&, std::string*) { return false; }

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  WIN32_FIND_DATAW entry;
  const HANDLE search = FindFirstFileW(WideName((folder + "/*").c_str()).get(), &entry);
  if (search == INVALID_HANDLE_VALUE) return names;
  do {
    names.push_back(to_utf8(entry.cFileName));
  } while (FindNextFileW(search, &entry));
  FindClose(search);
  return names;
}

std::string absolute_path(const std::string& path) {
  const WideName name(path.c_str());
  const std::string full =
      grown([&name](wchar_t* to, DWORD room) { return GetFullPathNameW(name.get(), room, to, nullptr); });
  return full.empty() ? path : full;
}

std::string temporary_folder() {
  const wchar_t* const folder = _wgetenv(L"TMPDIR");
  if (folder != nullptr && *folder != L'\0') return to_utf8(folder);
  std::string path = grown([](wchar_t* to, DWORD room) { return GetTempPathW(room, to); });
  if (!path.empty() && path.back() == '\\') path.pop_back();
  return path;
}

}  // namespace minnow::system

#endif
