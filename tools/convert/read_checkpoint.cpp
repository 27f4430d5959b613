// Which reader a checkpoint needs, by its content. Depends on every reader.
#include "tools/convert/checkpoint.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/zip.hpp"

namespace minnow::convert {

Checkpoint read_checkpoint(std::shared_ptr<const InputFile> file, const ReadOptions& options) {
  if (ends_like_zip(*file)) return read_torch_checkpoint(std::move(file), options);
  throw Refusal(not_a_checkpoint(*file));
}

}  // namespace minnow::convert
