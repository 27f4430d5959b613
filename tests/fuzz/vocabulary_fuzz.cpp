// Any bytes as a vocabulary file of whatever format they seem to be. What is accepted must make a tokenizer section
// that Model::open takes, and a text of about a thousand bytes of its own pieces is encoded in time and comes back.
#include <cstring>
#include <string>
#include <vector>

#include "model/check_tokenizer.hpp"
#include "tests/model/hand_built.hpp"
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

// Encodes pieces that the input's bytes choose, in a model of one layer.
void use(const std::string& section, const std::vector<std::string>& pieces, const std::uint8_t* data,
         std::size_t size) {
  if (pieces.empty()) return;
  minnow::test::HandShape shape;
  shape.n_layer = 1;
  shape.vocab_size = static_cast<std::uint32_t>(pieces.size());
  shape.section = section;
  const minnow::test::AlignedBytes file = minnow::test::hand_built(shape);
  minnow::Model model;
  minnow::Tokenizer tokenizer;
  if (minnow::Model::open(file.view(), &model) != minnow::Status::ok) __builtin_trap();
  if (minnow::Tokenizer::open(model, &tokenizer) != minnow::Status::ok) __builtin_trap();
  std::string text;
  std::size_t chosen = 0;
  for (std::size_t i = 0; text.size() < 1100 && i < 2200; ++i) {
    chosen = (chosen * 31 + data[i % size]) % pieces.size();
    text += pieces[i % 8 < 6 ? chosen : pieces.size() - 1 - chosen % (pieces.size() < 8 ? 1 : 8)].substr(0, 1100);
  }
  std::vector<minnow::Token> ids(text.size());
  minnow::EncodeResult result;
  const minnow::Status status = tokenizer.encode(text, {ids.data(), ids.size()}, &result);
  if (status != minnow::Status::ok && status != minnow::Status::bad_argument) __builtin_trap();
  std::string back;
  for (std::size_t i = 0; i < result.tokens; ++i) back += tokenizer.piece(ids[i]);
  if (back != text.substr(0, result.bytes)) __builtin_trap();
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
    use(section, vocabulary.pieces, data, size);
  } catch (const Refusal&) {
  }
  return 0;
}
