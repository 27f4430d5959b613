// tools/convert/merges.cpp: the merges that are found or kept encode every text as all of them would.
#include "tools/convert/merges.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/rng.hpp"
#include "tests/convert/support.hpp"
#include "tests/convert/vocabularies.hpp"

namespace minnow::convert::test {

namespace {

struct Rng {
  std::uint64_t seed;
  std::uint64_t index = 0;
  std::uint64_t next() { return draw64(seed, index++); }
};

// 256 bytes, then pieces over three letters.
Vocabulary random_vocabulary(Rng* rng, std::vector<std::uint32_t>* ranks, bool scored) {
  Vocabulary v;
  v.kind = scored ? TokenizerKind::scored_bpe : TokenizerKind::byte_level_bpe;
  ranks->assign(256, kNoId);
  for (unsigned byte = 0; byte < 256; ++byte) {
    v.pieces.emplace_back(1, static_cast<char>(byte));
    v.byte_id.push_back(scored ? kNoId : byte);
  }
  while (v.pieces.size() < 290) {
    std::string piece;
    const std::uint64_t length = 2 + rng->next() % 5;
    while (piece.size() < length) piece += static_cast<char>('a' + rng->next() % 3);
    if (std::find(v.pieces.begin(), v.pieces.end(), piece) != v.pieces.end()) continue;
    ranks->push_back(static_cast<std::uint32_t>(scored ? rng->next() % 12 : v.pieces.size()));  // scores may be equal
    v.pieces.push_back(piece);
  }
  return v;
}

std::string random_text(Rng* rng) {
  std::string text;
  while (text.size() < 24) text += static_cast<char>('a' + rng->next() % 3);
  return text;
}

// With every pair of pieces that together are a piece.
Vocabulary with_all_merges(Vocabulary v, const std::vector<std::uint32_t>& ranks) {
  std::map<std::string, std::uint32_t> ids;
  for (std::uint32_t id = 0; id < v.pieces.size(); ++id) ids[v.pieces[id]] = id;
  for (std::uint32_t id = 256; id < v.pieces.size(); ++id) {
    for (std::size_t cut = 1; cut < v.pieces[id].size(); ++cut) {
      const auto left = ids.find(v.pieces[id].substr(0, cut));
      const auto right = ids.find(v.pieces[id].substr(cut));
      if (left != ids.end() && right != ids.end()) v.merges.push_back({left->second, right->second, ranks[id], id});
    }
  }
  return v;
}

}  // namespace

TEST_CASE("merges: one a token encodes as all pairs do") {
  Rng rng{7};
  for (int round = 0; round < 60; ++round) {
    std::vector<std::uint32_t> ranks;
    Vocabulary v = random_vocabulary(&rng, &ranks, round % 2 == 1);
    const Vocabulary all = with_all_merges(v, ranks);
    add_merges(ranks, &v);
    REQUIRE(v.merges.size() <= v.pieces.size() - 256);
    REQUIRE(all.merges.size() > v.merges.size());
    for (int i = 0; i < 20; ++i) {
      const std::string text = random_text(&rng);
      CHECK(encode_part(v, text) == encode_part(all, text));
    }
  }
}

TEST_CASE("merges: of several listed for a token those stay that encoding uses") {
  Rng rng{8};
  std::size_t dropped = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<std::uint32_t> ranks;
    Vocabulary all = with_all_merges(random_vocabulary(&rng, &ranks, false), ranks);
    for (std::size_t i = 0; i < all.merges.size(); ++i) {  // any order, each with a rank of its own
      std::swap(all.merges[i], all.merges[i + rng.next() % (all.merges.size() - i)]);
      all.merges[i].rank = static_cast<std::uint32_t>(i);
    }
    Vocabulary v = all;
    drop_unused_merges(&v);
    dropped += all.merges.size() - v.merges.size();
    for (int i = 0; i < 20; ++i) {
      const std::string text = random_text(&rng);
      CHECK(encode_part(v, text) == encode_part(all, text));
    }
  }
  CHECK(dropped > 0);
}

TEST_CASE("merges: a token without a way to it has none") {
  Vocabulary v;
  v.kind = TokenizerKind::byte_level_bpe;
  for (unsigned byte = 0; byte < 256; ++byte) {
    v.pieces.emplace_back(1, static_cast<char>(byte));
    v.byte_id.push_back(byte);
  }
  v.pieces.insert(v.pieces.end(), {"abc", "xy"});
  std::vector<std::uint32_t> ranks(256, kNoId);
  ranks.insert(ranks.end(), {256, 257});
  add_merges(ranks, &v);
  REQUIRE(v.merges.size() == 1);
  CHECK(v.pieces[v.merges[0].result] == "xy");
}

TEST_CASE("merges: what is refused") {
  Vocabulary v;
  v.kind = TokenizerKind::byte_level_bpe;
  for (unsigned byte = 0; byte < 256; ++byte) {
    v.pieces.emplace_back(1, static_cast<char>(byte));
    v.byte_id.push_back(byte);
  }
  std::vector<std::uint32_t> ranks(256, kNoId);
  Vocabulary twice = v;
  twice.pieces.push_back("ab");
  twice.merges = {{'a', 'b', 0, 256}, {'a', 'b', 1, 256}};
  CHECK(contains(refusal_of([&] { drop_unused_merges(&twice); }), "two merges are of \"a\" and \"b\""));

  for (std::size_t length = 2; length <= 256; length *= 2) {
    ranks.push_back(static_cast<std::uint32_t>(v.pieces.size()));
    v.pieces.push_back(std::string(length, 'a'));
  }
  CHECK(contains(refusal_of([&] { add_merges(ranks, &v); }), "has 256 bytes; expected at most 128"));
}

}  // namespace minnow::convert::test
