// Depends on hosted/windows.hpp.
#include "hosted/windows.hpp"

#if defined(_WIN32)

#include <cerrno>
#include <cstring>
#include <cwchar>
#include <new>

namespace minnow::windows {
namespace {

constexpr std::size_t kShort = 248;  // the limit of a folder's name; that of a file's is 260

struct Meaning {
  DWORD error;
  int number;
};

constexpr Meaning kMeanings[] = {
    {ERROR_SUCCESS, 0},
    {ERROR_FILE_NOT_FOUND, ENOENT},
    {ERROR_PATH_NOT_FOUND, ENOENT},
    {ERROR_INVALID_NAME, ENOENT},
    {ERROR_BAD_PATHNAME, ENOENT},
    {ERROR_BAD_NETPATH, ENOENT},
    {ERROR_BAD_NET_NAME, ENOENT},
    {ERROR_INVALID_DRIVE, ENOENT},
    {ERROR_DIRECTORY, ENOTDIR},
    {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
    {ERROR_ACCESS_DENIED, EACCES},
    {ERROR_SHARING_VIOLATION, EACCES},
    {ERROR_LOCK_VIOLATION, EACCES},
    {ERROR_USER_MAPPED_FILE, EACCES},
    {ERROR_WRITE_PROTECT, EROFS},
    {ERROR_FILE_EXISTS, EEXIST},
    {ERROR_ALREADY_EXISTS, EEXIST},
    {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
    {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
    {ERROR_OUTOFMEMORY, ENOMEM},
    {ERROR_COMMITMENT_LIMIT, ENOMEM},
    {ERROR_NO_SYSTEM_RESOURCES, ENOMEM},
    {ERROR_DISK_FULL, ENOSPC},
    {ERROR_HANDLE_DISK_FULL, ENOSPC},
    {ERROR_FILE_TOO_LARGE, EFBIG},
    {ERROR_INVALID_HANDLE, EBADF},
    {ERROR_INVALID_PARAMETER, EINVAL},
    {ERROR_INVALID_FUNCTION, EINVAL},
    {ERROR_NEGATIVE_SEEK, EINVAL},
    {ERROR_NOT_SUPPORTED, ENOTSUP},
    {ERROR_BROKEN_PIPE, EPIPE},
    {ERROR_NO_DATA, EPIPE},
    {ERROR_OPERATION_ABORTED, EINTR},
    {ERROR_NOT_SAME_DEVICE, EXDEV},
};

}  // namespace

int errno_of(DWORD error) noexcept {
  for (const Meaning& meaning : kMeanings) {
    if (meaning.error == error) return meaning.number;
  }
  return EIO;
}

WideName::WideName(const char* utf8) noexcept {
  const int size = MultiByteToWideChar(CP_UTF8, 0, utf8, -1, nullptr, 0);
  if (size <= 0) return;
  text_ = new (std::nothrow) wchar_t[static_cast<std::size_t>(size)];
  if (text_ == nullptr) return;
  MultiByteToWideChar(CP_UTF8, 0, utf8, -1, text_, size);
  if (std::wcslen(text_) >= kShort && std::wcsncmp(text_, L"\\\\?\\", 4) != 0) lengthen();
}

WideName::~WideName() { delete[] text_; }

// "C:\.." becomes "\\?\C:\..", and "\\server\.." becomes "\\?\UNC\server\..".
void WideName::lengthen() noexcept {
  const DWORD size = GetFullPathNameW(text_, 0, nullptr, nullptr);
  if (size == 0) return;
  constexpr wchar_t kPrefix[] = L"\\\\?\\";
  constexpr wchar_t kServer[] = L"\\\\?\\UNC";
  wchar_t* const full = new (std::nothrow) wchar_t[size];
  wchar_t* const named = new (std::nothrow) wchar_t[size + sizeof kServer / sizeof kServer[0]];
  if (full != nullptr && named != nullptr && GetFullPathNameW(text_, size, full, nullptr) < size) {
    const bool is_server = full[0] == L'\\' && full[1] == L'\\';
    std::wcscpy(named, is_server ? kServer : kPrefix);
    std::wcscat(named, full + (is_server ? 1 : 0));
    delete[] text_;
    text_ = named;
  } else {
    delete[] named;
  }
  delete[] full;
}

HANDLE open_existing(const char* path, DWORD access, int* error) noexcept {
  const WideName name(path);
  if (name.get() == nullptr) {
    *error = ENOMEM;
    return INVALID_HANDLE_VALUE;
  }
  const HANDLE file =
      CreateFileW(name.get(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                  FILE_FLAG_BACKUP_SEMANTICS, nullptr);  // which folders need
  if (file == INVALID_HANDLE_VALUE) *error = last_error();
  return file;
}

}  // namespace minnow::windows

#endif
