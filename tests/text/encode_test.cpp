// Tokenizer::encode and cut in every kind: special tokens, the begin token and its space, too little room, text in
// chunks, and back to the same bytes.
#include <doctest/doctest.h>

#include <map>

#include "tests/model/hand_built.hpp"
#include "tests/session/rig.hpp"
#include "tests/text/naive_bpe.hpp"
#include "text/split.hpp"

namespace minnow::test {
namespace {

struct Opened {
  AlignedBytes file;
  Model model;
  Tokenizer tokenizer;

  explicit Opened(const HandTokenizer& t) {
    HandShape shape;
    shape.tokenizer = t;
    shape.vocab_size = t.n_tokens;
    shape.n_layer = 1;
    file = hand_built(shape);
    model = open_model(file);
    REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
  }
};

using Ids = std::vector<Token>;

// With just the room that always suffices.
Ids encode(const Tokenizer& tokenizer, const std::string& text, const EncodeConfig& config = {}) {
  Ids out(text.size() + (config.begin ? 2 : 0) + 1, -7);
  EncodeResult result;
  const Status status = tokenizer.encode(text, config, {out.data(), out.size() - 1}, &result);
  CHECK(status == Status::ok);
  CHECK(result.bytes == text.size());
  CHECK(out.back() == -7);
  out.resize(result.tokens);
  return out;
}

std::string decode(const Tokenizer& tokenizer, const Ids& ids) {
  std::string text;
  Token previous = -1;
  for (const Token id : ids) {
    text += tokenizer.piece(id, previous);
    previous = id;
  }
  return text;
}

// The same call again and again with room for `room` ids, more only where nothing fits.
Ids encode_in_steps(const Tokenizer& tokenizer, std::string_view text, EncodeConfig config, std::size_t room) {
  Ids all;
  while (true) {
    Ids out(room);
    EncodeResult result;
    const Status status = tokenizer.encode(text, config, {out.data(), room}, &result);
    if (status != Status::ok && result.tokens == 0) {
      REQUIRE(status == Status::output_too_small);
      CHECK(result.bytes == 0);
      REQUIRE(room < text.size() + 2);
      ++room;
      continue;
    }
    all.insert(all.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(result.tokens));
    text.remove_prefix(result.bytes);
    if (status == Status::ok) return all;
    REQUIRE(status == Status::output_too_small);
    config.begin = false;
  }
}

// Text that comes `chunk` bytes at a time, each time encoded as far as cut() allows.
Ids encode_in_chunks(const Tokenizer& tokenizer, std::string_view text, EncodeConfig config, std::size_t chunk) {
  Ids all;
  std::string pending;
  while (true) {
    const std::string_view next = text.substr(0, chunk);
    text.remove_prefix(next.size());
    pending += next;
    const std::size_t cut = text.empty() ? pending.size() : tokenizer.cut(pending, config);
    REQUIRE(cut <= pending.size());
    if (cut == 0 && !text.empty()) continue;
    const Ids some = encode(tokenizer, pending.substr(0, cut), config);
    all.insert(all.end(), some.begin(), some.end());
    pending.erase(0, cut);
    config.begin = false;
    if (text.empty()) return all;
  }
}

const std::vector<std::string> kLetters = {"a", "b", "c", " ", " ", "\n", "<", "<e>", "<ee>", "\xc3\xa9", "\xff", "'s"};

// Adds the special tokens <e> and <ee> and takes the first as the begin token.
HandTokenizer with_specials(HandTokenizer t) {
  const std::uint32_t first = static_cast<std::uint32_t>(t.pieces.size());
  t.pieces.push_back("<e>");
  t.pieces.push_back("<ee>");
  t.special = {first, first + 1};
  t.begin = first + 1;
  return t.finish({first, first + 1});
}

HandTokenizer random_kind(Dice& dice) {
  HandTokenizer t;
  switch (dice.below(4)) {
    case 0:
      t = random_byte_bpe(dice, "abc <\xc3\xa9", 60, 8, true);
      t.split = 1;
      break;
    case 1:
      t = random_byte_bpe(dice, "abc", 60, 8, false);
      break;
    case 2:
      t = random_scored_bpe(dice, {"a", "b", "c", " ", "<", "e", ">", "\xc3\xa9"}, 60, true);
      t.space_prefix = 1;
      break;
    default:
      t = random_byte_bpe(dice, "a", 0, 2, true);
      t.kind = 2;
      break;
  }
  return with_specials(t);
}

}  // namespace

TEST_CASE("encode: special tokens only where they are asked for") {
  Dice dice = {1};
  const Opened opened(with_specials(random_byte_bpe(dice, "a", 0, 2, true)));
  const Tokenizer& t = opened.tokenizer;
  const EncodeConfig special = {true, false};
  CHECK(encode(t, "a<e>") == Ids{'a', '<', 'e', '>'});
  CHECK(encode(t, "a<e>", special) == Ids{'a', 256});
  CHECK(encode(t, "<ee><e><e", special) == Ids{257, 256, '<', 'e'});
  CHECK(encode(t, "<<e>>", special) == Ids{'<', 256, '>'});
  CHECK(encode(t, "", special).empty());
}

TEST_CASE("encode: the longest of the leftmost special tokens") {
  HandTokenizer t;
  t.kind = 2;
  t.pieces = {"a", "b", "ab", "abab", "ba"};
  t.byte_id.assign(256, 0xffffffffu);
  t.byte_id['a'] = 0;
  t.byte_id['b'] = 1;
  t.special = {2, 3, 4};
  const Opened opened(t.finish());
  CHECK(encode(opened.tokenizer, "bababab", {true, false}) == Ids{4, 4, 4, 1});
  CHECK(encode(opened.tokenizer, "aababab", {true, false}) == Ids{0, 3, 2});
  EncodeResult result;
  Token out[4];
  CHECK(opened.tokenizer.encode("abcab", {out, 4}, &result) == Status::bad_argument);
  CHECK(result.tokens == 2);
  CHECK(result.bytes == 2);
}

TEST_CASE("encode: many special tokens that begin alike, each place and each cut") {
  int wrong = 0;
  int cuts = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Dice dice = {seed};
    HandTokenizer h = random_byte_bpe(dice, "a", 0, 2, true);
    h.kind = 2;
    std::map<std::string, std::uint32_t> specials;
    for (std::uint64_t n = dice.below(60); n-- > 0;) {
      const std::string piece = random_text(dice, {"<", "a", "b"}, 2 + dice.below(4));
      if (!specials.emplace(piece, static_cast<std::uint32_t>(h.pieces.size())).second) continue;
      h.pieces.push_back(piece);
    }
    for (const auto& [piece, id] : specials) h.special.push_back(id);
    const Opened opened(h.finish());
    const EncodeConfig special = {true, false};
    const std::string text = random_text(dice, {"<", "a", "b", "c"}, 60);
    Ids expected;
    std::vector<bool> inside(text.size() + 1, false);
    for (std::size_t at = 0; at < text.size();) {
      std::uint32_t best = static_cast<unsigned char>(text[at]);
      for (const auto& [piece, id] : specials) {
        if (text.compare(at, piece.size(), piece) == 0 && piece.size() > h.pieces[best].size()) best = id;
      }
      for (std::size_t i = 1; i < h.pieces[best].size(); ++i) inside[at + i] = true;
      expected.push_back(static_cast<Token>(best));
      at += h.pieces[best].size();
    }
    wrong += encode(opened.tokenizer, text, special) != expected;
    for (std::size_t end = 1; end <= text.size(); ++end) {
      const std::size_t cut = opened.tokenizer.cut(text.substr(0, end), special);
      wrong += cut > end || inside[cut];
      cuts += cut < end;
    }
  }
  CHECK(wrong == 0);
  CHECK(cuts > 1000);
}

TEST_CASE("encode: the begin token and its space, and without them again") {
  HandTokenizer h;
  h.kind = 4;
  h.pieces = {"<s>", " ", "a", "b", " a", "  a", "<e>"};
  h.byte_id.assign(256, 0xffffffffu);
  h.merges = {{1, 2, 5, 4}, {1, 4, 6, 5}};
  h.begin = 1;
  h.space_prefix = 1;
  h.special = {6};
  const Opened opened(h.finish({0, 6}));
  const Tokenizer& t = opened.tokenizer;
  CHECK(t.begin_token() == 0);
  const EncodeConfig begin = {false, true};
  CHECK(encode(t, "", begin) == Ids{0});
  CHECK(encode(t, "a", begin) == Ids{0, 4});
  CHECK(encode(t, " a", begin) == Ids{0, 5});
  CHECK(encode(t, "ba", begin) == Ids{0, 1, 3, 2});
  CHECK(encode(t, "a") == Ids{2});
  CHECK(encode(t, "<e>a", {true, true}) == Ids{0, 6, 2});  // the special token begins the sequence
  for (const char* text : {"", "a", " a", "  a", "ba", " ", "b  a"}) {
    CAPTURE(text);
    CHECK(decode(t, encode(t, text, begin)) == text);
  }
  CHECK(t.piece(0, -1).empty());
  CHECK(t.piece(0, 3).empty());
  CHECK(t.piece(4, 0) == "a");
  CHECK(t.piece(4, 3) == " a");
  CHECK(t.piece(3, 0) == "b");
  CHECK(t.piece(7, 0).empty());

  EncodeResult result;
  Token out[4];
  CHECK(t.encode("ba", begin, {out, 2}, &result) == Status::output_too_small);
  CHECK(result.tokens == 0);  // so that the space is not lost
  CHECK(t.encode("c", begin, {out, 4}, &result) == Status::bad_argument);
  CHECK(result.bytes == 0);
  CHECK(result.tokens == 2);
  CHECK(Tokenizer().begin_token() == -1);
  CHECK(Tokenizer().cut("ab") == 0);
}

TEST_CASE("encode: one part after another is what merging each by itself gives") {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Dice dice = {seed};
    HandTokenizer t = random_byte_bpe(dice, "abc '\xc3\xa9", 80, 8, true);
    t.split = 1;
    const Opened opened(t.finish());
    const NaiveBpe naive(t);
    for (int round = 0; round < 20; ++round) {
      const std::string text = random_text(dice, kLetters, 1 + dice.below(30));
      Ids expected;
      for (std::string_view rest = text; !rest.empty();) {
        const std::size_t length = gpt2_part(rest);
        for (const Token id : naive.encode(std::string(rest.substr(0, length)))) expected.push_back(id);
        rest.remove_prefix(length);
      }
      wrong += encode(opened.tokenizer, text) != expected;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("encode: unsplit text is one part, however it is cut inside") {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Dice dice = {seed};
    const bool scored = dice.below(2) == 0;
    const HandTokenizer t = scored ? random_scored_bpe(dice, {"a", "b", " ", "\xc3\xa9"}, 80, true)
                                   : random_byte_bpe(dice, "ab ", 80, 10, dice.below(2) == 0);
    const Opened opened(t);
    const NaiveBpe naive(t);
    for (int round = 0; round < 10; ++round) {
      const std::string text = random_text(dice, {"a", "b", " ", "\xc3\xa9", "\xff"}, 1 + dice.below(80));
      wrong += encode(opened.tokenizer, text) != naive.encode(text);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("encode: little room and text in chunks change nothing, and every text survives") {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Dice dice = {seed};
    const Opened opened(random_kind(dice));
    const Tokenizer& t = opened.tokenizer;
    for (int round = 0; round < 10; ++round) {
      const std::string text = random_text(dice, kLetters, dice.below(30));
      const EncodeConfig config = {dice.below(2) == 0, dice.below(2) == 0};
      const Ids expected = encode(t, text, config);
      wrong += encode_in_steps(t, text, config, dice.below(6)) != expected;
      wrong += encode_in_chunks(t, text, config, 1 + dice.below(8)) != expected;
      const bool begins = !config.special || text.substr(0, 3) != "<e>";  // the begin token itself has no text
      if (begins && text.find("<e>") == std::string::npos) wrong += decode(t, expected) != text;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("encode: characters in chunks") {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Dice dice = {seed};
    HandTokenizer h;
    h.pieces = {"a", "ab", "abc", "b", "bca", "c", "\xc3\xa9", "\xc3", "\xa9"};
    const Opened opened(h.finish());
    const std::string text = random_text(dice, {"a", "b", "c", "\xc3\xa9"}, dice.below(40));
    wrong += encode_in_chunks(opened.tokenizer, text, {}, 1 + dice.below(8)) != encode(opened.tokenizer, text);
  }
  CHECK(wrong == 0);
}

}  // namespace minnow::test
