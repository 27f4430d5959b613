// tools/convert/find_vocabulary.cpp: where a vocabulary is looked for and in what order, and what is said when there is
// none.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/convert/support.hpp"
#include "tests/convert/vocabularies.hpp"

namespace minnow::convert::test {

namespace {

void put(const TemporaryFolder& folder, const std::string& from, const std::string& name) {
  std::filesystem::copy_file(vocabulary_fixture(from), folder / name);
}

VocabularyOptions options_of(const TemporaryFolder& folder) {
  VocabularyOptions options;
  options.checkpoint = folder / "ckpt.pt";
  options.model = folder / "model.minnow";
  return options;
}

Config config_of(std::uint32_t rows) {
  Config config;
  config.vocab_size = rows;
  return config;
}

Config llama2_config(std::uint32_t rows) {
  Config config = config_of(rows);
  config.positions = Positions::rotary;
  config.activation = Activation::silu_gated;
  return config;
}

// The name of the first file that was read, or the refusal.
std::string found(const VocabularyOptions& options, Config config) {
  std::string name = "bytes";
  const std::string refusal = refusal_of([&] {
    const Vocabulary v = find_vocabulary(options, &config);
    CHECK(config.n_tokens == v.pieces.size());
    if (!v.sources.empty()) name = v.sources[0].name;
  });
  return refusal.empty() ? name : refusal;
}

}  // namespace

TEST_CASE("find vocabulary: beside the checkpoint, in a fixed order") {
  const TemporaryFolder folder;
  const VocabularyOptions options = options_of(folder);
  put(folder, "ranks/small.tiktoken", "small.tiktoken");
  CHECK(found(options, config_of(437)) == "small.tiktoken");
  put(folder, "llmc/gpt2_tokenizer.bin", "gpt2_tokenizer.bin");
  CHECK(found(options, config_of(437)) == "gpt2_tokenizer.bin");
  put(folder, "alone/vocab.bpe", "merges.txt");
  CHECK(found(options, config_of(437)) == "merges.txt");
  put(folder, "alone/vocab.bpe", "vocab.bpe");
  CHECK(found(options, config_of(448)) == "vocab.bpe");
  put(folder, "json/tokenizer.json", "tokenizer.json");
  CHECK(found(options, config_of(512)) == "tokenizer.json");
  put(folder, "pieces/tokenizer.bin", "tokenizer.bin");
  CHECK(found(options, config_of(512)) == "tokenizer.json");
  CHECK(found(options, llama2_config(400)) == "tokenizer.bin");
  put(folder, "../random-2x48/meta.pkl", "meta.pkl");
  CHECK(found(options, config_of(37)) == "meta.pkl");
  CHECK(found(options, llama2_config(400)) == "tokenizer.bin");
}

TEST_CASE("find vocabulary: llama2.c's other names") {
  const TemporaryFolder folder;
  put(folder, "pieces/tokenizer.bin", "tok400.bin");
  CHECK(found(options_of(folder), llama2_config(400)) == "tok400.bin");
  CHECK(contains(found(options_of(folder), llama2_config(401)), "there is no tokenizer.bin beside the checkpoint"));
  write_file(folder / "tokenizer.model", std::string("\x0a\x0e\x0a\x05<unk>\x15\0\0\0\0 more to come", 26));
  CHECK(contains(found(options_of(folder), llama2_config(401)), "tokenizer.model: is a model of sentencepiece"));
}

TEST_CASE("find vocabulary: two rank files are one too many") {
  const TemporaryFolder folder;
  put(folder, "ranks/small.tiktoken", "a.tiktoken");
  put(folder, "ranks/small.tiktoken", "b.tiktoken");
  VocabularyOptions options = options_of(folder);
  CHECK(contains(found(options, config_of(437)), ": holds more than one rank file"));
  options.vocab = folder / "b.tiktoken";
  CHECK(found(options, config_of(437)) == "b.tiktoken");
}

TEST_CASE("find vocabulary: --vocab names a file, a folder or bytes") {
  const TemporaryFolder folder;
  VocabularyOptions options = options_of(folder);
  options.vocab = vocabulary_fixture("json/tokenizer.json");
  CHECK(found(options, config_of(437)) == "tokenizer.json");
  options.vocab = vocabulary_fixture("pair");
  CHECK(found(options, config_of(437)) == "merges.txt");
  options.vocab = folder.path();
  CHECK(contains(found(options, config_of(437)), "there is no vocabulary in this folder"));
  options.vocab = folder / "none";
  CHECK(contains(found(options, config_of(437)), "/none: cannot be opened"));
  options.vocab = "bytes";
  CHECK(found(options, config_of(256)) == "bytes");
  CHECK(contains(found(options, config_of(255)), "bytes: has 256 symbols but the model 255 rows"));
  options.vocab = vocabulary_fixture("json/tokenizer.json");
  CHECK(contains(found(options, config_of(436)), "tokenizer.json: has 437 symbols but the model 436 rows"));
  CHECK(contains(found(options, config_of(450)), "has 437 symbols but the model 450 rows"));
  options.no_text = true;
  Config config = config_of(5);
  CHECK(find_vocabulary(options, &config).pieces.empty());
}

TEST_CASE("find vocabulary: without text, GPT-2's padding is no id") {
  const auto ids = [](Config config, bool counted = false) {
    VocabularyOptions options;
    options.no_text = true;
    options.counted = counted;
    config.n_tokens = config.vocab_size;
    CHECK(find_vocabulary(options, &config).pieces.empty());
    return config.n_tokens;
  };
  for (const std::uint32_t rows : {50257u, 50264u, 50272u, 50304u, 50432u}) CHECK(ids(config_of(rows)) == 50257);
  for (const std::uint32_t rows : {65u, 50256u, 50258u, 50305u, 50688u}) CHECK(ids(config_of(rows)) == rows);
  CHECK(ids(config_of(50304), true) == 50304);
  CHECK(ids(llama2_config(50304)) == 50304);
}

TEST_CASE("find vocabulary: what is said when there is none") {
  const TemporaryFolder folder;
  VocabularyOptions options = options_of(folder);
  for (const std::uint32_t rows : {50257u, 50264u, 50272u, 50304u, 50432u}) {
    const std::string refusal = found(options, config_of(rows));
    CHECK(contains(refusal, "as with GPT-2's tokenizer, and there is no vocab.bpe, merges.txt, tokenizer.json"));
    CHECK(contains(refusal, "data/<dataset>/meta.pkl"));
    CHECK(contains(refusal, "--vocab"));
    CHECK(contains(refusal, "--no-text"));
  }
  CHECK(contains(found(options, config_of(256)), "pass --vocab bytes if the ids are bytes"));
  CHECK_FALSE(contains(found(options, config_of(255)), "--vocab bytes"));
  CHECK(contains(found(options, config_of(65)),
                 "expected the symbols of the 65 ids; give the file with --meta or --vocab"));
  options.dataset = "a\nb";
  CHECK(contains(found(options, config_of(65)), "data/a\\nb/meta.pkl"));
  Config nanochat = llama2_config(65536);
  nanochat.activation = Activation::relu_squared;
  CHECK(contains(found(options, nanochat), "this is a model of nanochat"));
}

}  // namespace minnow::convert::test
