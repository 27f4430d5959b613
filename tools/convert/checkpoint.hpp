// What every checkpoint reader delivers: named tensors, and what else the files say about the model. Depends on
// tensor_source.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "tools/convert/tensor_source.hpp"

namespace minnow::convert {

// One thing that a checkpoint says of its model: an entry of model_args or of config.json, a field of a header.
struct Setting {
  enum class Kind { none, boolean, integer, real, text, other };  // other: a list, an object: there, but not read
  Kind kind = Kind::none;
  std::int64_t integer = 0;  // boolean: 0 or 1
  double real = 0;           // also of an integer
  std::string text;
};
using Settings = std::map<std::string, Setting>;
inline Setting integer_setting(std::int64_t value) {
  return {Setting::Kind::integer, value, static_cast<double>(value), {}};
}
inline Setting text_setting(std::string value) { return {Setting::Kind::text, 0, 0, std::move(value)}; }

struct Checkpoint {
  // [0] is the file that was named; more where the weights are in several, or had to be unpacked, or the settings are
  // in a file beside it.
  std::vector<std::shared_ptr<const InputFile>> files;
  std::vector<StoredTensor> tensors;  // in the file's order; no name twice
  Settings settings;                  // under the names that the source uses: "n_layer", "num_hidden_layers", "dim"
  std::string settings_source;        // for messages: "model_args", "config.json", "the header"
  std::string sidecar;                // the file beside the checkpoint that the settings are from, or empty
  std::string dataset;                // nanoGPT's config['dataset'], or empty
  // Of the training run.
  std::optional<std::int64_t> iter_num;
  std::optional<double> best_val_loss;

  const InputFile& file_of(const StoredTensor& tensor) const { return *files[tensor.file]; }
};

struct ReadOptions {
  bool check_crcs = true;                                                 // of the pickle and the tensors' storages
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // bytes of storages checked; may be empty
  std::string temporary_folder;  // for what has to be unpacked; empty: $TMPDIR, or /tmp
};

// Reads a checkpoint of any kind, known by its content. Only tables of contents are held in memory. Throws Refusal.
Checkpoint read_checkpoint(std::shared_ptr<const InputFile> file, const ReadOptions& options = {});

// The same, of a checkpoint in one file.
Checkpoint read_single_checkpoint(std::shared_ptr<const InputFile> file, const ReadOptions& options = {});

// The readers of single kinds. Each throws Refusal.
Checkpoint read_torch_checkpoint(std::shared_ptr<const InputFile> file, const ReadOptions& options = {});  // zip
Checkpoint read_legacy_torch(std::shared_ptr<const InputFile> file);  // before PyTorch 1.6
Checkpoint read_safetensors(std::shared_ptr<const InputFile> file);
Checkpoint read_llm_c(std::shared_ptr<const InputFile> file);
Checkpoint read_llama2_c(std::shared_ptr<const InputFile> file);
// An index, "*.index.json", that says which file beside it holds which tensor.
Checkpoint read_sharded(std::shared_ptr<const InputFile> index, const ReadOptions& options = {});

// Whether the content is of the kind; true also for damaged files of it, so that their reader names the damage.
bool looks_like_legacy_torch(const InputFile& file);
bool looks_like_safetensors(const InputFile& file);
bool looks_like_llm_c(const InputFile& file);
bool looks_like_llama2_c(const InputFile& file);
bool looks_like_index(const InputFile& file);

inline constexpr std::size_t kMaxTensors = 1u << 16;     // of one checkpoint
inline constexpr std::size_t kLongestTensorName = 1000;  // bytes

// What a file that is no checkpoint seems to be, and what to do: "found; expected; advice".
std::string not_a_checkpoint(const InputFile& file);

}  // namespace minnow::convert
