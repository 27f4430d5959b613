// Which vocabulary belongs to a checkpoint. Depends on vocabulary_readers, refusal, base and tools/messages.
#include "base/bits.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/vocabulary_readers.hpp"
#include "tools/messages.hpp"

namespace minnow::convert {

namespace {

constexpr std::uint32_t kGpt2Symbols = 50257;
// Where tiktoken, which nanoGPT uses, keeps vocab.bpe: under the SHA-1 of the address it came from.
constexpr const char* kTiktokenCopy = "/tmp/data-gym-cache/6d1cbeee0f20b3d9449abfede4726ed8212e3aee";
constexpr const char* kBytes = "bytes";  // as the value of --vocab

// Whether an embedding of `rows` can belong to `symbols`: it has as many, or was rounded up, as is done for speed.
bool fits_rows(std::uint64_t symbols, std::uint64_t rows) {
  if (symbols == rows) return true;
  for (std::uint64_t unit = 8; unit <= 256; unit *= 2) {
    if (round_up(symbols, unit) == rows) return true;
  }
  return false;
}

bool is_like_llama2(const Config& config) {
  return config.positions == Positions::rotary && config.activation == Activation::silu_gated;
}

bool is_like_nanochat(const Config& config) {
  return config.positions == Positions::rotary && config.activation == Activation::relu_squared;
}

bool ends_with(const std::string& name, std::string_view end) {
  return name.size() > end.size() && std::string_view(name).substr(name.size() - end.size()) == end;
}

// The vocabulary file of a folder, by its name; the first of this order that is there. Empty: none.
std::string find_in(const std::string& folder, const Config& config) {
  std::vector<std::string> names;
  if (is_like_llama2(config)) names = {"tokenizer.bin", concat("tok", config.vocab_size, ".bin")};
  names.insert(names.end(), {"meta.pkl", "tokenizer.json", "vocab.bpe", "merges.txt", "gpt2_tokenizer.bin"});
  for (const std::string& name : names) {
    if (file_exists(folder + "/" + name)) return folder + "/" + name;
  }
  std::string found;
  for (const std::string& name : names_in(folder)) {
    if (!ends_with(name, ".tiktoken") || !file_exists(folder + "/" + name)) continue;
    if (!found.empty()) {
      throw Refusal("holds more than one rank file; expected one .tiktoken; name it with --vocab", folder);
    }
    found = folder + "/" + name;
  }
  return found;
}

[[noreturn]] void refuse_absence(const VocabularyOptions& options, const Config& config) {
  const std::string dataset = options.dataset.empty() ? "<dataset>" : printable(options.dataset);
  const std::string places =
      concat("beside the checkpoint, nor data/", dataset, "/meta.pkl in its folder, one above it or the current one");
  if (is_like_llama2(config)) {
    refuse("there is no tokenizer.bin beside the checkpoint; expected llama2.c's file with the ", config.vocab_size,
           " pieces; give it with --vocab, or pass --no-text to use token ids only");
  }
  if (is_like_nanochat(config)) {
    refuse(
        "this is a model of nanochat, whose tokenizer splits text in a way that minnow does not know; expected GPT-2's "
        "or llama2.c's; pass --no-text to use token ids only");
  }
  if (fits_rows(kGpt2Symbols, config.vocab_size)) {
    const bool cached = file_exists(kTiktokenCopy);
    refuse("the model has ", config.vocab_size,
           " rows, as with GPT-2's tokenizer, and there is no vocab.bpe, merges.txt, tokenizer.json, "
           "gpt2_tokenizer.bin, *.tiktoken or meta.pkl ",
           places, "; expected one of them; give it with --vocab",
           cached ? concat(" (tiktoken's copy: ", kTiktokenCopy, ")") : "",
           ", or pass --no-text to use token ids only");
  }
  refuse("there is no meta.pkl, tokenizer.json, vocab.bpe, merges.txt or *.tiktoken ", places,
         "; expected the symbols of the ", config.vocab_size, " ids; give the file with --meta or --vocab, ",
         config.vocab_size == 256 ? "pass --vocab bytes if the ids are bytes, " : "",
         "or pass --no-text to use token ids only");
}

std::string find_path(const VocabularyOptions& options, const Config& config) {
  if (!options.vocab.empty()) {
    if (!folder_exists(options.vocab)) return options.vocab;
    const std::string inside = find_in(options.vocab, config);
    if (inside.empty()) {
      throw Refusal(
          "there is no vocabulary in this folder; expected meta.pkl, tokenizer.json, vocab.bpe, merges.txt, "
          "gpt2_tokenizer.bin, *.tiktoken or, for a model of llama2.c, tokenizer.bin; name the file itself",
          options.vocab);
    }
    return inside;
  }
  if (!options.meta.empty()) return options.meta;
  const std::string folder = folder_of(options.checkpoint);
  if (const std::string beside = find_in(folder, config); !beside.empty()) return beside;
  if (const std::string meta = find_meta(options.checkpoint, options.dataset); !meta.empty()) return meta;
  for (const char* unusable : {"/tokenizer.model", "/tokenizer.pkl"}) {  // reading it says what to do
    if (file_exists(folder + unusable)) return folder + unusable;
  }
  refuse_absence(options, config);
}

}  // namespace

Vocabulary find_vocabulary(const VocabularyOptions& options, Config* config) {
  if (options.no_text) {
    const bool as_gpt2 = config->positions != Positions::rotary && fits_rows(kGpt2Symbols, config->vocab_size);
    if (as_gpt2 && !options.counted) config->n_tokens = kGpt2Symbols;
    return {};
  }
  std::string path = kBytes;
  Vocabulary vocabulary;
  if (options.vocab == kBytes) {
    vocabulary = byte_vocabulary();
  } else {
    path = find_path(options, *config);
    vocabulary = read_vocabulary(path, config->vocab_size, options.model);
  }
  if (!fits_rows(vocabulary.pieces.size(), config->vocab_size)) {
    throw Refusal(concat("has ", vocabulary.pieces.size(), " symbols but the model ", config->vocab_size,
                         " rows; expected ", config->vocab_size,
                         ", or as many as give that when rounded up to a multiple of 8, 16, 32, 64, 128 or 256; is it "
                         "the vocabulary of another model? give the right one with --vocab, or pass --no-text"),
                  path);
  }
  config->n_tokens = static_cast<std::uint32_t>(vocabulary.pieces.size());
  return vocabulary;
}

}  // namespace minnow::convert
