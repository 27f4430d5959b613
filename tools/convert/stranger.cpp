// What a file that is not a checkpoint of torch.save seems to be. Depends on file.
#include <algorithm>
#include <cstring>

#include "model/format.hpp"
#include "tools/convert/checkpoint.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

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

std::string describe_stranger(const InputFile& file) {
  constexpr const char* kExpected = "; expected a checkpoint of torch.save; ";
  std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 512)), '\0');
  file.read_at(0, &head[0], head.size());
  const std::string_view magic(reinterpret_cast<const char*>(kMagic), sizeof kMagic);
  struct Kind {
    bool found;
    const char* what;
    const char* advice;
  };
  const Kind kinds[] = {
      {head.empty(), "the file is empty", "copy or download it again"},
      {starts_with(head, "PK\x03\x04"), "the file is a zip archive that is cut short", "copy or download it again"},
      {starts_with(head, magic), "this is a minnow model already", "run it with minnow run"},
      {starts_with(head, "GGUF"), "this is a GGUF file, which is not supported",
       "convert the checkpoint that it was made from"},
      {starts_with(head, "version https://git-lfs.github.com/spec/"),
       "this is a pointer file of Git LFS, not the file itself", "fetch it with git lfs pull"},
      {is_web_page(head), "this is a web page", "download the file itself, not its page"},
      {starts_with(head, "\x1f\x8b"), "this is a gzip file", "unpack it first"},
      {starts_with(head, "Rar!") || starts_with(head, "7z\xbc\xaf"), "this is an archive of another kind",
       "unpack it first"},
      {head.size() > 262 && head.compare(257, 5, "ustar") == 0, "this is a tar archive",
       "unpack it; a checkpoint of a very old PyTorch must be loaded and saved again"},
      {is_safetensors(head, file.size()), "this is a safetensors file, which is not supported yet",
       "load it and save {'model': state_dict, 'model_args': ..}"},
      {head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5,
       "this is a bare pickle, as PyTorch before 1.6 wrote checkpoints",
       "load it with a newer PyTorch and save it again with torch.save"},
  };
  for (const Kind& kind : kinds) {
    if (kind.found) return concat(kind.what, kExpected, kind.advice);
  }
  return concat("the file is of no kind that is known, it begins with ", quoted(head.substr(0, 8)), kExpected,
                "name the checkpoint, usually ckpt.pt");
}

}  // namespace minnow::convert
