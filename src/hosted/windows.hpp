// Windows as the system_windows.cpp files speak to it: names in UTF-16, errors as errno values. Needs Windows.
#pragma once

#if defined(_WIN32)

#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

namespace minnow::windows {

// A name in UTF-8 as the functions of Windows take it. From 248 characters on, where they would refuse it, it becomes
// an absolute one with the prefix that lifts the limit.
class WideName {
 public:
  explicit WideName(const char* utf8) noexcept;
  ~WideName();
  WideName(const WideName&) = delete;
  WideName& operator=(const WideName&) = delete;

  const wchar_t* get() const noexcept { return text_; }  // null: there was no memory

 private:
  void lengthen() noexcept;

  wchar_t* text_ = nullptr;
};

int errno_of(DWORD error) noexcept;  // EIO for what has no name there
inline int last_error() noexcept { return errno_of(GetLastError()); }

// A handle of an existing file, also of a folder, that leaves others free to write, rename and remove it;
// INVALID_HANDLE_VALUE: *error, an errno value, says why.
HANDLE open_existing(const char* path, DWORD access, int* error) noexcept;

}  // namespace minnow::windows

#endif
