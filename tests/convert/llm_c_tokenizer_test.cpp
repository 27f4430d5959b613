// tools/convert/llm_c_tokenizer.cpp: gpt2_tokenizer.bin.
#include "tools/convert/llm_c_tokenizer.hpp"

#include <doctest/doctest.h>

#include "tests/convert/support.hpp"
#include "tests/convert/vocabularies.hpp"
#include "tools/convert/vocabulary_readers.hpp"

namespace minnow::convert::test {

namespace {

std::string the_file() { return read_file(vocabulary_fixture("llmc/gpt2_tokenizer.bin")); }

std::string with_word(std::size_t index, std::uint32_t value) {
  return the_file().replace(4 * index, 4, number(value, 4));
}

std::string refused(const std::string& bytes) {
  return refusal_of([&] { static_cast<void>(read_llm_c_tokenizer(bytes)); });
}

}  // namespace

TEST_CASE("gpt2_tokenizer.bin: the same vocabulary as vocab.bpe, in both versions") {
  const std::string merges = read_file(vocabulary_fixture("alone/vocab.bpe"));
  const std::string section = make_tokenizer_section(read_merges(merges, 448));
  CHECK(recognise_vocabulary(the_file()) == VocabularyFormat::llm_c);
  CHECK(make_tokenizer_section(read_llm_c_tokenizer(the_file())) == section);
  CHECK(make_tokenizer_section(read_llm_c_tokenizer(with_word(1, 1))) == section);
}

TEST_CASE("gpt2_tokenizer.bin: what is refused") {
  const std::string whole = the_file();
  CHECK(contains(refused(whole.substr(0, 1023)), "ends inside the header"));
  CHECK(contains(refused(whole.substr(0, 1024)), "the token of id 0 at byte 1024 is cut off"));
  CHECK(contains(refused(whole.substr(0, whole.size() - 1)), "the token of id 436 at byte"));
  CHECK(contains(refused(whole + "x"), "there are 1 bytes behind the last token"));
  CHECK(contains(refused(with_word(1, 3)), "is version 3"));
  CHECK(contains(refused(with_word(2, 438)), "the token of id 437"));
  CHECK(contains(refused(with_word(2, 0)), "has 0 tokens"));
  CHECK(contains(refused(with_word(2, 0xffffffffu)), "has 4294967295 tokens"));
  CHECK(contains(refused(with_word(3, 437)), "the end of text has the id 437 among 437"));
}

}  // namespace minnow::convert::test
