// model/check_tokenizer: a good section, then each promise broken in turn, then every byte of it damaged.
#include "model/check_tokenizer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "tests/model/hand_built.hpp"

namespace minnow {
namespace {

using minnow::test::AlignedBytes;

struct Section {
  std::uint32_t kind = 1;
  std::uint32_t n_tokens = 0;
  std::uint32_t text_bytes = 0;
  std::uint32_t max_piece_bytes = 0;
  std::uint32_t n_pieces = 0;
  std::uint32_t reserved[11] = {};
  std::vector<std::uint32_t> offsets = {0};
  std::vector<std::uint32_t> sorted;
  std::string text;

  explicit Section(const std::vector<std::string>& pieces) {
    n_tokens = static_cast<std::uint32_t>(pieces.size());
    for (std::uint32_t id = 0; id < n_tokens; ++id) {
      text += pieces[id];
      offsets.push_back(static_cast<std::uint32_t>(text.size()));
      max_piece_bytes = std::max(max_piece_bytes, static_cast<std::uint32_t>(pieces[id].size()));
      if (!pieces[id].empty()) sorted.push_back(id);
    }
    std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) { return pieces[a] < pieces[b]; });
    n_pieces = static_cast<std::uint32_t>(sorted.size());
    sorted.resize(n_tokens, 0xffffffffu);
    text_bytes = static_cast<std::uint32_t>(text.size());
  }

  AlignedBytes bytes() const {
    std::string raw;
    const auto put = [&](const void* p, std::size_t n) { raw.append(static_cast<const char*>(p), n); };
    for (const std::uint32_t* field : {&kind, &n_tokens, &text_bytes, &max_piece_bytes, &n_pieces}) put(field, 4);
    put(reserved, sizeof reserved);
    put(offsets.data(), offsets.size() * 4);
    put(sorted.data(), sorted.size() * 4);
    raw += text;
    AlignedBytes out(raw.size());
    if (!raw.empty()) std::memcpy(out.data(), raw.data(), raw.size());
    return out;
  }
};

const std::vector<std::string> kPieces = {"b", "", "ab", "a", "\xff", "abc"};

Status check(const Section& section, Fault* fault, bool reserved_is_zero = true) {
  return check_tokenizer(section.bytes().view(), 6, fault, reserved_is_zero);
}

}  // namespace

TEST_CASE("check_tokenizer: accepts what FORMAT.md describes") {
  Fault fault;
  CHECK(check(Section(kPieces), &fault) == Status::ok);
  CHECK(check(Section(kPieces), nullptr) == Status::ok);
  const Section empty(std::vector<std::string>(6));
  CHECK(check(empty, &fault) == Status::ok);
}

TEST_CASE("check_tokenizer: names what is broken and where") {
  struct Case {
    const char* name;
    void (*damage)(Section&);
    std::uint64_t offset;
    Status status = Status::corrupt;
  };
  // The header has 64 bytes, then 7 offsets, then 6 sorted ids from byte 92.
  const Case cases[] = {
      {"other kind", [](Section& s) { s.kind = 3; }, 0, Status::unsupported},
      {"no kind", [](Section& s) { s.kind = 0; }, 0, Status::unsupported},
      {"n_tokens", [](Section& s) { s.n_tokens = 5; }, 4},
      {"text_bytes", [](Section& s) { s.text_bytes += 1; }, 8},
      {"text too long", [](Section& s) { s.text += 'x'; }, 8},
      {"max_piece_bytes", [](Section& s) { s.max_piece_bytes = 4; }, 12},
      {"n_pieces high", [](Section& s) { s.n_pieces = 6; }, 16},
      {"n_pieces low", [](Section& s) { s.n_pieces = 4; }, 16},
      {"reserved", [](Section& s) { s.reserved[10] = 1; }, 60},
      {"first offset", [](Section& s) { s.offsets[0] = 1; }, 64},
      {"descending offset", [](Section& s) { s.offsets[2] = 0; }, 72},
      {"offset past the text", [](Section& s) { s.offsets[3] = 100; }, 76},
      {"huge offset", [](Section& s) { s.offsets[3] = 0xffffffffu; }, 76},
      {"last offset", [](Section& s) { s.offsets[6] = s.offsets[5]; }, 88},
      {"sorted id out of range", [](Section& s) { s.sorted[1] = 6; }, 96},
      {"sorted id none", [](Section& s) { s.sorted[4] = 0xffffffffu; }, 108},
      {"sorted twice", [](Section& s) { s.sorted[1] = s.sorted[0]; }, 96},
      {"sorted swapped", [](Section& s) { std::swap(s.sorted[0], s.sorted[1]); }, 96},
      {"sorted has an empty piece", [](Section& s) { s.sorted[0] = 1; }, 92},
      {"tail of sorted", [](Section& s) { s.sorted[5] = 0; }, 112},
      {"two equal pieces", [](Section& s) { s.text[0] = 'a'; }, 104},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Section section(kPieces);
    c.damage(section);
    Fault fault;
    CHECK(check(section, &fault) == c.status);
    CAPTURE(fault.what);
    CHECK(std::string(fault.what).find("tokenizer") == 0);
    CHECK(fault.offset == c.offset);
  }
}

TEST_CASE("check_tokenizer: a newer minor version may use reserved fields") {
  Section section(kPieces);
  section.reserved[3] = 9;
  Fault fault;
  CHECK(check(section, &fault) == Status::corrupt);
  CHECK(check(section, &fault, false) == Status::ok);
}

TEST_CASE("check_tokenizer: cut anywhere, it is refused") {
  const AlignedBytes good = Section(kPieces).bytes();
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    AlignedBytes cut(size);
    if (size > 0) std::memcpy(cut.data(), good.data(), size);
    CHECK(check_tokenizer(cut.view(), 6, nullptr) == Status::corrupt);
  }
}

// A section that passes with one bit changed is another legal section: only the text can change, and its order must
// still hold.
TEST_CASE("check_tokenizer: every bit flipped") {
  const AlignedBytes good = Section(kPieces).bytes();
  const std::size_t text_at = 64 + 4 * 13;
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    CAPTURE(bit);
    AlignedBytes bad = good;
    bad.data()[bit / 8] ^= std::byte{1} << (bit % 8);
    const Status status = check_tokenizer(bad.view(), 6, nullptr);
    if (bit / 8 < text_at) CHECK(status != Status::ok);
  }
}

}  // namespace minnow
