// A buffer with an unreadable page directly behind it, so that reading or writing past its end cannot go unseen.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>

#if defined(_WIN32)
#include "hosted/windows.hpp"
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace minnow::test {

#if defined(_WIN32)
inline std::size_t page_bytes() {
  SYSTEM_INFO info = {};
  GetSystemInfo(&info);
  return info.dwPageSize;
}
inline void* take_pages(std::size_t bytes) {
  return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}
inline bool bar_page(void* page, std::size_t bytes) {
  DWORD before = 0;
  return VirtualProtect(page, bytes, PAGE_NOACCESS, &before) != 0;
}
inline void give_pages(void* begin, std::size_t) { VirtualFree(begin, 0, MEM_RELEASE); }
#else
inline std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
inline void* take_pages(std::size_t bytes) {
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return base == MAP_FAILED ? nullptr : base;
}
inline bool bar_page(void* page, std::size_t bytes) { return mprotect(page, bytes, PROT_NONE) == 0; }
inline void give_pages(void* begin, std::size_t bytes) { munmap(begin, bytes); }
#endif

// `count` elements of T that end `slack` elements before the guard page. The slack and everything in front of the
// buffer hold a known byte; intact() tells whether somebody wrote there.
template <class T>
class Guarded {
 public:
  explicit Guarded(std::size_t count, std::size_t slack = 0) : bytes_(count * sizeof(T)), slack_(slack * sizeof(T)) {
    const std::size_t page = page_bytes();
    usable_ = (bytes_ + slack_ + kFront + page - 1) / page * page;
    mapped_ = usable_ + page;
    void* const base = take_pages(mapped_);
    if (base == nullptr) throw std::bad_alloc();
    base_ = static_cast<unsigned char*>(base);
    std::memset(base_, kCanary, usable_);
    if (!bar_page(base_ + usable_, page)) throw std::bad_alloc();
  }
  ~Guarded() { give_pages(base_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  T* data() const { return reinterpret_cast<T*>(base_ + start()); }
  std::size_t bytes() const { return bytes_; }
  std::size_t size() const { return bytes_ / sizeof(T); }
  T& operator[](std::size_t i) const { return data()[i]; }

  bool intact() const {
    for (std::size_t i = 0; i < start(); ++i) {
      if (base_[i] != kCanary) return false;
    }
    for (std::size_t i = usable_ - slack_; i < usable_; ++i) {
      if (base_[i] != kCanary) return false;
    }
    return true;
  }

  // Same bytes inside, and nothing written outside of either.
  bool same_as(const Guarded& other) const {
    return bytes_ == other.bytes_ && std::memcmp(data(), other.data(), bytes_) == 0 && intact() && other.intact();
  }

 private:
  static constexpr unsigned char kCanary = 0xa5;
  static constexpr std::size_t kFront = 64;
  std::size_t start() const { return usable_ - slack_ - bytes_; }

  std::size_t bytes_;
  std::size_t slack_;
  std::size_t usable_ = 0;
  std::size_t mapped_ = 0;
  unsigned char* base_ = nullptr;
};

}  // namespace minnow::test
