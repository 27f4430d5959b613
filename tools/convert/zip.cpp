// The central directory of a zip archive, and where the data of its entries lies. Depends on file.
#include "tools/convert/zip.hpp"

#include <algorithm>

#include "base/bits.hpp"
#include "base/crc32.hpp"
#include "tools/convert/bytes.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

namespace {

constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kLocator64Signature = 0x07064b50;
constexpr std::uint32_t kCentralSignature = 0x02014b50;
constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kLocator64Bytes = 20;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kCentralBytes = 46;
constexpr std::size_t kLocalBytes = 30;
constexpr std::uint64_t kMaxDirectoryBytes = std::uint64_t{16} << 20;

constexpr std::uint16_t kEncrypted = 1;
constexpr std::uint16_t kDeflated = 8;

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
};

[[noreturn]] void damaged(std::string_view what) {
  refuse("the zip archive is damaged: ", what, "; expected one as torch.save writes it; copy or save the file again");
}

// The offset of the end record: the last one whose comment reaches exactly to the end of the file.
bool find_end(const InputFile& file, std::uint64_t* end_offset) {
  const std::uint64_t tail_bytes = std::min<std::uint64_t>(file.size(), kEndBytes + 0xffff);
  if (tail_bytes < kEndBytes) return false;
  const std::string tail = read_piece(file, file.size() - tail_bytes, tail_bytes);
  for (std::size_t at = tail.size() - kEndBytes + 1; at-- > 0;) {
    if (number_at(tail, at, 4) != kEndSignature) continue;
    if (at + kEndBytes + number_at(tail, at + 20, 2) != tail.size()) continue;
    *end_offset = file.size() - tail_bytes + at;
    return true;
  }
  return false;
}

// Replaces what the end record could not hold by the zip64 record, if there is one.
void apply_zip64(const InputFile& file, std::uint64_t end_offset, Directory* directory) {
  if (end_offset < kLocator64Bytes) return;
  const std::string locator = read_piece(file, end_offset - kLocator64Bytes, kLocator64Bytes);
  if (number_at(locator, 0, 4) != kLocator64Signature) return;
  const std::uint64_t at = number_at(locator, 8, 8);
  std::uint64_t end = 0;
  if (!checked_add(at, kEnd64Bytes, &end) || end > end_offset - kLocator64Bytes)
    damaged("its zip64 record is out of place");
  const std::string record = read_piece(file, at, kEnd64Bytes);
  if (number_at(record, 0, 4) != kEnd64Signature) damaged("its zip64 record is missing");
  const auto take = [](std::uint64_t wide, std::uint64_t saturated, std::uint64_t* narrow) {
    if (*narrow != saturated && *narrow != wide) damaged("its two end records contradict each other");
    *narrow = wide;
  };
  take(number_at(record, 32, 8), 0xffff, &directory->entries);
  take(number_at(record, 40, 8), 0xffffffff, &directory->bytes);
  take(number_at(record, 48, 8), 0xffffffff, &directory->offset);
}

Directory find_directory(const InputFile& file) {
  std::uint64_t end_offset = 0;
  if (!find_end(file, &end_offset)) damaged("it has no end record, as if it were cut short");
  const std::string record = read_piece(file, end_offset, kEndBytes);
  if (number_at(record, 4, 2) != number_at(record, 6, 2)) damaged("it is one part of several");
  Directory directory;
  directory.entries = number_at(record, 10, 2);
  directory.bytes = number_at(record, 12, 4);
  directory.offset = number_at(record, 16, 4);
  apply_zip64(file, end_offset, &directory);
  std::uint64_t end = 0;
  if (!checked_add(directory.offset, directory.bytes, &end) || end > end_offset)
    damaged("its directory leaves the file");
  if (directory.entries > directory.bytes / kCentralBytes)
    damaged("it announces more entries than its directory holds");
  if (directory.bytes > kMaxDirectoryBytes) {
    refuse("the zip archive has a directory of ", directory.bytes, " bytes; expected at most ", kMaxDirectoryBytes,
           "; a checkpoint has a few hundred entries: name the right file");
  }
  return directory;
}

// The fields of the zip64 extra field stand for those that are saturated, in this order.
void apply_zip64_extra(const std::string& extra, ZipEntry* entry) {
  std::size_t at = 0;
  while (extra.size() - at >= 4) {
    const std::uint64_t id = number_at(extra, at, 2);
    const std::size_t bytes = static_cast<std::size_t>(number_at(extra, at + 2, 2));
    at += 4;
    if (bytes > extra.size() - at) damaged("an extra field leaves its entry");
    if (id == 1) {
      std::size_t next = at;
      for (std::uint64_t* field : {&entry->bytes, &entry->stored_bytes, &entry->header_offset}) {
        if (*field != 0xffffffff) continue;
        if (at + bytes - next < 8) damaged("a zip64 field is missing");
        *field = number_at(extra, next, 8);
        next += 8;
      }
      return;
    }
    at += bytes;
  }
}

// The entry at `at` of the directory; *at moves behind it.
ZipEntry parse_entry(const std::string& directory, std::size_t* at) {
  const std::size_t left = directory.size() - *at;
  if (left < kCentralBytes || number_at(directory, *at, 4) != kCentralSignature)
    damaged("a directory entry is malformed");
  ZipEntry entry;
  entry.flags = static_cast<std::uint16_t>(number_at(directory, *at + 8, 2));
  entry.method = static_cast<std::uint16_t>(number_at(directory, *at + 10, 2));
  entry.crc = static_cast<std::uint32_t>(number_at(directory, *at + 16, 4));
  entry.stored_bytes = number_at(directory, *at + 20, 4);
  entry.bytes = number_at(directory, *at + 24, 4);
  entry.header_offset = number_at(directory, *at + 42, 4);
  const std::size_t name_bytes = static_cast<std::size_t>(number_at(directory, *at + 28, 2));
  const std::size_t extra_bytes = static_cast<std::size_t>(number_at(directory, *at + 30, 2));
  const std::size_t comment_bytes = static_cast<std::size_t>(number_at(directory, *at + 32, 2));
  if (name_bytes + extra_bytes + comment_bytes > left - kCentralBytes)
    damaged("a directory entry leaves the directory");
  entry.name = directory.substr(*at + kCentralBytes, name_bytes);
  apply_zip64_extra(directory.substr(*at + kCentralBytes + name_bytes, extra_bytes), &entry);
  *at += kCentralBytes + name_bytes + extra_bytes + comment_bytes;
  return entry;
}

}  // namespace

bool ends_like_zip(const InputFile& file) {
  std::uint64_t end_offset = 0;
  return find_end(file, &end_offset);
}

ZipArchive::ZipArchive(const InputFile& file, bool check_crcs) : file_(file), check_crcs_(check_crcs) {
  const Directory where = find_directory(file);
  const std::string directory = read_piece(file, where.offset, where.bytes);
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < where.entries; ++i) entries_.push_back(parse_entry(directory, &at));
  if (at != directory.size()) damaged("its directory has bytes behind the last entry");

  std::sort(entries_.begin(), entries_.end(),
            [](const ZipEntry& a, const ZipEntry& b) { return a.header_offset < b.header_offset; });
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].limit = i + 1 < entries_.size() ? entries_[i + 1].header_offset : where.offset;
  }
  std::sort(entries_.begin(), entries_.end(), [](const ZipEntry& a, const ZipEntry& b) { return a.name < b.name; });
  for (std::size_t i = 1; i < entries_.size(); ++i) {
    if (entries_[i].name == entries_[i - 1].name) damaged(concat("it holds ", quoted(entries_[i].name), " twice"));
  }
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), name,
                       [](const ZipEntry& entry, std::string_view wanted) { return entry.name < wanted; });
  return found != entries_.end() && found->name == name ? &*found : nullptr;
}

std::uint64_t ZipArchive::data_offset(const ZipEntry& entry) const {
  if ((entry.flags & kEncrypted) != 0) {
    refuse("the entry ", quoted(entry.name), " is encrypted; expected a plain one; unpack it and save it again");
  }
  if (!entry.is_stored() && entry.method != kDeflated) {
    refuse("the entry ", quoted(entry.name), " is compressed (method ", entry.method, "); expected a stored or a ",
           "deflated one; unpack the archive and pack it with zip -0 -r, or save it again");
  }
  // The local header's sizes may be 0, with the real ones behind the data; its name and extra field count.
  std::uint64_t header_end = 0;
  if (!checked_add(entry.header_offset, kLocalBytes, &header_end) || header_end > entry.limit) {
    damaged(concat("the entry ", quoted(entry.name), " overlaps another or leaves the file"));
  }
  const std::string header = read_piece(file_, entry.header_offset, kLocalBytes);
  if (number_at(header, 0, 4) != kLocalSignature)
    damaged(concat("the entry ", quoted(entry.name), " is not where it should be"));
  const std::uint64_t name_bytes = number_at(header, 26, 2);
  const std::uint64_t offset = header_end + name_bytes + number_at(header, 28, 2);
  std::uint64_t end = 0;
  if ((entry.is_stored() && entry.bytes != entry.stored_bytes) || !checked_add(offset, entry.stored_bytes, &end) ||
      end > entry.limit) {
    damaged(concat("the entry ", quoted(entry.name), " overlaps another or leaves the file"));
  }
  if (!entry.is_stored() && entry.bytes / kMaxInflation > entry.stored_bytes) {
    damaged(concat("the entry ", quoted(entry.name), " has ", entry.stored_bytes, " bytes, which cannot become ",
                   entry.bytes));
  }
  if (read_piece(file_, header_end, name_bytes) != entry.name) {
    damaged(concat("the entry ", quoted(entry.name), " has another name at its data"));
  }
  return offset;
}

// 0 is taken as "not recorded": some writers leave the field so. The data whose checksum truly is 0, one in 2^32, goes
// unchecked with it.
bool ZipArchive::has_crc(const ZipEntry& entry) const { return check_crcs_ && entry.crc != 0; }

std::string ZipArchive::read(const ZipEntry& entry, std::uint64_t limit) const {
  if (entry.bytes > limit) {
    refuse("the entry ", quoted(entry.name), " has ", entry.bytes, " bytes; expected at most ", limit,
           "; save the checkpoint again with torch.save");
  }
  std::string out;
  unpack(entry,
         [&](const unsigned char* data, std::size_t bytes) { out.append(reinterpret_cast<const char*>(data), bytes); });
  return out;
}

void ZipArchive::unpack(const ZipEntry& entry, const InflateSink& sink) const {
  std::uint64_t offset = data_offset(entry);
  std::uint64_t left = entry.stored_bytes;
  const auto source = [&](unsigned char* to, std::size_t capacity) {
    const std::size_t bytes = static_cast<std::size_t>(std::min<std::uint64_t>(left, capacity));
    file_.read_at(offset, to, bytes);
    offset += bytes;
    left -= bytes;
    return bytes;
  };
  std::uint32_t crc = 0;
  const auto counted = [&](const unsigned char* data, std::size_t bytes) {
    if (has_crc(entry)) crc = crc32(crc, data, bytes);
    sink(data, bytes);
  };
  if (entry.is_stored()) {
    std::vector<unsigned char> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(left, std::uint64_t{1} << 18)));
    while (left > 0) counted(buffer.data(), source(buffer.data(), buffer.size()));
  } else {
    if (inflate(source, entry.bytes, counted) != entry.stored_bytes) {
      damaged(concat("the entry ", quoted(entry.name), " has bytes behind its end"));
    }
  }
  if (has_crc(entry) && crc != entry.crc) damaged(concat("the checksum of ", quoted(entry.name), " is wrong"));
}

void ZipArchive::check_crc(const ZipEntry& entry, const std::function<void(std::uint64_t bytes)>& on_read) const {
  if (!has_crc(entry)) return;
  unpack(entry, [&](const unsigned char*, std::size_t bytes) {
    if (on_read) on_read(bytes);
  });
}

}  // namespace minnow::convert
