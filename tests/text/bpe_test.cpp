// text/bpe: its ways of encoding a part, each against plain merging over the whole part.
#include "text/bpe.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <map>

#include "tests/model/hand_built.hpp"
#include "tests/text/naive_bpe.hpp"

namespace minnow::test {
namespace {

// A section on an aligned block, accepted by the check that readers rely on.
struct Vocabulary {
  AlignedBytes bytes;
  TokenizerView view;

  explicit Vocabulary(const HandTokenizer& t) {
    const std::string raw = t.section();
    bytes = AlignedBytes(raw.size());
    std::memcpy(bytes.data(), raw.data(), raw.size());
    Fault fault;
    const Status status = check_tokenizer(bytes.view(), t.n_tokens, &fault);
    CAPTURE(fault.what);
    REQUIRE(status == Status::ok);
    view = view_tokenizer(bytes.data());
  }
};

enum class Way { encode, windows, forward };

struct Encoded {
  Status status;
  std::vector<Token> ids;
  std::size_t bytes = 0;
};

Encoded encode(const Vocabulary& vocabulary, const Part& part, Way way, std::size_t window) {
  Merging merging;
  std::memset(&merging, 0x5a, sizeof merging);
  Bpe bpe(vocabulary.view, &merging);
  std::vector<Token> out(part.size() + 1, -7);
  const Span<Token> room(out.data(), part.size());
  std::size_t tokens = 0;
  Encoded result;
  result.status = way == Way::encode    ? bpe.encode(part, room, &tokens, &result.bytes)
                  : way == Way::windows ? bpe.encode_in_windows(part, window, room, &tokens, &result.bytes)
                                        : bpe.encode_forward(part, room, &tokens, &result.bytes);
  CHECK(out.back() == -7);
  out.resize(tokens);
  result.ids = out;
  return result;
}

// All pieces of up to 128 bytes that repeat `period`, from wherever in it; each two that make a third merge.
HandTokenizer repeated_bpe(const std::string& period, const std::function<std::uint32_t(std::uint32_t)>& rank_of) {
  HandTokenizer t;
  t.kind = 3;
  std::map<std::string, std::uint32_t> ids;
  const auto add = [&](const std::string& piece) {
    if (ids.emplace(piece, static_cast<std::uint32_t>(t.pieces.size())).second) t.pieces.push_back(piece);
  };
  for (unsigned byte = 0; byte < 256; ++byte) {
    add(std::string(1, static_cast<char>(byte)));
    t.byte_id.push_back(byte);
  }
  std::string endless;
  while (endless.size() < kMaxMergedBytes + period.size()) endless += period;
  for (std::size_t length = 2; length <= kMaxMergedBytes; ++length) {
    for (std::size_t from = 0; from < period.size(); ++from) add(endless.substr(from, length));
  }
  for (std::uint32_t id = 256; id < t.pieces.size(); ++id) {
    const std::string& piece = t.pieces[id];
    const std::uint32_t rank = rank_of(id);
    for (std::size_t at = 1; at < piece.size(); ++at) {
      t.merges.push_back({ids[piece.substr(0, at)], ids[piece.substr(at)], rank, id});
    }
  }
  return t.finish();
}

struct Counts {
  int equal = 0;
  int wrong = 0;
  int gave_up = 0;
};

void compare(const Vocabulary& vocabulary, const NaiveBpe& naive, const std::string& text, std::size_t window,
             Counts* counts) {
  const std::vector<Token> expected = naive.encode(text);
  const Part part = {text};
  const Part split = {std::string_view(text).substr(text[0] == ' ' ? 1 : 0), text[0] == ' '};
  for (const Way way : {Way::encode, Way::windows, Way::forward}) {
    for (const Part& given : {part, split}) {
      const Encoded encoded = encode(vocabulary, given, way, window);
      if (way == Way::windows && encoded.status == Status::unsupported) {
        ++counts->gave_up;
        continue;
      }
      const bool right = encoded.status == Status::ok && encoded.ids == expected;
      ++(right ? counts->equal : counts->wrong);
    }
  }
}

}  // namespace

TEST_CASE("bpe: byte-level, random vocabularies and texts") {
  Counts counts;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Dice dice = {seed};
    const std::string letters = std::string("ab c\xff").substr(0, 1 + dice.below(5));
    const HandTokenizer t = random_byte_bpe(dice, letters, 1 + dice.below(60), 2 + dice.below(30), dice.below(2) == 0);
    const Vocabulary vocabulary(t);
    const NaiveBpe naive(t);
    std::vector<std::string> alphabet;
    for (const char c : letters) alphabet.emplace_back(1, c);
    for (int round = 0; round < 8; ++round) {
      const std::string text = random_text(dice, alphabet, 1 + dice.below(60));
      compare(vocabulary, naive, text, 8 + dice.below(40), &counts);
    }
  }
  CHECK(counts.wrong == 0);
  CHECK(counts.gave_up > 100);  // so that both ends of a window's tries are seen
  CHECK(counts.equal > 50000);
}

TEST_CASE("bpe: characters, random vocabularies and texts") {
  const std::vector<std::string> letters = {"a",    "b",    " ",   "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                                            "\xe2", "\xc3", "\x82"};
  Counts counts;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Dice dice = {seed};
    const std::vector<std::string> some(letters.begin(), letters.begin() + 1 + static_cast<int>(dice.below(9)));
    const HandTokenizer t = random_scored_bpe(dice, {"a", "b", " ", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"},
                                              1 + dice.below(40), true);
    const Vocabulary vocabulary(t);
    const NaiveBpe naive(t);
    for (int round = 0; round < 8; ++round) {
      compare(vocabulary, naive, random_text(dice, some, 1 + dice.below(40)), 16 + dice.below(40), &counts);
    }
  }
  CHECK(counts.wrong == 0);
  CHECK(counts.equal > 50000);
}

TEST_CASE("bpe: long parts, long pieces") {
  Counts counts;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Dice dice = {seed};
    const HandTokenizer t = random_byte_bpe(dice, seed % 2 == 0 ? "a" : "ab", 60, 128, seed % 3 == 0);
    const Vocabulary vocabulary(t);
    const NaiveBpe naive(t);
    std::string text = random_text(dice, {"a", "b"}, 700) + std::string(1500, 'a') + random_text(dice, {"a", "b"}, 700);
    compare(vocabulary, naive, text, kWindow, &counts);
  }
  CHECK(counts.wrong == 0);
}

TEST_CASE("bpe: windows do not give up where pieces are as long as may be") {
  const std::vector<std::string> periods = {"a", "ab"};
  for (const std::string& period : periods) {
    for (const bool ordered : {true, false}) {
      Dice dice = {7};
      const HandTokenizer t = repeated_bpe(
          period, [&](std::uint32_t i) { return ordered ? i : static_cast<std::uint32_t>(dice.below(5000)); });
      const Vocabulary vocabulary(t);
      const NaiveBpe naive(t);
      for (std::size_t shift = 0; shift < period.size(); ++shift) {
        std::string text;
        while (text.size() < 2600) text += period;
        text.erase(0, shift);
        const Encoded encoded = encode(vocabulary, {text}, Way::windows, kWindow);
        CHECK(encoded.status == Status::ok);
        CHECK(encoded.ids == naive.encode(text));
      }
    }
  }
}

TEST_CASE("bpe: a character without an id is named, whichever way") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Dice dice = {seed};
    const std::vector<std::string> letters = {"a", "b", "\xc3\xa9", "\xe2\x82\xac", "\xff"};
    const HandTokenizer t = random_scored_bpe(dice, {"a", "b", "\xc3\xa9", "\xe2\x82\xac"}, 20, false);
    const Vocabulary vocabulary(t);
    const NaiveBpe naive(t);
    const std::string text = random_text(dice, letters, 1 + dice.below(50));
    std::size_t known = 0;  // the longest beginning of whole characters that all have ids
    while (known < text.size()) {
      const std::size_t length = utf8_length(std::string_view(text).substr(known));
      const std::string character = text.substr(known, length);
      const std::size_t found = naive.atoms(character).size();
      if (found == 0 || (found != 1 && found != character.size())) break;
      if (found == 1 && character.size() > 1) {  // one id: of the character, or of the only byte that has one
        bool bytes_known = true;
        bool any = false;
        for (const char c : character) {
          const bool has = t.byte_id[static_cast<unsigned char>(c)] != 0xffffffffu;
          bytes_known &= has;
          any |= has && naive.atoms(character)[0] == t.byte_id[static_cast<unsigned char>(c)];
        }
        if (any && !bytes_known) break;
      }
      known += length;
    }
    for (const Way way : {Way::encode, Way::windows, Way::forward}) {
      const Encoded encoded = encode(vocabulary, {text}, way, 16);
      if (encoded.status == Status::unsupported) continue;
      CHECK(encoded.status == (known == text.size() ? Status::ok : Status::bad_argument));
      CHECK(encoded.bytes == known);
    }
  }
}

}  // namespace minnow::test
