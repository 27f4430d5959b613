// tools/convert/byte_level.cpp: the characters that stand for bytes, and vocabularies put together of them.
#include "tools/convert/byte_level.hpp"

#include <doctest/doctest.h>

#include <set>

#include "tests/convert/support.hpp"
#include "tests/convert/vocabularies.hpp"

namespace minnow::convert::test {

namespace {

// The 256 bytes with their numbers as ids, and room for `more`.
ByteLevelBuilder with_bytes(std::size_t more) {
  ByteLevelBuilder builder(256 + more);
  for (unsigned byte = 0; byte < 256; ++byte) builder.add_token(builder.symbols().symbol(byte), byte);
  return builder;
}

}  // namespace

TEST_CASE("byte symbols: GPT-2's, there and back") {
  const ByteSymbols symbols;
  CHECK(symbols.symbol('!') == "!");
  CHECK(symbols.symbol(' ') == "\u0120");
  CHECK(symbols.symbol('\n') == "\u010a");
  CHECK(symbols.symbol(0) == "\u0100");
  CHECK(symbols.symbol(0xad) == "\u0143");
  CHECK(symbols.symbol(0xff) == "\u00ff");
  std::set<std::string> distinct;
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string back;
    CHECK(symbols.decode(symbols.symbol(byte), &back));
    CHECK(back == std::string(1, static_cast<char>(byte)));
    distinct.insert(symbols.symbol(byte));
  }
  CHECK(distinct.size() == 256);
  CHECK(symbols.order()[0] == '!');
  CHECK(symbols.order()[93] == '~');
  CHECK(symbols.order()[94] == 0xa1);
  CHECK(symbols.order()[187] == 0xff);
  CHECK(symbols.order()[188] == 0);
  CHECK(symbols.order()[220] == ' ');
  CHECK(symbols.order()[255] == 0xad);
}

TEST_CASE("byte symbols: what is none") {
  const ByteSymbols symbols;
  std::string out;
  for (const char* written : {" ", "\n", "\x7f", "a b", "\u00a0", "\u00ad", "\u0144", "\u4e00", "\U0001f600", "\xc4",
                              "\xc4\x41", "\x80", "\xc0\xa1", "\xff"}) {
    CHECK_FALSE(symbols.decode(written, &out));
  }
  CHECK(symbols.decode("", &out));
  CHECK(out.empty());
}

TEST_CASE("byte level: tokens, merges and special tokens") {
  ByteLevelBuilder builder = with_bytes(3);
  builder.add_special("<|end of text|>", 257);
  builder.add_token("\u0120a", 258);
  builder.add_token("\u0120ab", 256);
  builder.add_merge("\u0120", "a");
  builder.add_merge("\u0120a", "b");
  const Vocabulary v = builder.finish();
  CHECK(v.kind == TokenizerKind::byte_level_bpe);
  CHECK(v.split == TokenizerSplit::gpt2);
  CHECK(v.pieces[258] == " a");
  CHECK(v.pieces[257] == "<|end of text|>");
  CHECK(v.special == std::vector<std::uint32_t>{257});
  CHECK(v.byte_id[' '] == ' ');
  CHECK(encode_part(v, " ab") == std::vector<std::uint32_t>{256});
}

TEST_CASE("byte level: what is refused") {
  const auto refusal = [](const std::function<void(ByteLevelBuilder*)>& action) {
    return refusal_of([&] {
      ByteLevelBuilder builder = with_bytes(2);
      action(&builder);
      static_cast<void>(builder.finish());
    });
  };
  using Builder = ByteLevelBuilder;
  CHECK(contains(refusal([](Builder* b) { b->add_token("ab", 258); }), "\"ab\" has the id 258 among 258 tokens"));
  CHECK(contains(refusal([](Builder* b) { b->add_token("ab", -1); }), "has the id -1"));
  CHECK(contains(refusal([](Builder* b) { b->add_token("ab", 97); }), "two tokens have the id 97, \"a\" and \"ab\""));
  CHECK(contains(refusal([](Builder* b) { b->add_token("a b", 256); }), "a character that stands for no byte"));
  CHECK(contains(refusal([](Builder* b) { b->add_token("", 256); }), "with the id 256 is empty"));
  CHECK(contains(refusal([](Builder* b) { b->add_token("a", 256); }), "the token \"a\" is there twice"));
  CHECK(contains(refusal([](Builder* b) { b->add_special("", 256); }), "with the id 256 is empty"));
  CHECK(contains(refusal([](Builder* b) { b->add_token("ab", 256); }), "no token has the id 257"));
  CHECK(contains(refusal([](Builder* b) {
                   b->add_token("ab", 256);
                   b->add_special("ab", 257);
                 }),
                 "two ids mean \"ab\", the later one is 257"));
  CHECK(contains(refusal([](Builder* b) { b->add_merge("a", "bc"); }), "merges \"bc\", which is no token"));
  CHECK(contains(refusal([](Builder* b) { b->add_merge("a", "b"); }), "makes \"ab\", which has no id"));
  ByteLevelBuilder no_zero(255);
  for (unsigned byte = 1; byte < 256; ++byte) no_zero.add_token(no_zero.symbols().symbol(byte), byte - 1);
  CHECK(contains(refusal_of([&] { static_cast<void>(no_zero.finish()); }), "no token is the single byte 0;"));
  CHECK(contains(refusal_of([] { ByteLevelBuilder builder(std::size_t{1} << 40); }), "expected at most 524288"));
}

}  // namespace minnow::convert::test
