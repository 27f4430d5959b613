// base/crc32.hpp: published check values, and a checksum continued in pieces.
#include "base/crc32.hpp"

#include <doctest/doctest.h>

#include <string>

namespace minnow {

TEST_CASE("crc32: published values") {
  CHECK(crc32(0, "123456789", 9) == 0xcbf43926u);  // the "check" value of the CRC-32/ISO-HDLC catalogue entry
  CHECK(crc32(0, "", 0) == 0);
  CHECK(crc32(0, "a", 1) == 0xe8b7be43u);  // as zlib gives it
  CHECK(crc32(0, std::string(32, '\0').data(), 32) == 0x190a55adu);
  CHECK(crc32(0, std::string(32, '\xff').data(), 32) == 0xff6cab0bu);
}

TEST_CASE("crc32: any split and any start give the same checksum") {
  std::string data;
  for (int i = 0; i < 300; ++i) data += static_cast<char>(i * 37);
  const std::uint32_t whole = crc32(0, data.data(), data.size());
  for (std::size_t cut = 0; cut <= data.size(); ++cut) {
    CHECK(crc32(crc32(0, data.data(), cut), data.data() + cut, data.size() - cut) == whole);
  }
  for (std::size_t offset = 0; offset < 16; ++offset) {
    const std::string moved = std::string(offset, 'x') + data;
    CHECK(crc32(0, moved.data() + offset, data.size()) == whole);
  }
}

}  // namespace minnow
