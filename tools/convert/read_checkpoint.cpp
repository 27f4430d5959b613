// Which reader a checkpoint needs, by its content. Depends on every reader.
#include "tools/convert/checkpoint.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/zip.hpp"

namespace minnow::convert {

namespace {

bool all_digits(std::string_view text) {
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return !text.empty();
}

// "model-00001-of-00002.safetensors": nothing in the file itself says that it is not whole.
bool is_named_as_part(const std::string& path) {
  const std::string name = file_name_of(path);
  const std::size_t of = name.rfind("-of-");
  if (of == std::string::npos || of < 5 || name.size() < of + 9) return false;
  const std::string_view part = std::string_view(name).substr(of - 5, 5);
  const std::string_view parts = std::string_view(name).substr(of + 4, 5);
  return all_digits(part) && all_digits(parts) && parts != "00001";
}

}  // namespace

Checkpoint read_single_checkpoint(std::shared_ptr<const InputFile> file, const ReadOptions& options) {
  // Those that are known by their first bytes come first; a zip archive is known by its end, and a legacy llama2.c file
  // by nothing but its length.
  if (looks_like_safetensors(*file)) return read_safetensors(std::move(file));
  if (looks_like_legacy_torch(*file)) return read_legacy_torch(std::move(file));
  if (looks_like_llm_c(*file)) return read_llm_c(std::move(file));
  if (ends_like_zip(*file)) return read_torch_checkpoint(std::move(file), options);
  if (looks_like_llama2_c(*file)) return read_llama2_c(std::move(file));
  throw Refusal(not_a_checkpoint(*file));
}

Checkpoint read_checkpoint(std::shared_ptr<const InputFile> file, const ReadOptions& options) {
  if (looks_like_index(*file)) return read_sharded(std::move(file), options);
  const std::string path = file->path();
  Checkpoint out = read_single_checkpoint(std::move(file), options);
  if (is_named_as_part(path)) {
    refuse("this is one part of several; expected the index beside it, which names them all; name ",
           "model.safetensors.index.json or pytorch_model.bin.index.json");
  }
  return out;
}

}  // namespace minnow::convert
