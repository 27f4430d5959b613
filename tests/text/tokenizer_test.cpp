// Tokenizer: against a search that tries every piece, on hand-built files; and over a model that was never opened.
#include <doctest/doctest.h>

#include "base/rng.hpp"
#include "tests/model/hand_built.hpp"
#include "tests/session/rig.hpp"

namespace minnow {
namespace {

using minnow::test::AlignedBytes;
using minnow::test::hand_built;
using minnow::test::HandShape;
using minnow::test::open_model;

HandShape with_pieces(std::vector<std::string> pieces) {
  HandShape shape;
  shape.vocab_size = static_cast<std::uint32_t>(pieces.size());
  shape.pieces = std::move(pieces);
  return shape;
}

struct Encoded {
  Status status = Status::ok;
  EncodeResult result;
  std::vector<Token> ids;
};

Encoded encode(const Tokenizer& tokenizer, const std::string& text, std::size_t room) {
  Encoded out;
  out.ids.assign(room, -7);
  out.status = tokenizer.encode(text, {out.ids.data(), room}, &out.result);
  out.ids.resize(out.result.tokens);
  return out;
}

// Longest match by trying all pieces at every place.
std::vector<Token> slow_encode(const std::vector<std::string>& pieces, const std::string& text, std::size_t* used) {
  std::vector<Token> ids;
  *used = 0;
  while (*used < text.size()) {
    std::size_t best = pieces.size();
    for (std::size_t id = 0; id < pieces.size(); ++id) {
      const std::string& piece = pieces[id];
      const bool fits = !piece.empty() && text.compare(*used, piece.size(), piece) == 0;
      if (fits && (best == pieces.size() || piece.size() > pieces[best].size())) best = id;
    }
    if (best == pieces.size()) break;
    ids.push_back(static_cast<Token>(best));
    *used += pieces[best].size();
  }
  return ids;
}

}  // namespace

TEST_CASE("tokenizer: characters of one to four bytes, to ids and back") {
  const std::vector<std::string> pieces = {"\n", " ", "a", "b", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  const AlignedBytes file = hand_built(with_pieces(pieces));
  const Model model = open_model(file);
  Tokenizer tokenizer;
  REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
  CHECK(tokenizer.n_tokens() == 7);

  const std::string text =
      "a\xf0\x9f\x98\x80 \xc3\xa9\n\xe2\x82\xac"
      "b";
  const Encoded encoded = encode(tokenizer, text, text.size());
  CHECK(encoded.status == Status::ok);
  CHECK(encoded.ids == std::vector<Token>{2, 6, 1, 4, 0, 5, 3});
  CHECK(encoded.result.bytes == text.size());
  std::string back;
  for (const Token id : encoded.ids) back += tokenizer.piece(id);
  CHECK(back == text);

  CHECK(tokenizer.piece(-1).empty());
  CHECK(tokenizer.piece(7).empty());
  CHECK(tokenizer.piece(INT32_MAX).empty());
  CHECK(tokenizer.piece(INT32_MIN).empty());
}

TEST_CASE("tokenizer: says where it stopped, and goes on from there") {
  const AlignedBytes file = hand_built(with_pieces({"a", "b", "\xc3\xa9"}));
  const Model model = open_model(file);
  Tokenizer tokenizer;
  REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);

  Encoded encoded = encode(tokenizer,
                           "ab\xc3\xa8"
                           "a",
                           8);
  CHECK(encoded.status == Status::bad_argument);
  CHECK(encoded.ids == std::vector<Token>{0, 1});
  CHECK(encoded.result.bytes == 2);

  encoded = encode(tokenizer, "ab\xc3", 8);  // the text ends inside a character
  CHECK(encoded.status == Status::bad_argument);
  CHECK(encoded.result.bytes == 2);

  encoded = encode(tokenizer,
                   "\xc3\xa9"
                   "ba",
                   2);
  CHECK(encoded.status == Status::output_too_small);
  CHECK(encoded.ids == std::vector<Token>{2, 1});
  CHECK(encoded.result.bytes == 3);

  encoded = encode(tokenizer, "", 0);
  CHECK(encoded.status == Status::ok);
  CHECK(encoded.result.tokens == 0);
  CHECK(tokenizer.encode("a", {nullptr, 1}, &encoded.result) == Status::bad_argument);
  CHECK(tokenizer.encode("a", {}, nullptr) == Status::bad_argument);
}

TEST_CASE("tokenizer: the longest piece wins, whatever the vocabulary") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    std::uint64_t index = 0;
    const auto below = [&](std::uint64_t n) { return static_cast<std::size_t>(draw64(seed, index++) % n); };
    const std::string alphabet = std::string("ab\xff\x80", 4) + '\0';
    std::vector<std::string> pieces;
    while (pieces.size() < 1 + seed) {
      std::string piece;
      for (std::uint64_t n = 1 + below(6); n-- > 0;) piece += alphabet[below(alphabet.size())];
      bool known = false;
      for (const std::string& other : pieces) known |= other == piece;
      if (!known) pieces.push_back(piece);
    }
    const AlignedBytes file = hand_built(with_pieces(pieces));
    const Model model = open_model(file);
    Tokenizer tokenizer;
    REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
    for (int round = 0; round < 50; ++round) {
      std::string text;
      for (std::uint64_t n = below(12); n-- > 0;) text += alphabet[below(alphabet.size())];
      std::size_t used = 0;
      const std::vector<Token> expected = slow_encode(pieces, text, &used);
      const Encoded encoded = encode(tokenizer, text, text.size());
      CHECK(encoded.ids == expected);
      CHECK(encoded.result.bytes == used);
      CHECK(encoded.status == (used == text.size() ? Status::ok : Status::bad_argument));
    }
  }
}

TEST_CASE("tokenizer: nothing to open") {
  Tokenizer tokenizer;
  CHECK(Tokenizer::open(Model(), &tokenizer) == Status::wrong_state);
  CHECK(tokenizer.n_tokens() == 0);
  CHECK(tokenizer.piece(0).empty());
  EncodeResult result;
  CHECK(tokenizer.encode("a", {}, &result) == Status::wrong_state);

  const AlignedBytes file = hand_built(HandShape());
  const Model model = open_model(file);
  CHECK(Tokenizer::open(model, &tokenizer) == Status::unsupported);
  CHECK(Tokenizer::open(model, nullptr) == Status::bad_argument);
}

}  // namespace minnow
