// tools/convert/tokenizer_json.cpp: what GPT-2 does is read, what differs is refused by its name.
#include <doctest/doctest.h>

#include "tests/convert/support.hpp"
#include "tests/convert/vocabularies.hpp"
#include "tools/convert/vocabulary_readers.hpp"

namespace minnow::convert::test {

namespace {

std::string the_file() { return read_file(vocabulary_fixture("json/tokenizer.json")); }

// The fixture with its first `from` as `to`.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = the_file();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string refused(const std::string& from, const std::string& to) {
  return refusal_of([&] { static_cast<void>(read_tokenizer_json(changed(from, to))); });
}

}  // namespace

TEST_CASE("tokenizer.json: tokens, merges, special ones") {
  const Vocabulary v = read_tokenizer_json(the_file());
  CHECK(v.pieces.size() == 437);
  CHECK(v.special == std::vector<std::uint32_t>{436});
  CHECK(v.pieces[436] == "<|endoftext|>");
  CHECK(v.merges.size() == 180);
}

TEST_CASE("tokenizer.json: fields that may be absent or say the same") {
  const std::string section = make_tokenizer_section(read_tokenizer_json(the_file()));
  const char* const same[][2] = {{"\"type\": \"BPE\", ", ""},
                                 {", \"use_regex\": true", ""},
                                 {"\"continuing_subword_prefix\": \"\"", "\"continuing_subword_prefix\": null"},
                                 {"\"byte_fallback\": false", "\"ignore_merges\": false"},
                                 {"\"dropout\": null", "\"dropout\": 0.0"},
                                 {"\"dropout\": null", "\"dropout\": 0"},
                                 {"\"normalizer\": null, ", ""},
                                 {"\"post_processor\": {\"type\": \"ByteLevel\"", "\"ignored\": {\"type\": \"x\""},
                                 {"\"truncation\": null", "\"truncation\": {\"max_length\": 5}"}};
  for (const auto& [from, to] : same) {
    CHECK(make_tokenizer_section(read_tokenizer_json(changed(from, to))) == section);
  }
}

TEST_CASE("tokenizer.json: a token added behind the vocabulary") {
  const std::string added = "\"added_tokens\": [{\"id\": 437, \"content\": \"the end\", \"special\": false}, ";
  const Vocabulary v = read_tokenizer_json(changed("\"added_tokens\": [", added));
  CHECK(v.pieces.size() == 438);
  CHECK(v.special == std::vector<std::uint32_t>{436, 437});
  CHECK(v.pieces[437] == "the end");
}

TEST_CASE("tokenizer.json: what differs from GPT-2 is refused by the field's name") {
  const char* const cases[][3] = {
      {"\"type\": \"BPE\"", "\"type\": \"WordPiece\"", "model.type is \"WordPiece\""},
      {"\"type\": \"BPE\"", "\"type\": \"Unigram\"", "model.type is \"Unigram\""},
      {"\"byte_fallback\": false", "\"byte_fallback\": true", "model.byte_fallback is true"},
      {"\"byte_fallback\": false", "\"ignore_merges\": true", "model.ignore_merges is true"},
      {"\"end_of_word_suffix\": \"\"", "\"end_of_word_suffix\": \"</w>\"", "model.end_of_word_suffix is \"</w>\""},
      {"\"dropout\": null", "\"dropout\": 0.1", "model.dropout is"},
      {"\"dropout\": null", "\"dropout\": 1", "model.dropout is"},
      {"\"dropout\": null", "\"dropout\": false", "model.dropout is false"},
      {"\"normalizer\": null", "\"normalizer\": {\"type\": \"NFC\"}", "normalizer is of type \"NFC\""},
      {"\"pre_tokenizer\": {\"type\": \"ByteLevel\"", "\"pre_tokenizer\": {\"type\": \"Metaspace\"",
       "pre_tokenizer is of type \"Metaspace\""},
      {"\"pre_tokenizer\": {", "\"pre_tokenizer\": null, \"x\": {", "pre_tokenizer is null"},
      {"\"pre_tokenizer\": {", "\"x\": {", "pre_tokenizer is absent"},
      {"\"add_prefix_space\": false", "\"add_prefix_space\": true", "pre_tokenizer.add_prefix_space is true"},
      {"\"use_regex\": true", "\"use_regex\": false", "pre_tokenizer.use_regex is false"},
      {"\"decoder\": {\"type\": \"ByteLevel\"", "\"decoder\": {\"type\": \"BPEDecoder\"",
       "decoder is of type \"BPEDecoder\""},
      {"\"post_processor\": {\"type\": \"ByteLevel\"", "\"post_processor\": {\"type\": \"TemplateProcessing\"",
       "post_processor is of type \"TemplateProcessing\""},
      {"\"lstrip\": false", "\"lstrip\": true", "added_tokens: lstrip of \"<|endoftext|>\" is true"},
  };
  for (const auto& [from, to, message] : cases) {
    const std::string refusal = refused(from, to);
    CHECK_MESSAGE(contains(refusal, message), refusal);
    CHECK_MESSAGE(contains(refusal, "; expected"), refusal);
  }
}

TEST_CASE("tokenizer.json: broken ones") {
  CHECK(contains(refused("\"model\"", "\"moodel\""), "there is no object \"model\""));
  CHECK(contains(refused("\"vocab\"", "\"vocap\""), "model.vocab is no object"));
  CHECK(contains(refused("\"merges\"", "\"marges\""), "model.merges is no array"));
  CHECK(contains(refused("\"merges\": [\"", "\"merges\": [5, \""), "model.merges[0] is no pair of tokens"));
  CHECK(contains(refused("\"merges\": [\"", "\"merges\": [\"ab\", \""), "model.merges[0] is no pair"));
  CHECK(contains(refused("\"merges\": [\"", "\"merges\": [[\"a\"], \""), "model.merges[0] is no pair"));
  CHECK(contains(refused("\"merges\": [\"", "\"merges\": [\"a qqq\", \""), "model.merges[0] merges \"qqq\""));
  CHECK(contains(refused("\"id\": 436", "\"id\": 435"), "has the id 436 in model.vocab but 435 in added_tokens"));
  CHECK(contains(refused("\"id\": 436", "\"id\": null"), "the id of \"<|endoftext|>\" in added_tokens is"));
  CHECK(contains(refused("\"content\"", "\"contents\""), "has no text \"content\""));
  CHECK(contains(refused("\"!\": 0", "\"!\": 1"), "two tokens have the id 1"));
  CHECK(contains(refusal_of([] { static_cast<void>(read_tokenizer_json("[]")); }), "the file holds an array"));
  CHECK(contains(refusal_of([] { static_cast<void>(read_tokenizer_json("{")); }), "the tokenizer"));
}

}  // namespace minnow::convert::test
