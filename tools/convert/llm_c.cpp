// A checkpoint of llm.c: a header of 256 numbers, and then GPT-2's tensors, each for all layers in a row. They get the
// names that nanoGPT gives them. Depends on tensor_run.
#include "tools/convert/bytes.hpp"
#include "tools/convert/tensor_run.hpp"

namespace minnow::convert {

namespace {

constexpr std::uint32_t kMagic = 20240326;
constexpr std::uint32_t kLlamaMagic = 20240803;  // of its Llama 3
constexpr std::uint64_t kHeaderBytes = 256 * 4;
constexpr std::uint64_t kLargest = 1u << 28;  // of any size in the header

std::uint32_t swapped(std::uint32_t n) { return n << 24 | (n & 0xff00) << 8 | (n >> 8 & 0xff00) | n >> 24; }

struct Header {
  std::uint64_t max_seq_len, vocab_size, num_layers, num_heads, channels, padded_vocab_size;
};

struct Row {
  const char* name;  // behind "transformer.", and of a layer behind "h.N."
  bool in_layers;
  std::vector<std::uint64_t> shape;
};

// llm.c's order.
std::vector<Row> rows_of(const Header& h) {
  const std::uint64_t c = h.channels;
  return {
      {"wte.weight", false, {h.padded_vocab_size, c}},
      {"wpe.weight", false, {h.max_seq_len, c}},
      {"ln_1.weight", true, {c}},
      {"ln_1.bias", true, {c}},
      {"attn.c_attn.weight", true, {3 * c, c}},
      {"attn.c_attn.bias", true, {3 * c}},
      {"attn.c_proj.weight", true, {c, c}},
      {"attn.c_proj.bias", true, {c}},
      {"ln_2.weight", true, {c}},
      {"ln_2.bias", true, {c}},
      {"mlp.c_fc.weight", true, {4 * c, c}},
      {"mlp.c_fc.bias", true, {4 * c}},
      {"mlp.c_proj.weight", true, {c, 4 * c}},
      {"mlp.c_proj.bias", true, {c}},
      {"ln_f.weight", false, {c}},
      {"ln_f.bias", false, {c}},
  };
}

Header parse_header(const std::string& bytes, bool padded) {
  std::uint64_t fields[6];
  for (std::size_t i = 0; i < 6; ++i) fields[i] = number_at(bytes, 4 * (2 + i), 4);
  if (!padded) fields[5] = fields[1];
  for (const std::uint64_t field : fields) {
    if (field == 0 || field > kLargest) {
      refuse("the header holds a size of ", field, "; expected 1 to ", kLargest, "; copy or export the file again");
    }
  }
  return {fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]};
}

}  // namespace

bool looks_like_llm_c(const InputFile& file) {
  if (file.size() < 8) return false;
  const std::uint32_t magic = static_cast<std::uint32_t>(number_at(read_piece(file, 0, 4), 0, 4));
  return magic == kMagic || swapped(magic) == kMagic || magic == kLlamaMagic;
}

Checkpoint read_llm_c(std::shared_ptr<const InputFile> file) {
  if (file->size() < kHeaderBytes) {
    refuse("the file has ", file->size(), " bytes; expected llm.c's header of ", kHeaderBytes, "; copy it again");
  }
  const std::string bytes = read_piece(*file, 0, kHeaderBytes);
  const std::uint32_t magic = static_cast<std::uint32_t>(number_at(bytes, 0, 4));
  if (swapped(magic) == kMagic) {
    refuse("this is a big-endian checkpoint of llm.c; expected little-endian; export it on another machine");
  }
  if (magic != kMagic) {
    refuse("this is a Llama 3 checkpoint of llm.c; expected its GPT-2; Llama 3 is not supported");
  }
  const std::uint64_t version = number_at(bytes, 4, 4);
  if (version != 1 && version != 3 && version != 5) {
    refuse("this is a checkpoint of llm.c of version ", version,
           "; expected 3 (float32) or 5 (bfloat16); export it again");
  }
  const Header h = parse_header(bytes, version != 1);
  if (h.vocab_size > h.padded_vocab_size || h.channels % h.num_heads != 0) {
    refuse("the header's sizes contradict each other; expected a model; copy or export the file again");
  }
  // A layer takes at least 12 numbers of 2 bytes; nothing is made before the file is known to have them.
  if (h.num_layers > kMaxTensors / 12 || h.num_layers > file->size() / 24) {
    refuse("the header announces ", h.num_layers, " layers; expected as many as the file can hold; copy it again");
  }
  Checkpoint out;
  TensorRun run(kHeaderBytes, version == 5 ? Dtype::bf16 : Dtype::f32);
  for (const Row& row : rows_of(h)) {
    for (std::uint64_t layer = 0; layer < (row.in_layers ? h.num_layers : 1); ++layer) {
      run.add(concat("transformer.", row.in_layers ? concat("h.", layer, ".") : std::string(), row.name), row.shape);
    }
  }
  out.tensors = run.finish(*file);
  const auto setting = [](std::uint64_t value) { return integer_setting(static_cast<std::int64_t>(value)); };
  out.settings["n_layer"] = setting(h.num_layers);
  out.settings["n_head"] = setting(h.num_heads);
  out.settings["n_embd"] = setting(h.channels);
  out.settings["block_size"] = setting(h.max_seq_len);
  out.settings["vocab_size"] = setting(h.vocab_size);
  out.settings["gelu"] = text_setting("tanh");
  out.settings_source = "the header";
  out.files.push_back(std::move(file));
  return out;
}

}  // namespace minnow::convert
