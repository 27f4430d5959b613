// Any bytes as a vocabulary file of whatever format they seem to be. What is accepted must make a tokenizer section
// that Model::open takes.
#include <cstring>
#include <string>
#include <vector>

#include "model/check_tokenizer.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/vocabulary_readers.hpp"

namespace {

using namespace minnow::convert;

constexpr std::uint64_t kRows = 300;

Vocabulary read(const std::string& bytes) {
  switch (recognise_vocabulary(bytes)) {
    case VocabularyFormat::meta:
      return read_meta(bytes);
    case VocabularyFormat::merges:
      return read_merges(bytes, kRows);
    case VocabularyFormat::token_ids: {
      MergesWithIds files;  // its own ids, and merges behind a zero byte
      const std::size_t end = bytes.find('\0');
      files.ids = bytes.substr(0, end);
      files.merges = end == std::string::npos ? std::string() : bytes.substr(end + 1);
      return read_merges_with_ids(files);
    }
    case VocabularyFormat::tokenizer_json:
      return read_tokenizer_json(bytes);
    case VocabularyFormat::ranks:
      return read_ranks(bytes, kRows);
    case VocabularyFormat::llm_c:
      return read_llm_c_tokenizer(bytes);
    case VocabularyFormat::llama2_c:
      return read_llama2_tokenizer(bytes);
    case VocabularyFormat::unknown:
    case VocabularyFormat::sentencepiece:
    case VocabularyFormat::tokenizer_pickle:
      break;
  }
  refuse("no vocabulary");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Vocabulary vocabulary = read(std::string(reinterpret_cast<const char*>(data), size));
    const std::string section = make_tokenizer_section(vocabulary);
    std::vector<std::uint32_t> aligned((section.size() + 3) / 4);
    std::memcpy(aligned.data(), section.data(), section.size());
    minnow::Fault fault;
    const auto n_tokens = static_cast<std::uint32_t>(vocabulary.pieces.size());
    const minnow::Span<const std::byte> bytes(reinterpret_cast<const std::byte*>(aligned.data()), section.size());
    if (minnow::check_tokenizer(bytes, n_tokens, &fault) != minnow::Status::ok) __builtin_trap();
  } catch (const Refusal&) {
  }
  return 0;
}
