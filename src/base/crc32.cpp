// CRC-32, eight bytes at a time with tables that the compiler computes (Kounavis, Berry: A Systematic Approach to
// Building High Performance Software-based CRC Generators, 2005).
#include "base/crc32.hpp"

namespace minnow {
namespace {

struct Tables {
  std::uint32_t t[8][256];
};

// t[k][b]: the checksum of byte b followed by k zero bytes, by the reflected polynomial 0xedb88320.
constexpr Tables make_tables() {
  Tables tables = {};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t c = b;
    for (int i = 0; i < 8; ++i) c = (c & 1) != 0 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    tables.t[0][b] = c;
  }
  for (int k = 1; k < 8; ++k) {
    for (std::uint32_t b = 0; b < 256; ++b) {
      const std::uint32_t c = tables.t[k - 1][b];
      tables.t[k][b] = (c >> 8) ^ tables.t[0][c & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32(std::uint32_t crc, const void* data, std::size_t bytes) noexcept {
  const auto* p = static_cast<const unsigned char*>(data);
  const auto& t = kTables.t;
  std::uint32_t c = ~crc;
  for (; bytes >= 8; bytes -= 8, p += 8) {
    const std::uint32_t low =
        c ^ (std::uint32_t{p[0]} | std::uint32_t{p[1]} << 8 | std::uint32_t{p[2]} << 16 | std::uint32_t{p[3]} << 24);
    c = t[7][low & 0xff] ^ t[6][low >> 8 & 0xff] ^ t[5][low >> 16 & 0xff] ^ t[4][low >> 24] ^ t[3][p[4]] ^ t[2][p[5]] ^
        t[1][p[6]] ^ t[0][p[7]];
  }
  for (; bytes != 0; --bytes, ++p) c = (c >> 8) ^ t[0][(c ^ *p) & 0xff];
  return ~c;
}

}  // namespace minnow
