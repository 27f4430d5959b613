// Tokens of a text that comes in pieces, against the tokens of the whole; what is said about unknown characters.
#include "tools/prompt.hpp"

#include "tests/tools/child.hpp"
#include "text/utf8.hpp"
#include "tools/messages.hpp"

namespace minnow::test {
namespace {

// Keeps what is written to stderr while it lives.
class Stderr {
 public:
  Stderr() : saved_(dup(2)) {
    const int file = open(folder_.path("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(file, 2);
    close(file);
  }
  ~Stderr() {
    dup2(saved_, 2);
    close(saved_);
  }
  Stderr(const Stderr&) = delete;
  Stderr& operator=(const Stderr&) = delete;
  std::string text() const { return folder_.read("err"); }

 private:
  TemporaryFolder folder_;
  int saved_;
};

struct Scanned {
  int status = kDone;
  std::vector<Token> tokens;
  std::uint64_t count = 0;
  std::string err;
};

// Scans, and reads a second time where that may be done.
Scanned scan(TokenReader reader, std::size_t keep = SIZE_MAX) {
  Scanned out;
  const Stderr err;
  out.status = reader.scan(keep, &out.tokens);
  out.count = reader.count();
  out.err = err.text();
  if (out.status != kDone) return out;
  std::vector<Token> again, tokens;
  reader.rewind();
  do {
    REQUIRE(reader.read(&tokens) == kDone);
    again.insert(again.end(), tokens.begin(), tokens.end());
  } while (!tokens.empty());
  CHECK(again.size() == out.count);
  if (keep > out.count) CHECK(again == out.tokens);
  CHECK(err.text() == out.err);  // nothing is said twice
  return out;
}

// Pieces that begin one another, and pieces that are no characters.
HandShape overlapping() {
  HandShape shape = ModelFile::default_shape();
  shape.pieces = {"a", "ab", "abcab", "b", "c", "\xc3\xa9", "\xe2\x82", "\xe2\x82\xac\xe2", "\xac", "\xf0\x9f\x98\x80"};
  return shape;
}

// The tokens of a whole text; characters that are unknown are left out.
std::vector<Token> whole_tokens(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<Token> out;
  while (true) {
    std::vector<Token> ids(text.size());
    EncodeResult result;
    const Status status = tokenizer.encode(text, {ids.data(), ids.size()}, &result);
    out.insert(out.end(), ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(result.tokens));
    if (status == Status::ok) return out;
    text.remove_prefix(result.bytes);
    text.remove_prefix(std::max<std::size_t>(utf8_length(text), 1));
  }
}

}  // namespace

TEST_CASE("prompt: pieces of every size give the tokens of the whole") {
  const ModelFile file(overlapping());
  const Model model = open_model(file.bytes);
  Tokenizer tokenizer;
  REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
  const std::string texts[] = {
      "abcabcabab",
      "abcaabcababcab\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xc3\xa9",
      "\xf0\x9f\x98\x80z\xf0\x9f\x98\x81\xc3\xa8\xe2\x82\xac\xe2\x82\xff\xf0\x9f",
      "zzz\xe4\xb8\xad\xe4\xb8",
      "\xe2",
      "",
  };
  for (const std::string& text : texts) {
    CAPTURE(text);
    TextInput whole("test");
    whole.use(text);
    const Scanned expected = scan(TokenReader("test", &whole, tokenizer, true));
    CHECK(expected.tokens == whole_tokens(tokenizer, text));
    whole.rewind();
    const Scanned refused = scan(TokenReader("test", &whole, tokenizer, false));
    CHECK((refused.status == kMisused) == (expected.err.find("skipped") != std::string::npos));
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
      CAPTURE(piece);
      TextInput input("test", piece);
      input.use(text);
      const Scanned scanned = scan(TokenReader("test", &input, tokenizer, true));
      CHECK(scanned.status == kDone);
      CHECK(scanned.tokens == expected.tokens);
      CHECK(scanned.err == expected.err);
      input.rewind();
      CHECK(scan(TokenReader("test", &input, tokenizer, false)).err == refused.err);
      for (const std::size_t keep : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
        input.rewind();
        const Scanned some = scan(TokenReader("test", &input, tokenizer, true), keep);
        CHECK(some.count == expected.tokens.size());
        const std::size_t kept = std::min(keep, expected.tokens.size());
        CHECK(some.tokens ==
              std::vector<Token>(expected.tokens.end() - static_cast<std::ptrdiff_t>(kept), expected.tokens.end()));
      }
    }
  }
}

TEST_CASE("prompt: ids in pieces of every size") {
  const std::string text = " 12,3\n\t007 99 , 100\r\n5";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    CAPTURE(piece);
    TextInput input("test", piece);
    input.use(text);
    CHECK(scan(TokenReader("test", &input, 101)).tokens == std::vector<Token>{12, 3, 7, 99, 100, 5});
    input.rewind();
    const Scanned refused = scan(TokenReader("test", &input, 100));
    CHECK(refused.status == kMisused);
    CHECK(refused.err == "minnow test: ids: found '100', expected whole numbers from 0 to 99\n");
  }
  // Not held in memory to see that it is no id.
  for (const std::size_t piece : {std::size_t{1000}, std::size_t{100000}}) {
    TextInput input("test", piece);
    const std::string digits(50000, '0');
    input.use(digits);
    const Scanned refused = scan(TokenReader("test", &input, 100));
    CHECK(refused.status == kMisused);
    CHECK(refused.err ==
          "minnow test: ids: found '" + std::string(4096, '0') + "..', expected whole numbers from 0 to 99\n");
  }
}

TEST_CASE("prompt: more unknown characters than are named") {
  const ModelFile file;
  const Model model = open_model(file.bytes);
  Tokenizer tokenizer;
  REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
  std::string text;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 64 * 60; ++i) {
      text += {static_cast<char>(0xe4), static_cast<char>(0x80 + i / 64), static_cast<char>(0x80 + i % 64)};
    }
    text += "\\\xff";
  }
  TextInput input("test");
  input.use(text);
  const Scanned refused = scan(TokenReader("test", &input, tokenizer, false));
  CHECK(refused.status == kMisused);
  CHECK(
      refused.err.find("'\xe4\x80\x80' (U+4000) at character 1, 3843; '\xe4\x80\x81' (U+4001) at character 2, 3844;") !=
      std::string::npos);
  CHECK(refused.err.find("(U+4063) at character 100, 3942; and 3742 other characters\n") != std::string::npos);
  CHECK(refused.err.find("'\\n' a backslash and an n") != std::string::npos);
}

}  // namespace minnow::test
