#include "tools/file_kind.hpp"

#include <string>

#include "model/format.hpp"

namespace minnow {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

// A header length, then a JSON object.
bool is_safetensors(std::string_view head, std::uint64_t file_bytes) {
  if (head.size() < 9 || head[8] != '{') return false;
  std::uint64_t header_bytes = 0;
  for (std::size_t i = 8; i-- > 0;) header_bytes = header_bytes << 8 | static_cast<unsigned char>(head[i]);
  return header_bytes <= file_bytes - 8;
}

bool is_web_page(std::string_view head) {
  std::string lower;
  for (const char c : head.substr(0, 256)) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower.find("<!doctype html") != std::string::npos || lower.find("<html") != std::string::npos;
}

}  // namespace

FileKind file_kind(std::string_view head, std::uint64_t file_bytes) {
  const std::string_view magic(reinterpret_cast<const char*>(kMagic), sizeof kMagic);
  if (head.empty()) return FileKind::empty;
  if (starts_with(head, magic)) return FileKind::model;
  if (starts_with(head, "PK\x03\x04")) return FileKind::zip;
  if (starts_with(head, "GGUF")) return FileKind::gguf;
  if (starts_with(head, "version https://git-lfs.github.com/spec/")) return FileKind::lfs_pointer;
  if (is_web_page(head)) return FileKind::web_page;
  if (starts_with(head, "\x1f\x8b")) return FileKind::gzip;
  if (starts_with(head, "Rar!") || starts_with(head, "7z\xbc\xaf")) return FileKind::other_archive;
  if (head.size() > 262 && head.compare(257, 5, "ustar") == 0) return FileKind::tar;
  if (is_safetensors(head, file_bytes)) return FileKind::safetensors;
  if (head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) return FileKind::pickle;
  return FileKind::unknown;
}

const char* describe(FileKind kind) {
  switch (kind) {
    case FileKind::unknown:
      return "the file is of no kind that is known";
    case FileKind::empty:
      return "the file is empty";
    case FileKind::model:
      return "this is a minnow model";
    case FileKind::zip:
      return "this is a zip archive, as torch.save writes checkpoints";
    case FileKind::pickle:
      return "this is a bare pickle, as PyTorch before 1.6 wrote checkpoints";
    case FileKind::safetensors:
      return "this is a safetensors file, which is not supported yet";
    case FileKind::gguf:
      return "this is a GGUF file, which is not supported";
    case FileKind::lfs_pointer:
      return "this is a pointer file of Git LFS, not the file itself";
    case FileKind::web_page:
      return "this is a web page";
    case FileKind::gzip:
      return "this is a gzip file";
    case FileKind::other_archive:
      return "this is an archive of another kind";
    case FileKind::tar:
      return "this is a tar archive";
  }
  return "";
}

}  // namespace minnow
