// A zip archive, as torch.save writes it, seen through its central directory: stored entries, zip64. Names are never
// used as paths. Depends on file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/convert/file.hpp"

namespace minnow::convert {

struct ZipEntry {
  std::string name;
  std::uint64_t header_offset = 0;
  std::uint64_t bytes = 0;  // uncompressed
  std::uint64_t stored_bytes = 0;
  std::uint64_t limit = 0;  // where the next entry or the directory begins: the data must end before
  std::uint32_t crc = 0;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
};

class ZipArchive {
 public:
  explicit ZipArchive(const InputFile& file);  // throws Refusal

  const std::vector<ZipEntry>& entries() const { return entries_; }  // ascending by name
  const ZipEntry* find(std::string_view name) const;                 // null if there is none

  // Where the data of a stored entry begins in the file. Throws Refusal for what is compressed, encrypted, overlaps
  // another entry or leaves the file.
  std::uint64_t data_offset(const ZipEntry& entry) const;

  // The whole entry. Its checksum is compared, see check_crc().
  std::string read(const ZipEntry& entry, std::uint64_t limit) const;

  // Reads the entry in pieces and throws Refusal if its checksum differs. Checksum 0 counts as not recorded.
  void check_crc(const ZipEntry& entry) const;

 private:
  const InputFile& file_;
  std::vector<ZipEntry> entries_;
};

// Whether the file ends like a zip archive.
bool ends_like_zip(const InputFile& file);

}  // namespace minnow::convert
