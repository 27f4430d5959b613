// model/check_tokenizer: good sections of each kind, then each promise broken in turn, then every bit of them flipped.
#include "model/check_tokenizer.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/model/hand_built.hpp"

namespace minnow::test {
namespace {

AlignedBytes aligned(const std::string& raw) {
  AlignedBytes out(raw.size());
  if (!raw.empty()) std::memcpy(out.data(), raw.data(), raw.size());
  return out;
}

Status check(const HandTokenizer& t, std::uint32_t n_tokens, Fault* fault, bool reserved_is_zero = true) {
  return check_tokenizer(aligned(t.section()).view(), n_tokens, fault, reserved_is_zero);
}

HandTokenizer characters() {
  HandTokenizer t;
  t.pieces = {"b", "ba", "ab", "a", "\xff", "abc"};
  return t.finish();
}

// Ids 0 .. 255 are the bytes, 256 "ab", 257 "abc", 258 a special one.
HandTokenizer byte_level() {
  HandTokenizer t;
  t.kind = 3;
  t.split = 1;
  for (unsigned byte = 0; byte < 256; ++byte) {
    t.pieces.emplace_back(1, static_cast<char>(byte));
    t.byte_id.push_back(byte);
  }
  for (const char* piece : {"ab", "abc", "<end>"}) t.pieces.emplace_back(piece);
  t.merges = {{'a', 'b', 0, 256}, {256, 'c', 1, 257}};
  t.special = {258};
  t.begin = 259;
  return t.finish();
}

// 0 <s>, 1 the byte a, 2 the byte \xe2, 3 a space, 4 a, 5 b, 6 ab, 7 " ab".
HandTokenizer scored() {
  HandTokenizer t;
  t.kind = 4;
  t.pieces = {"<s>", "a", "\xe2", " ", "a", "b", "ab", " ab"};
  t.byte_id.assign(256, 0xffffffffu);
  t.byte_id['a'] = 1;
  t.byte_id[0xe2] = 2;
  t.merges = {{4, 5, 7, 6}, {3, 6, 3, 7}};
  t.special = {0};
  t.begin = 1;
  t.space_prefix = 1;
  return t.finish({0});
}

HandTokenizer bytes() {
  HandTokenizer t = byte_level();
  t.kind = 2;
  t.split = 0;
  t.merges.clear();
  t.byte_id['x'] = 0xffffffffu;
  return t.finish();
}

struct Case {
  const char* name;
  void (*damage)(HandTokenizer&);
  std::uint64_t offset;
  Status status = Status::corrupt;
};

template <std::size_t n>
void check_cases(HandTokenizer (*make)(), const Case (&cases)[n]) {
  const std::uint32_t n_tokens = make().n_tokens;
  for (const Case& c : cases) {
    CAPTURE(c.name);
    HandTokenizer t = make();
    c.damage(t);
    Fault fault;
    CHECK(check(t, n_tokens, &fault) == c.status);
    CAPTURE(fault.what);
    CHECK(std::string(fault.what).find("tokenizer") == 0);
    CHECK(fault.offset == c.offset);
  }
}

}  // namespace

TEST_CASE("check_tokenizer: accepts what FORMAT.md describes") {
  for (const HandTokenizer& t : {characters(), bytes(), byte_level(), scored()}) {
    CAPTURE(t.kind);
    Fault fault;
    CHECK(check(t, t.n_tokens, &fault) == Status::ok);
    CAPTURE(fault.what);
    CHECK(check(t, t.n_tokens, nullptr) == Status::ok);
  }
}

TEST_CASE("check_tokenizer: characters, what is broken and where") {
  // The header has 64 bytes, then 7 offsets, then 6 sorted ids from byte 92: 3 2 5 0 1 4.
  const Case cases[] = {
      {"no kind", [](HandTokenizer& t) { t.kind = 0; }, 0, Status::unsupported},
      {"another kind", [](HandTokenizer& t) { t.kind = 5; }, 0, Status::unsupported},
      {"n_tokens", [](HandTokenizer& t) { t.n_tokens = 5; }, 4},
      {"text_bytes", [](HandTokenizer& t) { t.text_bytes += 1; }, 8},
      {"text too long", [](HandTokenizer& t) { t.text += 'x'; }, 8},
      {"max_piece_bytes", [](HandTokenizer& t) { t.max_piece_bytes = 4; }, 12},
      {"n_pieces high", [](HandTokenizer& t) { t.n_pieces = 7; }, 16},
      {"n_pieces low", [](HandTokenizer& t) { t.n_pieces = 5; }, 16},
      {"split", [](HandTokenizer& t) { t.split = 1; }, 20},
      {"another split", [](HandTokenizer& t) { t.split = 2; }, 20, Status::unsupported},
      {"n_merges", [](HandTokenizer& t) { t.n_merges = 1; }, 24},
      {"n_special", [](HandTokenizer& t) { t.n_special = 1; }, 28},
      {"begin", [](HandTokenizer& t) { t.begin = 1; }, 32},
      {"space_prefix", [](HandTokenizer& t) { t.space_prefix = 1; }, 36},
      {"reserved", [](HandTokenizer& t) { t.reserved[5] = 1; }, 60},
      {"first offset", [](HandTokenizer& t) { t.offsets[0] = 1; }, 64},
      {"id without text", [](HandTokenizer& t) { t.offsets[2] = t.offsets[1]; }, 72},
      {"descending offset", [](HandTokenizer& t) { t.offsets[2] = 0; }, 72},
      {"offset past the text", [](HandTokenizer& t) { t.offsets[3] = 100; }, 76},
      {"huge offset", [](HandTokenizer& t) { t.offsets[3] = 0xffffffffu; }, 76},
      {"last offset", [](HandTokenizer& t) { t.offsets[6] -= 1; }, 88},
      {"sorted id out of range", [](HandTokenizer& t) { t.sorted[1] = 6; }, 96},
      {"sorted id none", [](HandTokenizer& t) { t.sorted[4] = 0xffffffffu; }, 108},
      {"sorted twice", [](HandTokenizer& t) { t.sorted[1] = t.sorted[0]; }, 96},
      {"sorted swapped", [](HandTokenizer& t) { std::swap(t.sorted[0], t.sorted[1]); }, 96},
      {"two equal pieces", [](HandTokenizer& t) { t.text[0] = 'a'; }, 104},
  };
  check_cases(characters, cases);
}

TEST_CASE("check_tokenizer: byte-level, what is broken and where") {
  // 260 offsets from 64; 259 sorted ids from 1104; the ids of bytes from 2140; two merges from 3164; the special id at
  // 3196. In `sorted`, ab and abc stand behind a.
  const std::uint64_t merges = 3164;
  const Case cases[] = {
      {"n_pieces above n_tokens", [](HandTokenizer& t) { t.n_pieces = 260; }, 16},
      {"tail of sorted", [](HandTokenizer& t) { t.n_pieces = 258; }, 1104 + 4 * 258},
      {"n_merges", [](HandTokenizer& t) { t.n_merges = 0xffffffffu; }, 8},
      {"n_special", [](HandTokenizer& t) { t.n_special = 2; }, 8},
      {"begin", [](HandTokenizer& t) { t.begin = 260; }, 32},
      {"begin is a byte", [](HandTokenizer& t) { t.begin = 1 + 'z'; }, 32},
      {"begin is merged", [](HandTokenizer& t) { t.begin = 1 + 256; }, 32},
      {"begin is a merge's result", [](HandTokenizer& t) { t.begin = 1 + 257; }, 32},
      {"space_prefix", [](HandTokenizer& t) { t.space_prefix = 1; }, 36},
      {"no id of a byte", [](HandTokenizer& t) { t.byte_id[7] = 0xffffffffu; }, 2140 + 28},
      {"id of a byte out of range", [](HandTokenizer& t) { t.byte_id[7] = 259; }, 2140 + 28},
      {"id of another byte", [](HandTokenizer& t) { t.byte_id[7] = 8; }, 2140 + 28},
      {"id of a byte is longer", [](HandTokenizer& t) { t.byte_id['a'] = 256; }, 2140 + 4 * 'a'},
      {"sorted without a byte", [](HandTokenizer& t) { t.finish({7}); }, 2140 + 28},
      {"left of a merge", [](HandTokenizer& t) { t.merges[0].left = 259; }, merges},
      {"right of a merge", [](HandTokenizer& t) { t.merges[0].right = 259; }, merges},
      {"result out of range", [](HandTokenizer& t) { t.merges[0].result = 259; }, merges},
      {"rank", [](HandTokenizer& t) { t.merges[0].rank = 0xffffffffu; }, merges + 8},
      {"result of other length", [](HandTokenizer& t) { t.merges[0].result = 257; }, merges + 12},
      {"result of other parts", [](HandTokenizer& t) { t.merges[0].right = 'd'; }, merges + 12},
      {"the same merge twice", [](HandTokenizer& t) { t.merges[1] = t.merges[0]; }, merges + 16},
      {"merges out of order", [](HandTokenizer& t) { std::swap(t.merges[0], t.merges[1]); }, merges + 16},
      {"sorted without a result", [](HandTokenizer& t) { t.finish({256}); }, merges + 12},
      {"special out of range", [](HandTokenizer& t) { t.special[0] = 259; }, merges + 32},
  };
  check_cases(byte_level, cases);
  Fault fault;
  HandTokenizer t = byte_level();
  t.special = {257, 257};
  CHECK(check(t.finish(), 259, &fault) == Status::corrupt);
  CHECK(fault.offset == merges + 36);
  t.special = {257, 258};  // '<' comes before 'a'
  CHECK(check(t.finish(), 259, &fault) == Status::corrupt);
  CHECK(fault.offset == merges + 36);
  t.special = {258, 257};
  CHECK(check(t.finish(), 259, &fault) == Status::ok);
  for (const std::size_t length : {std::size_t{128}, std::size_t{129}}) {
    HandTokenizer u = byte_level();
    u.pieces[258] = std::string(length, '<');
    CHECK(check(u.finish(), 259, &fault) == (length == 128 ? Status::ok : Status::unsupported));
  }
  t.special = {0, 257};
  CHECK(check(t.finish({257}), 259, &fault) == Status::corrupt);  // it is the result of a merge
  t.merges.pop_back();
  CHECK(check(t.finish({257}), 259, &fault) == Status::ok);
}

TEST_CASE("check_tokenizer: scored, what is broken and where") {
  // 9 offsets from 64; 8 sorted ids from 100: 3 7 4 6 5 and none three times; the ids of bytes from 132; merges from
  // 1156.
  const Case cases[] = {
      {"split", [](HandTokenizer& t) { t.split = 1; }, 20},
      {"space_prefix 2", [](HandTokenizer& t) { t.space_prefix = 2; }, 36},
      {"sorted has the id of a byte", [](HandTokenizer& t) { t.sorted[2] = 1; }, 108},
      {"merge of the id of a byte", [](HandTokenizer& t) { t.byte_id['b'] = 5; }, 100 + 4 * 4},
      {"no space",
       [](HandTokenizer& t) {
         t.merges.clear(), t.finish({0, 3});
       },
       36},
      {"begin in sorted", [](HandTokenizer& t) { t.finish(); }, 32},
  };
  check_cases(scored, cases);
  HandTokenizer t = scored();
  t.merges[1].left = 1;  // "a" as a byte
  Fault fault;
  CHECK(check(t, 8, &fault) == Status::corrupt);
  CHECK(fault.offset == 1156 + 16);
}

TEST_CASE("check_tokenizer: bytes need no ids, and have no merges") {
  HandTokenizer t = bytes();
  t.n_merges = 1;
  Fault fault;
  CHECK(check(t, 259, &fault) == Status::corrupt);
  CHECK(fault.offset == 24);
  t = bytes();
  t.byte_id.assign(256, 0xffffffffu);
  CHECK(check(t, 259, &fault) == Status::ok);
}

TEST_CASE("check_tokenizer: merged pieces have a longest length") {
  HandTokenizer t = byte_level();
  t.split = 0;
  t.merges.clear();
  std::uint32_t last = 'a';
  for (std::uint32_t length = 2; length <= 128; length *= 2) {
    const std::uint32_t id = static_cast<std::uint32_t>(t.pieces.size());
    t.pieces.push_back(std::string(length, 'a'));
    t.merges.push_back({last, last, length, id});
    last = id;
  }
  Fault fault;
  t.finish();
  CHECK(check(t, t.n_tokens, &fault) == Status::ok);
  t.pieces.push_back(std::string(129, 'a'));
  t.finish();
  CHECK(check(t, t.n_tokens, &fault) == Status::ok);  // nothing merges into it
  t.merges.push_back({last, 'a', 1, last + 1});
  CHECK(check(t.finish(), t.n_tokens, &fault) == Status::unsupported);
  CHECK(fault.found == 129);
}

TEST_CASE("check_tokenizer: a newer minor version may use reserved fields") {
  HandTokenizer t = characters();
  t.reserved[3] = 9;
  Fault fault;
  CHECK(check(t, 6, &fault) == Status::corrupt);
  CHECK(check(t, 6, &fault, false) == Status::ok);
}

TEST_CASE("check_tokenizer: cut anywhere, it is refused") {
  for (const HandTokenizer& t : {characters(), byte_level(), scored()}) {
    const std::string good = t.section();
    int wrong = 0;
    for (std::size_t size = 0; size < good.size(); ++size) {
      wrong += check_tokenizer(aligned(good.substr(0, size)).view(), t.n_tokens, nullptr) != Status::corrupt;
    }
    CHECK(wrong == 0);
  }
}

// A section that passes with one bit changed is another legal one. In kind `characters` only the text can change; else
// also ranks, the flags for begin and space, which ids are special, and ids of bytes that none needs.
TEST_CASE("check_tokenizer: every bit flipped") {
  for (const HandTokenizer& t : {characters(), byte_level(), scored()}) {
    const std::string good = t.section();
    const std::size_t text_at = good.size() - t.text.size();
    int accepted = 0;
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
      std::string bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
      const Status status = check_tokenizer(aligned(bad).view(), t.n_tokens, nullptr);
      accepted += bit / 8 < text_at && status == Status::ok;
    }
    CAPTURE(t.kind);
    if (t.kind == 1) CHECK(accepted == 0);
    CHECK(accepted < 200);
  }
}

}  // namespace minnow::test
