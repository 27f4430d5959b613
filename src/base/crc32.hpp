// CRC-32 of ISO 3309 (the one of zip, gzip and PNG).
#pragma once

#include <cstddef>
#include <cstdint>

namespace minnow {

// Continues a checksum; start with crc = 0. crc32(0, "123456789", 9) is 0xcbf43926.
std::uint32_t crc32(std::uint32_t crc, const void* data, std::size_t bytes) noexcept;

}  // namespace minnow
