// tools/convert/read_vocabulary.cpp: files known by their content, halves that are looked for, bytes.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/convert/support.hpp"
#include "tests/convert/vocabularies.hpp"
#include "tools/convert/sha256.hpp"
#include "tools/convert/vocabulary_readers.hpp"

namespace minnow::convert::test {

namespace {

std::string refused(const std::string& path) {
  return refusal_of([&] { static_cast<void>(read_vocabulary(path, 1000, "")); });
}

std::string copy_to(const TemporaryFolder& folder, const std::string& from, const std::string& name) {
  std::filesystem::copy_file(vocabulary_fixture(from), folder / name,
                             std::filesystem::copy_options::overwrite_existing);
  return folder / name;
}

}  // namespace

TEST_CASE("vocabulary: formats are known by content") {
  const struct {
    const char* file;
    VocabularyFormat format;
  } cases[] = {{"alone/vocab.bpe", VocabularyFormat::merges},
               {"pair/merges.txt", VocabularyFormat::merges},
               {"pair/vocab.json", VocabularyFormat::token_ids},
               {"json/tokenizer.json", VocabularyFormat::tokenizer_json},
               {"json_pairs/tokenizer.json", VocabularyFormat::tokenizer_json},
               {"ranks/small.tiktoken", VocabularyFormat::ranks},
               {"llmc/gpt2_tokenizer.bin", VocabularyFormat::llm_c},
               {"pieces/tokenizer.bin", VocabularyFormat::llama2_c},
               {"old/tokenizer.bin", VocabularyFormat::llama2_c},
               {"text.txt", VocabularyFormat::unknown},
               {"../random-2x48/meta.pkl", VocabularyFormat::meta},
               {"../random-2x48/ckpt.pt", VocabularyFormat::unknown}};
  for (const auto& c : cases) {
    const std::string bytes = read_file(vocabulary_fixture(c.file));
    CHECK_MESSAGE(recognise_vocabulary(bytes) == c.format, c.file);
    for (std::size_t cut = 0; cut < 64 && cut < bytes.size(); ++cut) {
      static_cast<void>(recognise_vocabulary(bytes.substr(0, cut)));
    }
  }
  CHECK(recognise_vocabulary("") == VocabularyFormat::unknown);
  CHECK(recognise_vocabulary("a b\n") == VocabularyFormat::merges);
  CHECK(recognise_vocabulary("once upon\n") == VocabularyFormat::unknown);
  CHECK(recognise_vocabulary("} )\n") == VocabularyFormat::merges);
  CHECK(recognise_vocabulary("{ }\n") == VocabularyFormat::tokenizer_json);
  CHECK(recognise_vocabulary("\xef\xbb\xbf {\"a\\\"\" : -1") == VocabularyFormat::token_ids);
  CHECK(recognise_vocabulary("{\"model\": {") == VocabularyFormat::tokenizer_json);
  CHECK(recognise_vocabulary("(dp0\nS'itos'\n") == VocabularyFormat::meta);
  CHECK(recognise_vocabulary("\x0a\x0e\x0a\x05<unk>\x15\1\1\1\1 more to come") == VocabularyFormat::sentencepiece);
  PickleMaker pickle;
  CHECK(recognise_vocabulary(pickle.global("tiktoken.core", "Encoding").done()) == VocabularyFormat::tokenizer_pickle);
}

TEST_CASE("vocabulary: each format under any name; provenance names the files") {
  const TemporaryFolder folder;
  const std::string section = make_tokenizer_section(read_vocabulary(vocabulary_fixture("alone/vocab.bpe"), 448, ""));
  for (const char* from : {"alone/vocab.bpe", "json/tokenizer.json", "json_pairs/tokenizer.json",
                           "ranks/small.tiktoken", "llmc/gpt2_tokenizer.bin"}) {
    const Vocabulary v = read_vocabulary(copy_to(folder, from, "file"), 448, "");
    CHECK(make_tokenizer_section(v) == section);
    REQUIRE(v.sources.size() == 1);
    CHECK(v.sources[0].name == "file");
    const std::string bytes = read_file(folder / "file");
    Sha256 hash;
    hash.update(bytes.data(), bytes.size());
    CHECK(v.sources[0].sha256 == hash.finish());
  }
  CHECK(read_vocabulary(copy_to(folder, "pieces/tokenizer.bin", "file"), 400, "").pieces.size() == 400);
  CHECK(read_vocabulary(copy_to(folder, "../random-2x48/meta.pkl", "file"), 37, "").pieces.size() == 37);
}

TEST_CASE("vocabulary: one half of a pair finds the other") {
  const TemporaryFolder folder;
  const std::string section = make_tokenizer_section(read_vocabulary(vocabulary_fixture("alone/vocab.bpe"), 448, ""));
  const char* const names[][2] = {{"merges.txt", "vocab.json"},
                                  {"vocab.bpe", "encoder.json"},
                                  {"vocab.bpe", "vocab.json"},
                                  {"x-merges.txt", "x-vocab.json"}};
  for (const auto& [merges, ids] : names) {
    const TemporaryFolder place;
    CHECK(contains(refused(copy_to(place, "pair/vocab.json", ids)), "holds the ids of tokens but not their merges"));
    copy_to(place, "pair/merges.txt", merges);
    for (const char* given : {merges, ids}) {
      const Vocabulary v = read_vocabulary(place / given, 448, "");
      CHECK(make_tokenizer_section(v) == section);
      REQUIRE(v.sources.size() == 2);
      CHECK(v.sources[0].name == given);
    }
    write_file(place / "added_tokens.json", "{\"<more>\": 437}");
    const Vocabulary more = read_vocabulary(place / merges, 448, "");
    CHECK(more.pieces.size() == 438);
    CHECK(more.sources.size() == 3);
    write_file(place / ids, "{\"a\": 0}");
    CHECK(contains(refused(place / merges), std::string(merges) + " with " + ids + ": "));
  }
}

TEST_CASE("vocabulary: what is refused, with the file's name") {
  const TemporaryFolder folder;
  write_file(folder / "f", "\x0a\x0e\x0a\x05<unk>\x15\1\1\1\1 more to come");
  CHECK(contains(refused(folder / "f"), "/f: is a model of sentencepiece"));
  PickleMaker pickle;
  write_file(folder / "f", pickle.global("tiktoken.core", "Encoding").done());
  CHECK(contains(refused(folder / "f"), "/f: is a pickled tokenizer of tiktoken, as nanochat writes it"));
  write_file(folder / "f", "Once upon a time\n");
  CHECK(contains(refused(folder / "f"), "/f: is no vocabulary; expected meta.pkl, vocab.bpe"));
  write_file(folder / "f", "");
  CHECK(contains(refused(folder / "f"), "/f: is no vocabulary"));
  write_file(folder / "f", "#version: 0.2\nab c\n");
  CHECK(contains(refused(folder / "f"), "/f: line 2: merges \"ab\""));
  CHECK(contains(refused(folder / "none"), "/none: cannot be opened"));
  CHECK(contains(refusal_of([&] { static_cast<void>(read_vocabulary(folder / "f", 1, folder / "f")); }),
                 "/f: is the f itself"));
}

TEST_CASE("vocabulary: bytes") {
  const Vocabulary v = byte_vocabulary();
  CHECK(v.kind == TokenizerKind::bytes);
  REQUIRE(v.pieces.size() == 256);
  for (unsigned byte = 0; byte < 256; ++byte) {
    CHECK(v.pieces[byte] == std::string(1, static_cast<char>(byte)));
    CHECK(v.byte_id[byte] == byte);
  }
}

}  // namespace minnow::convert::test
