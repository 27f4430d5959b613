// A zip archive, as torch.save writes it, seen through its central directory: stored and deflated entries, zip64. Names
// are never used as paths. Depends on file and inflate.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/convert/file.hpp"
#include "tools/convert/inflate.hpp"

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

  bool is_stored() const { return method == 0; }
};

class ZipArchive {
 public:
  // `check_crcs`: whether read() and check_crc() compare checksums. A recorded checksum of 0 counts as "not recorded"
  // and is never compared. Throws Refusal.
  explicit ZipArchive(const InputFile& file, bool check_crcs = true);

  const std::vector<ZipEntry>& entries() const { return entries_; }  // ascending by name
  const ZipEntry* find(std::string_view name) const;                 // null if there is none

  // Where the data of an entry begins in the file: its bytes, or its stored_bytes of deflate. Throws Refusal for what
  // is compressed otherwise, encrypted, overlaps another entry or leaves the file.
  std::uint64_t data_offset(const ZipEntry& entry) const;

  // The whole entry. Throws Refusal if its checksum differs.
  std::string read(const ZipEntry& entry, std::uint64_t limit) const;

  // Gives the entry to `sink` in pieces, of a deflated one what it inflates to, never more than entry.bytes. Throws
  // Refusal if its checksum differs.
  void unpack(const ZipEntry& entry, const InflateSink& sink) const;

  // The same without a sink; does nothing where checksums are not compared.
  void check_crc(const ZipEntry& entry, const std::function<void(std::uint64_t bytes)>& on_read = {}) const;

 private:
  bool has_crc(const ZipEntry& entry) const;

  const InputFile& file_;
  bool check_crcs_;
  std::vector<ZipEntry> entries_;
};

// Whether the file ends like a zip archive.
bool ends_like_zip(const InputFile& file);

}  // namespace minnow::convert
