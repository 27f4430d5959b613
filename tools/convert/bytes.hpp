// Pieces of files and the little-endian numbers in them. Depends on file.
#pragma once

#include "tools/convert/file.hpp"

namespace minnow::convert {

// `bytes` <= 8 bytes of `from`, which has them, as an unsigned number.
inline std::uint64_t number_at(std::string_view from, std::size_t at, unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(from[at + i]);
  return value;
}

// The caller has compared the size with the file's.
inline std::string read_piece(const InputFile& file, std::uint64_t offset, std::uint64_t bytes) {
  std::string out(static_cast<std::size_t>(bytes), '\0');
  file.read_at(offset, &out[0], out.size());
  return out;
}

}  // namespace minnow::convert
