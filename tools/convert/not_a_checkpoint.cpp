// What to say of a file that is no checkpoint of torch.save. Depends on file and tools/file_kind.
#include <algorithm>

#include "tools/convert/checkpoint.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/file_kind.hpp"

namespace minnow::convert {
namespace {

const char* advice(FileKind kind) {
  switch (kind) {
    case FileKind::unknown:
      return "name the checkpoint, usually ckpt.pt";
    case FileKind::empty:
    case FileKind::zip:
      return "copy or download it again";
    case FileKind::model:
      return "run it with minnow run";
    case FileKind::pickle:
      return "load it with a newer PyTorch and save it again with torch.save";
    case FileKind::safetensors:
      return "load it and save {'model': state_dict, 'model_args': ..}";
    case FileKind::gguf:
      return "convert the checkpoint that it was made from";
    case FileKind::lfs_pointer:
      return "fetch it with git lfs pull";
    case FileKind::web_page:
      return "download the file itself, not its page";
    case FileKind::gzip:
    case FileKind::other_archive:
      return "unpack it first";
    case FileKind::tar:
      return "unpack it; a checkpoint of a very old PyTorch must be loaded and saved again";
  }
  return "";
}

}  // namespace

std::string not_a_checkpoint(const InputFile& file) {
  std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), kFileKindBytes)), '\0');
  file.read_at(0, &head[0], head.size());
  const FileKind kind = file_kind(head, file.size());
  std::string found = describe(kind);
  if (kind == FileKind::zip) found = "the file is a zip archive that is cut short";  // a whole one is read elsewhere
  if (kind == FileKind::model) found += " already";
  if (kind == FileKind::unknown) found += concat(", it begins with ", quoted(head.substr(0, 8)));
  return concat(found, "; expected a checkpoint of torch.save; ", advice(kind));
}

}  // namespace minnow::convert
