// What FileMap and ThreadPool ask of the operating system: system_posix.cpp and system_windows.cpp answer. Needs the
// public types.
#pragma once

#include <cerrno>
#include <cstdint>

#include "minnow/types.hpp"

namespace minnow::system {

// A file that has become shorter while it was read.
#if defined(_WIN32)
inline constexpr int kBecameShorter = ENODATA;
#else
inline constexpr int kBecameShorter = ESTALE;
#endif

// The bytes of a regular file, which release() gives back; none of an empty one. They return 0 or an errno value.
int map_file(const char* path, Span<const std::byte>* out) noexcept;
int read_file(const char* path, Span<const std::byte>* out) noexcept;
void release(Span<const std::byte> bytes) noexcept;

std::uint32_t usable_cores() noexcept;  // by the calling thread; 0 if the system does not say
std::uint64_t process_id() noexcept;     // another in a forked child

}  // namespace minnow::system
