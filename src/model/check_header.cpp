// Validates the header of a model file.
#include <cstddef>

#include "base/bits.hpp"
#include "base/crc32.hpp"
#include "model/open.hpp"

#define FIELD(name) offsetof(FileHeader, name)

namespace minnow {
namespace {

bool is_magic(const std::byte* at) noexcept { return std::memcmp(at, kMagic, sizeof kMagic) == 0; }

bool is_reversed_magic(const std::byte* at) noexcept {
  for (std::size_t i = 0; i < sizeof kMagic; ++i) {
    if (std::to_integer<unsigned char>(at[sizeof kMagic - 1 - i]) != kMagic[i]) return false;
  }
  return true;
}

bool all_zero(Span<const std::byte> file, std::uint64_t begin, std::uint64_t end) noexcept {
  for (std::uint64_t i = begin; i < end; ++i) {
    if (file[static_cast<std::size_t>(i)] != std::byte{0}) return false;
  }
  return true;
}

// A section starts at the next multiple of 64 after the one before, and ends inside the file.
Status check_section(Span<const std::byte> file, std::uint64_t before, std::uint64_t offset, std::uint64_t bytes,
                     std::uint64_t field, std::uint64_t* end, Fault* fault) noexcept {
  std::uint64_t expected = 0;
  if (!checked_round_up(before, kSectionAlign, &expected) || offset != expected) {
    return fail(Status::corrupt, fault, "a section does not start right after the one before it", field, offset);
  }
  if (!checked_add(offset, bytes, end) || *end > file.size()) {
    return fail(Status::corrupt, fault, "a section ends past the end of the file", field + 8, bytes);
  }
  if (!all_zero(file, before, offset)) {
    return fail(Status::corrupt, fault, "the padding before a section is not zero", before, offset - before);
  }
  return Status::ok;
}

Status check_sections(Span<const std::byte> file, const FileHeader& h, Fault* fault) noexcept {
  std::uint64_t table_bytes = 0;
  std::uint64_t end = 0;
  if (!checked_multiply(h.tensor_count, h.tensor_entry_bytes, &table_bytes) ||
      !checked_add(h.header_bytes, table_bytes, &end) || end > file.size()) {
    return fail(Status::corrupt, fault, "the tensor table ends past the end of the file", FIELD(tensor_count),
                h.tensor_count);
  }
  Status s = check_section(file, end, h.tokenizer_offset, h.tokenizer_bytes, FIELD(tokenizer_offset), &end, fault);
  if (s != Status::ok) return s;
  s = check_section(file, end, h.provenance_offset, h.provenance_bytes, FIELD(provenance_offset), &end, fault);
  if (s != Status::ok) return s;
  s = check_section(file, end, h.data_offset, h.data_bytes, FIELD(data_offset), &end, fault);
  if (s != Status::ok) return s;
  if (end != file.size()) {
    return fail(Status::corrupt, fault, "the weights do not end at the end of the file", FIELD(data_bytes),
                h.data_bytes);
  }
  return Status::ok;
}

std::uint32_t header_checksum(Span<const std::byte> file, const FileHeader& h) noexcept {
  constexpr std::size_t at = FIELD(header_crc32);
  constexpr unsigned char zero[4] = {};
  std::uint32_t crc = crc32(0, file.data(), at);
  crc = crc32(crc, zero, sizeof zero);
  return crc32(crc, file.data() + at + 4, h.header_bytes - at - 4);
}

Status check_sizes(Span<const std::byte> file, const FileHeader& h, Fault* fault) noexcept {
  const bool known = h.version_minor <= kVersionMinor;
  const bool header_ok = known ? h.header_bytes == sizeof(FileHeader)
                               : h.header_bytes >= sizeof(FileHeader) && h.header_bytes % kSectionAlign == 0;
  if (!header_ok || h.header_bytes > file.size()) {
    return fail(Status::corrupt, fault, "header_bytes is wrong for this version", FIELD(header_bytes), h.header_bytes);
  }
  if (h.file_bytes != file.size()) {
    return fail(Status::corrupt, fault, "the file is not as long as its header says (cut short?)", FIELD(file_bytes),
                h.file_bytes);
  }
  if (header_checksum(file, h) != h.header_crc32) {
    return fail(Status::corrupt, fault, "the checksum of the header does not match", FIELD(header_crc32),
                h.header_crc32);
  }
  if (h.required_features != 0) {
    return fail(Status::unsupported, fault, "the file requires a feature that this version does not know",
                FIELD(required_features), h.required_features);
  }
  const bool entry_ok = known ? h.tensor_entry_bytes == sizeof(TensorEntry)
                              : h.tensor_entry_bytes >= sizeof(TensorEntry) && h.tensor_entry_bytes % 16 == 0;
  if (!entry_ok) {
    return fail(Status::corrupt, fault, "tensor_entry_bytes is wrong for this version", FIELD(tensor_entry_bytes),
                h.tensor_entry_bytes);
  }
  if (known && h.reserved != 0) {
    return fail(Status::corrupt, fault, "a reserved field is not zero", FIELD(reserved), h.reserved);
  }
  return Status::ok;
}

}  // namespace

Status check_header(Span<const std::byte> file, Fault* fault) noexcept {
  if (!host_is_little_endian()) {
    return fail(Status::unsupported, fault, "this machine is big-endian; model files are little-endian and read in place", 0, 0);
  }
  if (file.size() < sizeof kMagic || !is_magic(file.data())) {
    if (file.size() >= sizeof kMagic && is_reversed_magic(file.data())) {
      return fail(Status::unsupported, fault, "a model file of the other byte order", 0, 0);
    }
    return fail(Status::not_a_model, fault, "the first 8 bytes are not those of a minnow model", 0, file.size());
  }
  if (file.size() < sizeof(FileHeader)) {
    return fail(Status::corrupt, fault, "the file ends inside its header", file.size(), file.size());
  }
  const auto& h = *reinterpret_cast<const FileHeader*>(file.data());
  if (h.version_major != kVersionMajor) {
    return fail(Status::unsupported, fault, "the major version of the file format is not the one that is known (1)",
                FIELD(version_major), h.version_major);
  }
  Status s = check_sizes(file, h, fault);
  if (s != Status::ok) return s;
  s = check_sections(file, h, fault);
  if (s != Status::ok) return s;
  const auto tables = static_cast<std::size_t>(h.data_offset - h.header_bytes);
  if (crc32(0, file.data() + h.header_bytes, tables) != h.tables_crc32) {
    return fail(Status::corrupt, fault, "the checksum of the tables does not match", FIELD(tables_crc32),
                h.tables_crc32);
  }
  return Status::ok;
}

}  // namespace minnow
