// Whatever tokenizer section the check accepts can be used: sections damaged at random, and those that pass encode
// texts without reading outside (a sanitizer sees that), within their room, and the same whichever way.
#include <doctest/doctest.h>

#include <cstring>

#include "tests/model/hand_built.hpp"
#include "tests/text/naive_bpe.hpp"
#include "text/bpe.hpp"

namespace minnow::test {
namespace {

HandTokenizer some_tokenizer(Dice& dice) {
  HandTokenizer t;
  switch (dice.below(3)) {
    case 0:
      t = random_byte_bpe(dice, "ab \xc3\xa9", 40, 12, dice.below(2) == 0);
      t.split = static_cast<std::uint32_t>(dice.below(2));
      break;
    case 1:
      t = random_scored_bpe(dice, {"a", "b", " ", "\xc3\xa9"}, 40, dice.below(2) == 0);
      break;
    default:
      t = random_byte_bpe(dice, "a", 0, 2, true);
      t.kind = 2;
      break;
  }
  const auto special = static_cast<std::uint32_t>(t.pieces.size());
  t.pieces.push_back("<e>");
  t.special = {special};
  t.begin = special + 1;
  return t.finish({special});
}

// Changes one to three places: a byte, a bit, or a word that becomes another one of the section.
void damage(Dice& dice, std::string* section) {
  for (std::uint64_t n = 1 + dice.below(3); n-- > 0;) {
    const std::size_t at = dice.below(section->size());
    const std::size_t word = at / 4 * 4;
    char& byte = (*section)[at];
    if (dice.below(2) == 0) byte = static_cast<char>(byte ^ (1 << dice.below(8)));
    if (dice.below(2) == 0 && word + 4 <= section->size()) {
      section->replace(word, 4, section->substr(dice.below(section->size() / 4) * 4, 4));
    }
  }
}

// Returns how many results contradict the interface.
int use(Dice& dice, const Model& model, const TokenizerView& view) {
  Tokenizer tokenizer;
  if (Tokenizer::open(model, &tokenizer) != Status::ok) return 1;
  int wrong = 0;
  for (int round = 0; round < 4; ++round) {
    const std::string text = random_text(dice, {"a", "b", " ", "\xc3\xa9", "<e>", "\xff", "\n"}, dice.below(60));
    const EncodeConfig config = {dice.below(2) == 0, dice.below(2) == 0};
    const std::size_t room = dice.below(2) == 0 ? text.size() + 2 : dice.below(text.size() + 2);
    std::vector<Token> ids(room);
    EncodeResult result;
    const Status status = tokenizer.encode(text, config, {ids.data(), room}, &result);
    wrong += result.tokens > room || result.bytes > text.size() || tokenizer.cut(text, config) > text.size();
    wrong += status == Status::output_too_small && room == text.size() + 2;
    for (std::size_t i = 0; i < result.tokens && i < room; ++i) wrong += tokenizer.piece(ids[i]).empty();
    if (text.empty() || view.header->kind < TokenizerKind::byte_level_bpe) continue;

    Merging merging;
    Bpe bpe(view, &merging);
    std::vector<Token> one(text.size()), other(text.size());
    std::size_t n_one = 0, n_other = 0, bytes = 0;
    const Status forward = bpe.encode_forward({text}, {one.data(), one.size()}, &n_one, &bytes);
    const Status windows = bpe.encode_in_windows({text}, 16, {other.data(), other.size()}, &n_other, &bytes);
    one.resize(n_one);
    other.resize(n_other);
    wrong += windows != Status::unsupported && (windows != forward || one != other);
  }
  return wrong;
}

}  // namespace

TEST_CASE("accepted: a damaged section is refused, or it is another good one") {
  int accepted = 0;
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Dice dice = {seed};
    const HandTokenizer t = some_tokenizer(dice);
    for (int round = 0; round < 30; ++round) {
      HandShape shape;
      shape.n_layer = 1;
      shape.vocab_size = t.n_tokens;
      shape.section = t.section();
      damage(dice, &shape.section);
      AlignedBytes section(shape.section.size());
      std::memcpy(section.data(), shape.section.data(), section.size());
      if (check_tokenizer(section.view(), t.n_tokens, nullptr) != Status::ok) continue;
      ++accepted;
      const AlignedBytes file = hand_built(shape);
      Model model;
      if (Model::open(file.view(), &model) != Status::ok) ++wrong;
      wrong += use(dice, model, view_tokenizer(section.data()));
    }
  }
  CHECK(accepted > 100);
  CHECK(wrong == 0);
}

}  // namespace minnow::test
