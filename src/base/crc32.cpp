// CRC-32 by tables that the compiler computes: eight bytes at a time (Kounavis, Berry: A Systematic Approach to
// Building High Performance Software-based CRC Generators, 2005), or one at a time in the smallest build, which saves 7
// KiB.
#include "base/crc32.hpp"

namespace minnow {
namespace {

#if defined(MINNOW_SIMD) && MINNOW_SIMD == 0
constexpr int kAtOnce = 1;
#else
constexpr int kAtOnce = 8;
#endif

struct Tables {
  std::uint32_t t[kAtOnce][256];
};

// t[k][b]: the checksum of byte b followed by k zero bytes, by the reflected polynomial 0xedb88320.
constexpr Tables make_tables() {
  Tables tables = {};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t c = b;
    for (int i = 0; i < 8; ++i) c = (c & 1) != 0 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    tables.t[0][b] = c;
  }
  for (int k = 1; k < kAtOnce; ++k) {
    for (std::uint32_t b = 0; b < 256; ++b) {
      const std::uint32_t c = tables.t[k - 1][b];
      tables.t[k][b] = (c >> 8) ^ tables.t[0][c & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

// The checksum after 8 more bytes.
template <class T>
std::uint32_t after_eight(const T& t, std::uint32_t c, const unsigned char* p) noexcept {
  c ^= std::uint32_t{p[0]} | std::uint32_t{p[1]} << 8 | std::uint32_t{p[2]} << 16 | std::uint32_t{p[3]} << 24;
  return t[7][c & 0xff] ^ t[6][c >> 8 & 0xff] ^ t[5][c >> 16 & 0xff] ^ t[4][c >> 24] ^ t[3][p[4]] ^ t[2][p[5]] ^
         t[1][p[6]] ^ t[0][p[7]];
}

template <class T>
std::uint32_t update(const T& t, std::uint32_t c, const unsigned char* p, std::size_t bytes) noexcept {
  if constexpr (sizeof t / sizeof t[0] == 8) {
    for (; bytes >= 8; bytes -= 8, p += 8) c = after_eight(t, c, p);
  }
  for (; bytes != 0; --bytes, ++p) c = (c >> 8) ^ t[0][(c ^ *p) & 0xff];
  return c;
}

}  // namespace

std::uint32_t crc32(std::uint32_t crc, const void* data, std::size_t bytes) noexcept {
  return ~update(kTables.t, ~crc, static_cast<const unsigned char*>(data), bytes);
}

}  // namespace minnow
