// What to say of a file that is no checkpoint. Depends on json_reader and tools/file_kind.
#include <algorithm>

#include "tools/convert/checkpoint.hpp"
#include "tools/convert/json_reader.hpp"
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
    case FileKind::safetensors:
      return "copy or download it again";
    case FileKind::pickle:
      return "name the file with the weights; a meta.pkl is given with --meta";
    case FileKind::json:
    case FileKind::tokenizer:
    case FileKind::training_data:
    case FileKind::training_state:
      return "name the file with the weights";
    case FileKind::numpy:
    case FileKind::hdf5:
      return "load it with its own program and save the weights with torch.save or as safetensors";
    case FileKind::text:
      return "name the checkpoint, usually ckpt.pt";
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

// JSON files that lie beside weights and are easily named instead of them.
std::string describe_json(const InputFile& file) {
  try {
    const JsonTree tree = read_json(file.read_all(kMaxJsonBytes), "it");
    const auto has = [&](std::string_view key) { return tree.find(tree.root(), key) != kNoJson; };
    if (has("added_tokens") && has("model")) return "this is a tokenizer.json";
    for (const std::string_view key : {"model_type", "architectures", "model_config", "n_embd", "hidden_size"}) {
      if (has(key)) return "this is a model's config.json";
    }
    if (tree.is(tree.find(tree.root(), "the"), JsonKind::integer)) return "this is a vocab.json";
  } catch (const Refusal&) {
    // Of no use, and not worth a word: the file is the wrong one in any case.
  }
  return describe(FileKind::json);
}

}  // namespace

std::string not_a_checkpoint(const InputFile& file) {
  std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), kFileKindBytes)), '\0');
  file.read_at(0, &head[0], head.size());
  const FileKind kind = file_kind(head, file.size());
  std::string found = describe(kind);
  if (kind == FileKind::zip) found = "the file is a zip archive that is cut short";  // a whole one is read elsewhere
  if (kind == FileKind::model) found += " already";
  if (kind == FileKind::json) found = describe_json(file);
  if (kind == FileKind::unknown || kind == FileKind::text)
    found += concat(", it begins with ", quoted(head.substr(0, 8)));
  return concat(found, "; expected a checkpoint; ", advice(kind));
}

}  // namespace minnow::convert
