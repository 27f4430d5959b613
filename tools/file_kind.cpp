#include "tools/file_kind.hpp"

#include <algorithm>
#include <string>

#include "model/format.hpp"
#include "text/utf8.hpp"

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

// llama2.c's tokenizer.bin: the longest length, and then score, length and text of each piece; a SentencePiece model;
// merges of a byte pair encoding; llm.c's own.
bool is_tokenizer(std::string_view head) {
  constexpr std::string_view kFirst("\5\0\0\0<unk>", 9);
  return (head.size() > 17 && head.substr(8, kFirst.size()) == kFirst) || starts_with(head, "\x0a\x0e\x0a\x05<unk>") ||
         starts_with(head, "#version: ") || starts_with(head, "\xc8\xd7\x34\x01");
}

// Magic numbers of llm.c's other files: 20240520 and 20240527.
bool is_training_data(std::string_view head) { return starts_with(head, "\x88\xd8\x34\x01"); }
bool is_training_state(std::string_view head) { return starts_with(head, "\x8f\xd8\x34\x01"); }

// UTF-8 without control characters; `head` may end inside a character.
bool is_text(std::string_view head) {
  const auto is_control = [](unsigned char byte) {
    return byte == 0x7f || (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t');
  };
  return std::none_of(head.begin(), head.end(), is_control) &&
         is_utf8(head.substr(0, head.size() - utf8_unfinished(head)));
}

bool is_json(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (head[first] == '{' || head[first] == '[') && is_text(head);
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
  for (const std::string_view archive : {"Rar!", "7z\xbc\xaf", "\x28\xb5\x2f\xfd",
                                         "\xfd"
                                         "7zXZ",
                                         "BZh"}) {
    if (starts_with(head, archive)) return FileKind::other_archive;
  }
  if (head.size() > 262 && head.compare(257, 5, "ustar") == 0) return FileKind::tar;
  if (is_safetensors(head, file_bytes)) return FileKind::safetensors;
  if (head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) return FileKind::pickle;
  if (is_tokenizer(head)) return FileKind::tokenizer;
  if (is_training_data(head)) return FileKind::training_data;
  if (is_training_state(head)) return FileKind::training_state;
  if (starts_with(head, "\x93NUMPY")) return FileKind::numpy;
  if (starts_with(head, "\x89HDF\r\n\x1a\n")) return FileKind::hdf5;
  if (is_json(head)) return FileKind::json;
  if (is_text(head)) return FileKind::text;
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
      return "this is a bare pickle, as a meta.pkl is";
    case FileKind::safetensors:
      return "this is a safetensors file";
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
    case FileKind::json:
      return "this is a JSON text";
    case FileKind::tokenizer:
      return "this is a tokenizer";
    case FileKind::training_data:
      return "this is training data of llm.c";
    case FileKind::training_state:
      return "this is the training state of llm.c, without weights";
    case FileKind::numpy:
      return "this is a file of NumPy";
    case FileKind::hdf5:
      return "this is an HDF5 file";
    case FileKind::text:
      return "this is a text file";
    case FileKind::tar:
      return "this is a tar archive";
  }
  return "";
}

}  // namespace minnow
