// From a vocabulary file through `minnow convert` to the runtime's tokenizer: the ids are those of the plain encoder
// that the fixtures were made with.
#include <doctest/doctest.h>

#include "minnow/hosted.hpp"
#include "tests/convert/support.hpp"
#include "tests/convert/vocabularies.hpp"

namespace minnow::convert::test {

namespace {

// A model of one small layer.
void write_checkpoint(int rows, const std::string& path) {
  ZipMaker zip;
  std::vector<HandTensor> tensors;
  make_model(1, 2, 2, rows, &tensors, &zip);
  zip.add("archive/data.pkl", pickle_checkpoint(tensors, 1));
  zip.to_file(path);
}

struct Opened {
  explicit Opened(const std::string& path) {
    REQUIRE(FileMap::open(path.c_str(), &map) == Status::ok);
    Fault fault;
    const bool opened = Model::open(map.bytes(), &model, &fault) == Status::ok;
    REQUIRE_MESSAGE(opened, fault.what);
    REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
  }
  std::vector<std::uint32_t> encode(const std::string& text, const EncodeConfig& config) const {
    std::vector<Token> tokens(text.size() + 2);
    EncodeResult result;
    REQUIRE(tokenizer.encode(text, config, {tokens.data(), tokens.size()}, &result) == Status::ok);
    return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(result.tokens)};
  }
  FileMap map;
  Model model;
  Tokenizer tokenizer;
};

}  // namespace

TEST_CASE("convert: GPT-2's kind of vocabulary from every format, as the runtime encodes with it") {
  const TemporaryFolder folder;
  write_checkpoint(448, folder / "c.pt");
  for (const char* name :
       {"alone/vocab.bpe", "pair/merges.txt", "pair/vocab.json", "json/tokenizer.json", "json_pairs/tokenizer.json",
        "ranks/small.tiktoken", "llmc/gpt2_tokenizer.bin", "alone", "ranks", "llmc"}) {
    const Outcome outcome = convert({folder / "c.pt", "--vocab", vocabulary_fixture(name), "-o", folder / "m"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.message);
    CHECK(contains(outcome.message, "437 symbols in 448 rows"));
    const Opened opened(folder / "m");
    for (const EncodedText& text : read_encoded_texts("gpt2.txt")) {
      CHECK_MESSAGE(opened.encode(text.text, {}) == text.ids, text.text);
    }
    EncodeConfig special;
    special.special = true;
    CHECK(opened.encode("<|endoftext|>", special) == std::vector<std::uint32_t>{436});
  }
}

TEST_CASE("convert: llama2.c's vocabulary, as the runtime encodes with it") {
  const TemporaryFolder folder;
  write_checkpoint(400, folder / "c.pt");
  for (const char* name : {"pieces/tokenizer.bin", "old/tokenizer.bin"}) {
    REQUIRE(convert({folder / "c.pt", "--vocab", vocabulary_fixture(name), "-o", folder / "m"}).status == 0);
    const Opened opened(folder / "m");
    EncodeConfig begin;
    begin.begin = true;
    for (const EncodedText& text : read_encoded_texts("pieces.txt")) {
      if (text.text.empty()) continue;
      std::vector<std::uint32_t> expected = {1};
      expected.insert(expected.end(), text.ids.begin(), text.ids.end());
      CHECK_MESSAGE(opened.encode(text.text, begin) == expected, text.text);
    }
  }
}

TEST_CASE("convert: bytes") {
  const TemporaryFolder folder;
  write_checkpoint(256, folder / "c.pt");
  const Outcome outcome = convert({folder / "c.pt"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.message, "pass --vocab bytes if the ids are bytes"));
  REQUIRE(convert({folder / "c.pt", "--vocab", "bytes", "-o", folder / "m"}).status == 0);
  CHECK(Opened(folder / "m").encode("a\xff\n", {}) == std::vector<std::uint32_t>{'a', 0xff, '\n'});
}

TEST_CASE("convert: provenance names the vocabulary's files and hashes") {
  const TemporaryFolder folder;
  write_checkpoint(437, folder / "c.pt");
  REQUIRE(convert({folder / "c.pt", "--vocab", vocabulary_fixture("pair"), "-o", folder / "m"}).status == 0);
  const std::string model = read_file(folder / "m");
  CHECK(contains(model, "\nvocabulary=merges.txt\nvocabulary_sha256="));
  CHECK(contains(model, "\nvocabulary_2=vocab.json\nvocabulary_2_sha256="));
}

}  // namespace minnow::convert::test
