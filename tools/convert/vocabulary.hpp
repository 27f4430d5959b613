// The symbols of a character model: nanoGPT's meta.pkl found and read, and the tokenizer section made of them.
// Depends on file and model/format.hpp.
#pragma once

#include <string>
#include <vector>

#include "tools/convert/file.hpp"

namespace minnow::convert {

// The bytes of each id; at least one, no two alike.
using Vocabulary = std::vector<std::string>;

// Reads {'vocab_size', 'itos', 'stoi'}; itos may be a dict or a list, and one of itos and stoi suffices.
// Throws Refusal, with the path of the file.
Vocabulary read_meta(const InputFile& file);

// Where nanoGPT puts meta.pkl: beside the checkpoint; at data/<dataset>/meta.pkl in the checkpoint's folder and each
// one above it; the same under the current folder. Empty if it is nowhere.
std::string find_meta(const std::string& checkpoint_path, const std::string& dataset);

// The bytes of the tokenizer section of a model file.
std::string make_tokenizer_section(const Vocabulary& vocabulary);

}  // namespace minnow::convert
