// Vocabularies: found, read, and made into the tokenizer section of a model file. Depends on file and
// model/format.hpp.
#pragma once

#include <string>
#include <vector>

#include "model/format.hpp"
#include "tools/convert/file.hpp"

namespace minnow::convert {

// Everything that the tokenizer section of a model file says; format.hpp tells what the fields mean.
struct Vocabulary {
  TokenizerKind kind = TokenizerKind::characters;
  std::vector<std::string> pieces;     // the bytes of each id; none empty
  std::vector<std::uint32_t> byte_id;  // [256], or empty in kind `characters`
  std::vector<Merge> merges;           // in any order
  std::vector<std::uint32_t> special;  // ascending
  TokenizerSplit split = TokenizerSplit::none;
  std::uint32_t begin = 0;
  bool space_prefix = false;

  std::string note;  // what the file left open and was assumed, for the user; or empty

  struct Source {
    std::string name;  // of the file, without its folder
    std::string sha256;
  };
  std::vector<Source> sources;  // where it was read from
};

// Reads {'vocab_size', 'itos', 'stoi'}; itos may be a dict or a list, and one of itos and stoi suffices.
// Throws Refusal, with the path of the file.
Vocabulary read_meta(const InputFile& file);

// Where nanoGPT puts a dataset's file: beside the checkpoint; at data/<dataset>/<name> in the checkpoint's folder and
// each one above it; the same under the current folder. Empty if it is nowhere.
std::string find_in_dataset(const std::string& checkpoint_path, const std::string& dataset, const std::string& name);

// The same for meta.pkl.
std::string find_meta(const std::string& checkpoint_path, const std::string& dataset);

struct VocabularyOptions {
  std::string checkpoint;  // its path
  std::string model;       // the output's path, which must be no input
  std::string dataset;     // as the checkpoint says, or empty
  std::string meta;        // --meta, or empty: look for one
  std::string vocab;       // --vocab: a file, a folder or "bytes"; or empty: look for one
  bool no_text = false;
  bool counted = false;  // config->n_tokens is certain, though there may be more rows
};

// Reads one file of any format, known by its content; to a merges file the ids that stand beside it belong, and the
// other way round. `rows` is how many the model's embedding has. `output` must be none of the files. Throws Refusal.
Vocabulary read_vocabulary(const std::string& path, std::uint64_t rows, const std::string& output);

// The vocabulary for a model of config->vocab_size rows, empty with no_text. Sets config->n_tokens: with no_text to
// GPT-2's 50257 where the rows are as many rounded up, so that no padding is sampled. Throws Refusal.
Vocabulary find_vocabulary(const VocabularyOptions& options, Config* config);

// The bytes of the tokenizer section of a model file.
std::string make_tokenizer_section(const Vocabulary& vocabulary);

}  // namespace minnow::convert
