// A model of llama2.c: a short header, and then the tensors, most of them for all layers in a row. They get the names
// of llama2.c's own checkpoints. Depends on tensor_run.
#include <algorithm>

#include "tools/convert/bytes.hpp"
#include "tools/convert/tensor_run.hpp"

namespace minnow::convert {

namespace {

constexpr std::uint32_t kMagic = 0x616b3432;
constexpr std::uint32_t kSwappedMagic = 0x32346b61;
constexpr std::uint64_t kHeaderBytes = 256;
constexpr std::uint64_t kLegacyHeaderBytes = 7 * 4;
constexpr std::uint64_t kLargest = 1u << 28;  // of any size in the header

struct Header {
  std::uint64_t dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size, max_seq_len;
  bool separate_output;
  std::uint64_t group;  // 0: float32
};

// Seven numbers. `signed_vocabulary`: a negative vocab_size says that the output has weights of its own.
Header parse_header(const std::string& bytes, std::size_t at, bool signed_vocabulary) {
  const auto field = [&](std::size_t i) { return number_at(bytes, at + 4 * i, 4); };
  Header h = {field(0), field(1), field(2), field(3), field(4), field(5), field(6), false, 0};
  if (signed_vocabulary && h.vocab_size >> 31 != 0) {
    h.vocab_size = (std::uint64_t{1} << 32) - h.vocab_size;
    h.separate_output = true;
  }
  return h;
}

bool makes_sense(const Header& h, const InputFile& file) {
  for (const std::uint64_t field :
       {h.dim, h.hidden_dim, h.n_layers, h.n_heads, h.n_kv_heads, h.vocab_size, h.max_seq_len}) {
    if (field == 0 || field > kLargest) return false;
  }
  // A layer has at least 9 tensors and 9 bytes; nothing is made before the file is known to have them.
  return h.dim % h.n_heads == 0 && h.n_heads % h.n_kv_heads == 0 && h.n_layers <= kMaxTensors / 9 - 1 &&
         h.n_layers <= file.size() / 9;
}

class Layers {
 public:
  Layers(const Header& h, TensorRun* run) : h_(h), run_(run) {}
  void add(const std::string& name, const std::vector<std::uint64_t>& shape) {
    for (std::uint64_t i = 0; i < h_.n_layers; ++i) run_->add(concat("layers.", i, ".", name, ".weight"), shape);
  }
  void add_attention() {
    const std::uint64_t kv_dim = h_.dim / h_.n_heads * h_.n_kv_heads;
    add("attention.wq", {h_.dim, h_.dim});
    add("attention.wk", {kv_dim, h_.dim});
    add("attention.wv", {kv_dim, h_.dim});
    add("attention.wo", {h_.dim, h_.dim});
  }
  void add_feed_forward() {
    add("feed_forward.w1", {h_.hidden_dim, h_.dim});
    add("feed_forward.w2", {h_.dim, h_.hidden_dim});
    add("feed_forward.w3", {h_.hidden_dim, h_.dim});
  }

 private:
  const Header& h_;
  TensorRun* run_;
};

TensorRun lay_out_legacy(const Header& h) {
  TensorRun run(kLegacyHeaderBytes, Dtype::f32);
  Layers layers(h, &run);
  run.add("tok_embeddings.weight", {h.vocab_size, h.dim});
  layers.add("attention_norm", {h.dim});
  layers.add_attention();
  layers.add("ffn_norm", {h.dim});
  layers.add_feed_forward();
  run.add("norm.weight", {h.dim});
  run.skip(h.max_seq_len * (h.dim / h.n_heads / 2) * 2 * 4);  // cosines and sines of the rotary positions
  if (h.separate_output) run.add("output.weight", {h.vocab_size, h.dim});
  return run;
}

TensorRun lay_out(const Header& h) {
  TensorRun run(kHeaderBytes, Dtype::f32);
  Layers layers(h, &run);
  layers.add("attention_norm", {h.dim});
  layers.add("ffn_norm", {h.dim});
  run.add("norm.weight", {h.dim});
  if (h.group != 0) run.use_groups(h.group);
  run.add("tok_embeddings.weight", {h.vocab_size, h.dim});
  layers.add_attention();
  layers.add_feed_forward();
  if (h.separate_output) run.add("output.weight", {h.vocab_size, h.dim});
  return run;
}

std::uint32_t first_number(const InputFile& file) {
  return file.size() < 4 ? 0 : static_cast<std::uint32_t>(number_at(read_piece(file, 0, 4), 0, 4));
}

Header read_header(const InputFile& file) {
  if (file.size() < kHeaderBytes) {
    refuse("the file has ", file.size(), " bytes; expected llama2.c's header of ", kHeaderBytes, "; copy it again");
  }
  const std::string bytes = read_piece(file, 0, kHeaderBytes);
  const std::uint64_t version = number_at(bytes, 4, 4);
  if (version != 1 && version != 2) {
    refuse("this is a model of llama2.c of version ", version, "; expected 1 or 2; export it again with --version 1");
  }
  Header h = parse_header(bytes, 8, false);
  const std::uint64_t shared = number_at(bytes, 36, 1);
  h.separate_output = shared == 0;
  if (version == 2) h.group = number_at(bytes, 37, 4);
  if (!makes_sense(h, file) || shared > 1 || (version == 2 && (h.group == 0 || h.group > kLargest))) {
    refuse("the header's sizes contradict each other or the file; expected a model of llama2.c; copy it again");
  }
  return h;
}

// For a while in August 2023 all scales stood at the end of a version 2 file of the same length. Numbers read as scales
// then are hardly ever scales.
void require_scales(const InputFile& file, const std::vector<StoredTensor>& tensors) {
  constexpr std::uint64_t kLooked = 256;
  for (const StoredTensor& tensor : tensors) {
    if (tensor.dtype != Dtype::q8_groups) continue;
    const std::uint64_t count = std::min(kLooked, tensor.storage_elements / tensor.group);
    const std::string bytes = read_piece(file, tensor.scale_offset, 4 * count);
    for (std::size_t i = 0; i < count; ++i) {
      const float scale = bit_cast<float>(static_cast<std::uint32_t>(number_at(bytes, 4 * i, 4)));
      if (is_finite(scale) && scale >= 0.0f) continue;
      refuse("the tensor ", quoted(tensor.name), " has a scale that is negative or no number; expected one as ",
             "llama2.c's export.py writes it; export the checkpoint again with --version 1");
    }
  }
}

bool is_legacy(const InputFile& file, Header* h) {
  if (file.size() < kLegacyHeaderBytes) return false;
  *h = parse_header(read_piece(file, 0, kLegacyHeaderBytes), 0, true);
  if (!makes_sense(*h, file)) return false;
  try {
    return lay_out_legacy(*h).end() == file.size();
  } catch (const Refusal&) {
    return false;  // sizes beyond counting
  }
}

}  // namespace

bool looks_like_llama2_c(const InputFile& file) {
  const std::uint32_t magic = first_number(file);
  Header unused;
  return magic == kMagic || magic == kSwappedMagic || is_legacy(file, &unused);
}

Checkpoint read_llama2_c(std::shared_ptr<const InputFile> file) {
  const std::uint32_t magic = first_number(*file);
  if (magic == kSwappedMagic) {
    refuse("this is a big-endian model of llama2.c; expected little-endian; export it on another machine");
  }
  Header h;
  Checkpoint out;
  if (magic != kMagic && is_legacy(*file, &h)) {
    out.tensors = lay_out_legacy(h).finish(*file);
  } else {
    h = read_header(*file);
    out.tensors = lay_out(h).finish(*file);
    require_scales(*file, out.tensors);
  }
  const auto setting = [](std::uint64_t value) { return integer_setting(static_cast<std::int64_t>(value)); };
  out.settings["dim"] = setting(h.dim);
  out.settings["hidden_dim"] = setting(h.hidden_dim);
  out.settings["n_layers"] = setting(h.n_layers);
  out.settings["n_heads"] = setting(h.n_heads);
  out.settings["n_kv_heads"] = setting(h.n_kv_heads);
  out.settings["vocab_size"] = setting(h.vocab_size);
  out.settings["max_seq_len"] = setting(h.max_seq_len);
  out.settings_source = "the header";
  out.files.push_back(std::move(file));
  return out;
}

}  // namespace minnow::convert
