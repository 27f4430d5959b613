// The readers of vocabulary files, one a format. Each takes a file's whole content and throws Refusal without a path.
// `rows` is how many rows the model's embedding has. Depends on vocabulary.
#pragma once

#include <string_view>

#include "tools/convert/vocabulary.hpp"

namespace minnow::convert {

inline constexpr std::uint64_t kMaxVocabularyBytes = std::uint64_t{64} << 20;

enum class VocabularyFormat {
  unknown,
  meta,              // nanoGPT's meta.pkl
  merges,            // vocab.bpe, merges.txt
  token_ids,         // vocab.json, encoder.json: the ids to a merges file
  tokenizer_json,    // Hugging Face's tokenizer.json
  ranks,             // a rank file of tiktoken
  llm_c,             // llm.c's gpt2_tokenizer.bin
  llama2_c,          // llama2.c's tokenizer.bin
  sentencepiece,     // refused
  tokenizer_pickle,  // a pickled tokenizer of tiktoken, as nanochat writes it; refused
};

// By content; a file that is damaged further on is still what its beginning shows.
VocabularyFormat recognise_vocabulary(std::string_view bytes);

Vocabulary read_meta(std::string bytes);

// GPT-2's merges alone: the ids follow from their order. `<|endoftext|>` is the last if the model has a row for it.
Vocabulary read_merges(std::string_view merges, std::uint64_t rows);

// The merges, and the ids of the tokens as {"token": id}. `added` holds more such tokens, special ones, or is empty.
struct MergesWithIds {
  std::string merges;
  std::string ids;
  std::string added;
};
Vocabulary read_merges_with_ids(const MergesWithIds& files);

Vocabulary read_tokenizer_json(std::string bytes);
Vocabulary read_ranks(std::string_view bytes, std::uint64_t rows);
Vocabulary read_llm_c_tokenizer(std::string_view bytes);
Vocabulary read_llama2_tokenizer(std::string_view bytes);
Vocabulary byte_vocabulary();

}  // namespace minnow::convert
