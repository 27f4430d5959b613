// Which reader a checkpoint needs, by its content. Depends on every reader.
#include "tools/convert/checkpoint.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/zip.hpp"

namespace minnow::convert {

Checkpoint read_checkpoint(std::shared_ptr<const InputFile> file, const ReadOptions& options) {
  // Those that are known by their first bytes come first; a zip archive is known by its end, and a legacy llama2.c file
  // by nothing but its length.
  if (looks_like_safetensors(*file)) return read_safetensors(std::move(file));
  if (looks_like_legacy_torch(*file)) return read_legacy_torch(std::move(file));
  if (looks_like_llm_c(*file)) return read_llm_c(std::move(file));
  if (looks_like_index(*file)) return read_sharded(std::move(file), options);
  if (ends_like_zip(*file)) return read_torch_checkpoint(std::move(file), options);
  if (looks_like_llama2_c(*file)) return read_llama2_c(std::move(file));
  throw Refusal(not_a_checkpoint(*file));
}

}  // namespace minnow::convert
