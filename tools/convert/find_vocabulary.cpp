// Which vocabulary belongs to a checkpoint. Depends on vocabulary, base and tools/messages.
#include "base/bits.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/vocabulary.hpp"
#include "tools/messages.hpp"

namespace minnow::convert {

namespace {

constexpr std::uint32_t kGpt2Symbols = 50257;
constexpr std::uint32_t kGpt2Padded = 50304;

// Whether an embedding of `rows` can belong to `symbols`: it has as many, or was rounded up, as is done for speed.
bool fits_rows(std::uint64_t symbols, std::uint64_t rows) {
  if (symbols == rows) return true;
  for (std::uint64_t unit = 8; unit <= 256; unit *= 2) {
    if (round_up(symbols, unit) == rows) return true;
  }
  return false;
}

}  // namespace

Vocabulary find_vocabulary(const VocabularyOptions& options, Config* config) {
  if (options.no_text) return {};
  const std::string path = options.meta.empty() ? find_meta(options.checkpoint, options.dataset) : options.meta;
  if (path.empty() && (config->vocab_size == kGpt2Symbols || config->vocab_size == kGpt2Padded)) {
    refuse("the model has ", config->vocab_size,
           " symbols, as with GPT-2's tokenizer, which is not supported yet; "
           "expected a character model with its meta.pkl; pass --no-text to use token ids only");
  }
  if (path.empty()) {
    const std::string dataset = options.dataset.empty() ? "<dataset>" : printable(options.dataset);
    refuse("there is no meta.pkl beside the checkpoint, nor data/", dataset,
           "/meta.pkl in its folder, one above it or the "
           "current one; expected the symbols of the ",
           config->vocab_size, " ids; give the file with --meta, or pass --no-text to use token ids only");
  }
  const InputFile file(path);
  if (file.is_same_file(options.model)) {
    throw Refusal("is the meta.pkl itself; expected another name for the model; give one with -o", options.model);
  }
  Vocabulary vocabulary = read_meta(file);
  if (!fits_rows(vocabulary.pieces.size(), config->vocab_size)) {
    throw Refusal(concat("has ", vocabulary.pieces.size(), " symbols but the model ", config->vocab_size,
                         " rows; expected ", config->vocab_size,
                         ", or as many as give that when rounded up to a multiple of 8, 16, 32, 64, 128 or 256; "
                         "is it the meta.pkl of another data set? give the right one with --meta, or --no-text"),
                  path);
  }
  config->n_tokens = static_cast<std::uint32_t>(vocabulary.pieces.size());
  return vocabulary;
}

}  // namespace minnow::convert
