// What every checkpoint reader delivers: named tensors, and what else the file says about the model. Depends on
// tensor_source.
#pragma once

#include <functional>
#include <optional>

#include "tools/convert/tensor_source.hpp"

namespace minnow::convert {

struct Checkpoint {
  std::vector<StoredTensor> tensors;  // in the file's order; no name twice
  // nanoGPT's model_args, as far as they are there.
  std::optional<std::uint64_t> n_layer, n_head, n_embd, block_size, vocab_size;
  std::string dataset;  // config['dataset'], or empty
  // Of the training run.
  std::optional<std::int64_t> iter_num;
  std::optional<double> best_val_loss;
};

struct ReadOptions {
  bool check_crcs = true;                                                 // of the pickle and the tensors' storages
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // bytes of storages checked; may be empty
};

// Reads a file of torch.save. Only its table of contents and the pickle are held in memory. Throws Refusal.
Checkpoint read_torch_checkpoint(const InputFile& file, const ReadOptions& options = {});

// What a file that is no checkpoint seems to be, and what to do: "found; expected; advice".
std::string not_a_checkpoint(const InputFile& file);

}  // namespace minnow::convert
