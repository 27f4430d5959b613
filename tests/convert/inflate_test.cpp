// tools/convert/inflate.cpp: every kind of block, streams that are none, and streams that would grow.
#include "tools/convert/inflate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "base/rng.hpp"
#include "tests/convert/support.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert::test {

namespace {

std::string from_hex(const std::string& hex) {
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    out += static_cast<char>(static_cast<unsigned char>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return out;
}

// Given to the decoder `piece` bytes at a time. The bytes, or the refusal's text.
std::string inflated(const std::string& stream, std::uint64_t bytes, std::size_t piece = 4096) {
  std::size_t at = 0;
  const auto source = [&](unsigned char* out, std::size_t capacity) {
    const std::size_t count = std::min({capacity, piece, stream.size() - at});
    std::memcpy(out, stream.data() + at, count);
    at += count;
    return count;
  };
  std::string out;
  try {
    const std::uint64_t used = inflate(source, bytes, [&](const unsigned char* data, std::size_t count) {
      out.append(reinterpret_cast<const char*>(data), count);
    });
    CHECK(used <= stream.size());
    return out;
  } catch (const Refusal& refusal) {
    CHECK(out.size() <= bytes);
    return refusal.what();
  }
}

// Writes streams: bits from the low end of each byte, Huffman codes from their high end.
struct BitMaker {
  std::string bytes;
  unsigned used = 8;
  BitMaker& put(std::uint32_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      if (used == 8) bytes += '\0', used = 0;
      bytes.back() = static_cast<char>(bytes.back() | static_cast<char>((value >> i & 1) << used));
      ++used;
    }
    return *this;
  }
  BitMaker& code(std::uint32_t value, unsigned count) {
    for (unsigned i = count; i-- > 0;) put(value >> i & 1, 1);
    return *this;
  }
  // In the fixed code.
  BitMaker& literal(unsigned symbol) {
    if (symbol < 144) return code(0x30 + symbol, 8);
    if (symbol < 256) return code(0x190 + symbol - 144, 9);
    if (symbol < 280) return code(symbol - 256, 7);
    return code(0xc0 + symbol - 280, 8);
  }
};

constexpr const char* kDynamic =
    "9d944b0a80301043f79e620ee0c24f3f164f537044415bd1821e5f5c7881b72b85309924936d4d2a8de459a2147d8adc6b59"
    "e4d44363b9eaff21314db2e753ff8fb1da3e604b81860203a6ea28b2b314d9e39906efe9b0b40376b3c7d262b2c653a4ef30"
    "5bac0f56d6e19981a716dbe97991e03d2d661bf875f2fae28dc9f7c46c2df673c08127b17d01";

std::string dynamic_text() {
  std::string out;
  for (int i = 0; i < 30; ++i) {
    out += "line " + std::to_string(i * i % 97) + " of a text with repeats, repeats and more repeats;\n";
  }
  return out;
}

}  // namespace

TEST_CASE("inflate: stored, fixed and dynamic blocks") {
  CHECK(inflated(from_hex("0300"), 0).empty());
  CHECK(inflated(from_hex("010300fcff616263"), 3) == "abc");
  CHECK(inflated(from_hex("cb48cdc9c957c8402701"), 23) == "hello hello hello hello");
  const std::string text = dynamic_text();
  for (const std::size_t piece : {1u, 7u, 4096u}) CHECK(inflated(from_hex(kDynamic), text.size(), piece) == text);
}

TEST_CASE("inflate: matches of every length and distance, through many windows") {
  std::uint64_t draws = 0;
  const auto draw = [&](unsigned below) { return static_cast<unsigned>(draw64(1, draws++) % below); };
  BitMaker bits;
  bits.put(1, 1).put(1, 2);
  std::string expected;
  constexpr unsigned kLength[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                  31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  constexpr unsigned kDistance[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                    33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                    1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  for (int step = 0; step < 6000; ++step) {
    const unsigned byte = draw(256);
    bits.literal(byte);
    expected += static_cast<char>(static_cast<unsigned char>(byte));
    const unsigned length = draw(29);
    const unsigned far = draw(30);
    const unsigned length_bits = length < 8 || length == 28 ? 0 : length / 4 - 1;
    const unsigned far_bits = far < 4 ? 0 : far / 2 - 1;
    const unsigned more_length = draw(1u << length_bits);
    const unsigned more_far = draw(1u << far_bits);
    const std::size_t distance = kDistance[far] + more_far;
    if (distance > expected.size()) continue;
    bits.literal(257 + length).put(more_length, length_bits).code(far, 5).put(more_far, far_bits);
    for (unsigned i = 0; i < kLength[length] + more_length; ++i) expected += expected[expected.size() - distance];
  }
  bits.literal(256);
  REQUIRE(expected.size() > 300000);
  CHECK(inflated(bits.bytes, expected.size()) == expected);
  CHECK(inflated(bits.bytes, expected.size(), 1) == expected);
  CHECK(contains(inflated(bits.bytes, expected.size() - 1), "gives more than the"));
  CHECK(contains(inflated(bits.bytes, expected.size() + 1), "bytes where"));
}

TEST_CASE("inflate: stored blocks longer than the window") {
  std::string stream, expected;
  for (int i = 0; i < 5; ++i) {
    const std::string piece(65535, static_cast<char>('a' + i));
    stream += number(i == 4 ? 1 : 0, 1) + number(65535, 2) + number(0, 2) + piece;
    expected += piece;
  }
  CHECK(inflated(stream, expected.size()) == expected);
  stream[1] = 1;
  CHECK(contains(inflated(stream, expected.size()), "the length of a stored block is wrong"));
}

TEST_CASE("inflate: says where the stream ends") {
  const std::string stream = from_hex("cb48cdc9c957c8402701") + "behind";
  for (const std::size_t piece : {1u, 9u, 10u, 11u, 16u}) {
    std::size_t at = 0;
    const auto source = [&](unsigned char* out, std::size_t) {
      const std::size_t count = std::min(piece, stream.size() - at);
      std::memcpy(out, stream.data() + at, count);
      at += count;
      return count;
    };
    CHECK(inflate(source, 23, [](const unsigned char*, std::size_t) {}) == 10);
  }
}

TEST_CASE("inflate: what is no stream") {
  CHECK(contains(inflated("", 1), "ends too early"));
  CHECK(contains(inflated(BitMaker().put(1, 1).put(3, 2).bytes, 0), "no known type"));
  const auto fixed = [] { return BitMaker().put(1, 1).put(1, 2); };
  CHECK(contains(inflated(fixed().literal('a').literal(257).code(1, 5).literal(256).bytes, 4), "before the beginning"));
  CHECK(contains(inflated(fixed().literal('a').literal(257).code(30, 5).literal(256).bytes, 4), "no distance"));
  CHECK(contains(inflated(fixed().literal('a').literal(286).code(0, 5).literal(256).bytes, 4), "no length"));
  CHECK(inflated(fixed().literal('a').literal(257).code(0, 5).literal(256).bytes, 4) == "aaaa");
  // The codes of a dynamic block: too many, too few, none for the end of the block.
  const auto dynamic = [](unsigned literals, unsigned distances, unsigned own) {
    return BitMaker().put(1, 1).put(2, 2).put(literals - 257, 5).put(distances - 1, 5).put(own - 4, 4);
  };
  CHECK(contains(inflated(dynamic(287, 1, 4).bytes, 0), "more codes than there are"));
  CHECK(contains(inflated(dynamic(257, 31, 4).bytes, 0), "more codes than there are"));
  CHECK(contains(inflated(dynamic(257, 1, 4).put(1, 3).put(1, 3).put(1, 3).put(0, 3).bytes, 0), "can tell apart"));
  CHECK(contains(inflated(dynamic(257, 1, 4).put(2, 3).put(2, 3).put(0, 3).put(0, 3).bytes, 0), "is incomplete"));
  CHECK(contains(inflated(dynamic(257, 1, 4).put(1, 3).put(1, 3).put(0, 3).put(0, 3).code(0, 1).bytes, 0),
                 "repeats nothing"));
  // 18 codes as 1 bit: 138 zeros, twice, are 276 of 258 lengths.
  CHECK(contains(inflated(dynamic(257, 1, 4)
                              .put(0, 3)
                              .put(0, 3)
                              .put(1, 3)
                              .put(0, 3)
                              .code(0, 1)
                              .put(127, 7)
                              .code(0, 1)
                              .put(127, 7)
                              .bytes,
                          0),
                 "repeats too often"));
  CHECK(contains(inflated(dynamic(257, 1, 4)
                              .put(0, 3)
                              .put(0, 3)
                              .put(1, 3)
                              .put(0, 3)
                              .code(0, 1)
                              .put(127, 7)
                              .code(0, 1)
                              .put(109, 7)
                              .bytes,
                          0),
                 "a block has no end"));
}

TEST_CASE("inflate: many blocks of nothing") {
  BitMaker bits;
  for (int i = 0; i < 2000; ++i) bits.put(0, 1).put(1, 2).literal(256);
  CHECK(contains(inflated(bits.put(1, 1).put(1, 2).literal(256).bytes, 0), "more blocks than so few bytes need"));
  BitMaker flushed;  // stored blocks of nothing are how a stream is flushed
  for (int i = 0; i < 2000; ++i) flushed.put(0, 8).put(0, 16).put(0xffff, 16);
  CHECK(inflated(flushed.put(1, 1).put(1, 2).literal(256).bytes, 0).empty());
}

TEST_CASE("inflate: cut and damaged everywhere") {
  const std::string stream = from_hex(kDynamic);
  const std::string text = dynamic_text();
  for (std::size_t size = 0; size < stream.size(); ++size) {
    CHECK_MESSAGE(contains(inflated(stream.substr(0, size), text.size()), "; expected "), size);
  }
  for (std::size_t at = 0; at < stream.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string broken = stream;
      broken[at] = static_cast<char>(broken[at] ^ (1 << bit));
      const std::string out = inflated(broken, text.size());
      const bool bounded = out.size() == text.size() || contains(out, "; expected ");
      CHECK_MESSAGE(bounded, at);
    }
  }
}

}  // namespace minnow::convert::test
