// For programs that have an operating system: the bytes of a model file and a pool of std::threads.
// In libminnow_hosted.a; these two may allocate and block, and nothing in the core needs them.
#pragma once

#include "minnow/minnow.hpp"

MINNOW_EXPORT_BEGIN
namespace minnow {

// The bytes of a file, mapped or read. Replace a model file by renaming a new one over it: truncating a mapped file in
// place makes the next read of it fail with SIGBUS, on every system that maps files.
class FileMap {
 public:
  FileMap() noexcept = default;
  ~FileMap();
  FileMap(FileMap&& other) noexcept;
  FileMap& operator=(FileMap&& other) noexcept;
  FileMap(const FileMap&) = delete;
  FileMap& operator=(const FileMap&) = delete;

  // Maps the file read-only: ready at once, shared with other processes, in pages of 4 KiB.
  // Errors: bad_argument, io_error (also for what is not a regular file); *error_or_null is then the errno value.
  static Status open(const char* path, FileMap* out, int* error_or_null = nullptr) noexcept;

  // Reads the file into memory of this process that begins on 2 MiB and, on Linux, asks for pages of that size: slower
  // to begin with, and faster to stream for weights that exceed the caches. Nothing is read twice or copied.
  // Errors as for open(); errno is ENOMEM if the system does not give the memory, ESTALE (on Windows ENODATA) if the
  // file becomes shorter.
  static Status read(const char* path, FileMap* out, int* error_or_null = nullptr) noexcept;

  Span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  using Loader = int(const char* path, Span<const std::byte>* out);
  MINNOW_PRIVATE static Status load(const char* path, Loader* loader, FileMap* out, int* error_or_null) noexcept;

  Span<const std::byte> bytes_;
};

// Threads that wait for jobs: they spin for 50 microseconds, then sleep. The calling thread works too, so a pool of
// width 1 has no threads. However wide the pool, no more threads are woken than there are cores. Signals are blocked on
// the threads. Destroy it only while no job runs. In a forked child, which has no threads but the one that forked, the
// calling thread does all jobs. Sessions on several threads may share a pool: one that finds it busy works on its own.
class ThreadPool {
 public:
  ThreadPool() noexcept = default;
  ~ThreadPool();
  ThreadPool(ThreadPool&& other) noexcept;
  ThreadPool& operator=(ThreadPool&& other) noexcept;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // 1 <= width <= kMaxWorkers. Where the system grants fewer threads the pool is narrower; see width().
  // Errors: bad_argument, io_error (no memory).
  static Status create(std::uint32_t width, ThreadPool* out) noexcept;
  // Cores that the calling thread may run on, at least 1. A wider pool works, but no faster.
  static std::uint32_t usable_cores() noexcept;
  std::uint32_t width() const noexcept;
  Executor executor() noexcept;  // valid as long as the pool is not moved or destroyed

 private:
  struct MINNOW_PRIVATE State;
  State* state_ = nullptr;
};

}  // namespace minnow
MINNOW_EXPORT_END
