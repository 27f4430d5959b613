// tools/convert/tokenizer_section.cpp: the sections of all kinds are what the runtime's check accepts.
#include <doctest/doctest.h>

#include <cstring>

#include "model/check_tokenizer.hpp"
#include "tests/convert/support.hpp"
#include "tests/convert/vocabularies.hpp"
#include "tools/convert/vocabulary_readers.hpp"

namespace minnow::convert::test {

namespace {

// A section where the file's would be aligned, and what the check says.
struct Checked {
  explicit Checked(const Vocabulary& vocabulary) {
    const std::string section = make_tokenizer_section(vocabulary);
    words.resize((section.size() + 3) / 4);
    std::memcpy(words.data(), section.data(), section.size());
    const Span<const std::byte> bytes(reinterpret_cast<const std::byte*>(words.data()), section.size());
    Fault fault;
    accepted = check_tokenizer(bytes, static_cast<std::uint32_t>(vocabulary.pieces.size()), &fault) == Status::ok;
    message = fault.what;
    view = view_tokenizer(bytes.data());
  }
  std::vector<std::uint32_t> words;
  bool accepted = false;
  std::string message;
  TokenizerView view;
};

}  // namespace

TEST_CASE("tokenizer section: characters, in the order of their bytes") {
  Vocabulary vocabulary;
  vocabulary.pieces = {"b", "\xf0\x9f\x98\x80", "a", "ab", "\xc3\xa9", "\n"};
  const Checked checked(vocabulary);
  CHECK_MESSAGE(checked.accepted, checked.message);
  for (std::uint32_t id = 0; id < 6; ++id) CHECK(checked.view.piece(id) == vocabulary.pieces[id]);
  const std::uint32_t expected[] = {5, 2, 3, 0, 4, 1};
  for (std::size_t i = 0; i < 6; ++i) CHECK(checked.view.sorted[i] == expected[i]);
  CHECK(checked.view.header->max_piece_bytes == 4);
}

TEST_CASE("tokenizer section: every format's is what the runtime accepts") {
  for (const char* name :
       {"alone/vocab.bpe", "pair/merges.txt", "pair/vocab.json", "json/tokenizer.json", "json_pairs/tokenizer.json",
        "ranks/small.tiktoken", "pieces/tokenizer.bin", "old/tokenizer.bin", "../random-2x48/meta.pkl"}) {
    const Checked checked(read_vocabulary(vocabulary_fixture(name), 448, ""));
    CHECK_MESSAGE(checked.accepted, name, ": ", checked.message);
  }
  const Checked bytes(byte_vocabulary());
  CHECK_MESSAGE(bytes.accepted, bytes.message);
  MergesWithIds two_ways;  // to one token, special tokens in front, one that no merge makes
  two_ways.merges = read_file(vocabulary_fixture("pair/merges.txt"));
  two_ways.ids = read_file(vocabulary_fixture("pair/vocab.json"));
  two_ways.ids.replace(two_ways.ids.rfind('}'), 1, ", \"zqzq\": 437}");
  two_ways.added = "{\"<|more|>\": 438, \"two words\": 439}";
  const Checked checked(read_merges_with_ids(two_ways));
  CHECK_MESSAGE(checked.accepted, checked.message);
  CHECK(checked.view.header->n_special == 3);
}

TEST_CASE("tokenizer section: one vocabulary in four formats is the same bytes") {
  const std::string section =
      make_tokenizer_section(read_merges(read_file(vocabulary_fixture("alone/vocab.bpe")), 448));
  MergesWithIds pair;
  pair.merges = read_file(vocabulary_fixture("pair/merges.txt"));
  pair.ids = read_file(vocabulary_fixture("pair/vocab.json"));
  CHECK(make_tokenizer_section(read_merges_with_ids(pair)) == section);
  for (const char* name : {"json/tokenizer.json", "json_pairs/tokenizer.json"}) {
    CHECK(make_tokenizer_section(read_tokenizer_json(read_file(vocabulary_fixture(name)))) == section);
  }
  CHECK(make_tokenizer_section(read_ranks(read_file(vocabulary_fixture("ranks/small.tiktoken")), 448)) == section);
}

TEST_CASE("tokenizer section: ranks count from 0, equal ones stay equal") {
  Vocabulary v = byte_vocabulary();
  v.kind = TokenizerKind::byte_level_bpe;
  v.split = TokenizerSplit::gpt2;
  v.pieces.insert(v.pieces.end(), {"ab", "cd", "abcd"});
  v.merges = {{256, 257, 90, 258}, {'a', 'b', 7, 256}, {'c', 'd', 7, 257}};
  const std::string section = make_tokenizer_section(v);
  const std::string expected = raw(std::vector<std::uint32_t>{'a', 'b', 0, 256, 'c', 'd', 0, 257, 256, 257, 1, 258});
  CHECK(section.find(expected) == sizeof(TokenizerHeader) + 4 * (260 + 259 + 256));
}

}  // namespace minnow::convert::test
