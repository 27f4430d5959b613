// The program with tokenizers that merge: begin tokens, special tokens, text in chunks, losses of texts.
#include "tests/text/naive_bpe.hpp"
#include "tests/tools/child.hpp"

namespace minnow::test {
namespace {

HandShape with_tokenizer(const HandTokenizer& t) {
  HandShape shape = ModelFile::default_shape();
  shape.pieces.clear();
  shape.tokenizer = t;
  shape.vocab_size = t.n_tokens + 3;
  return shape;
}

// 0 <s>, 1 a space, 2 a, 3 b, 4 " a", 5 "ab", 6 <e>, 7 and 8 the bytes of e with an acute accent.
HandTokenizer scored() {
  HandTokenizer t;
  t.kind = 4;
  t.pieces = {"<s>", " ", "a", "b", " a", "ab", "<e>", "\xc3", "\xa9"};
  t.byte_id.assign(256, 0xffffffffu);
  t.byte_id[0xc3] = 7;
  t.byte_id[0xa9] = 8;
  t.merges = {{1, 2, 5, 4}, {2, 3, 6, 5}};
  t.begin = 1;
  t.space_prefix = 1;
  t.special = {6};
  return t.finish({0, 6});
}

HandTokenizer byte_level(bool specials) {
  Dice dice = {3};
  HandTokenizer t = random_byte_bpe(dice, "abc '\n", 80, 8, true);
  t.split = 1;
  if (specials) {
    t.special = {static_cast<std::uint32_t>(t.pieces.size())};
    t.pieces.push_back("<|end|>");
  }
  return t.finish();
}

std::vector<Token> parse_ids(const std::string& text) {
  std::vector<Token> ids;
  for (std::size_t at = 0; at < text.size() && text[at] != '\n';) {
    std::size_t length = 0;
    ids.push_back(std::stoi(text.substr(at), &length));
    at += length + 1;
  }
  return ids;
}

}  // namespace

TEST_CASE("tokenizers: tokens with a begin token and back") {
  const ModelFile file(with_tokenizer(scored()));
  Outcome o = run_program({"tokens", file.path, "--json", "-p", "ab<e>\xc3\xa9"});
  CHECK(o.status == 0);
  CHECK(json_value(o.out, "ids") == "[0, 4, 3, 6, 7, 8]");
  CHECK(run_program({"tokens", file.path, "--decode", "0 4 5 6 7 8"}).out == "aab<e>\xc3\xa9");
  CHECK(run_program({"tokens", file.path, "--decode", "4 5"}).out == " aab");
  o = run_program({"tokens", file.path, "--json", "-p", ""});
  CHECK(json_value(o.out, "ids") == "[0]");
  o = run_program({"tokens", file.path, "-p", "axb"});
  CHECK(o.status == 2);
  CHECK(o.err.find("'x' (U+0078) at character 2") != std::string::npos);
  // What stands before and behind a character that is left out is encoded apart: no 5, "ab".
  o = run_program({"tokens", file.path, "--json", "--unknown", "skip", "-p", "axb"});
  CHECK(json_value(o.out, "ids") == "[0, 4, 3]");
}

TEST_CASE("tokenizers: info") {
  const ModelFile file(with_tokenizer(scored()));
  const Outcome json = run_program({"info", file.path, "--json"});
  CHECK(
      json.out.find("\"tokenizer\": {\"kind\": \"scored_bpe\", \"split\": \"none\", \"n_merges\": 2, \"n_special\": 1, "
                    "\"begin\": 0, \"space_prefix\": true, \"max_piece_bytes\": 3}") != std::string::npos);
  CHECK(run_program({"info", file.path})
            .out.find("scored_bpe, 2 merges, 1 special token, texts begin with id 0 and a space, longest 3 bytes") !=
        std::string::npos);
}

TEST_CASE("tokenizers: run shows the prompt without what was put before it, and ends at the begin token") {
  const ModelFile file(with_tokenizer(scored()));
  Tokenizer tokenizer;
  const Model model = open_model(file.bytes);
  REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
  CHECK(run_program({"run", file.path, "-p", "ab a", "-n", "0"}).out == "ab a");
  CHECK(run_program({"run", file.path, "-n", "0"}).out.empty());
  CHECK(run_program({"run", file.path, "-n", "0", "--ids"}).out == "0\n");
  int ended = 0;
  int without_space = 0;
  for (int seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    // What generate() gives without a stop token.
    Rig rig(model, {});
    Sampler sampler;
    REQUIRE(Sampler::create({1, 0, 1, 0, static_cast<std::uint64_t>(seed)}, &sampler) == Status::ok);
    std::vector<Token> expected;
    GenerateConfig config;
    config.max_tokens = 30;
    config.user = &expected;
    config.on_token = [](void* user, Token token) {
      static_cast<std::vector<Token>*>(user)->push_back(token);
      return true;
    };
    const Token begin = tokenizer.begin_token();
    REQUIRE(generate(rig.session, nullptr, sampler, {&begin, 1}, config) == Status::ok);
    const auto end = std::find(expected.begin(), expected.end(), begin);
    ended += end != expected.end();
    expected.erase(end, expected.end());
    std::string text;
    Token previous = begin;
    for (const Token token : expected) {
      text += tokenizer.piece(token, previous);
      previous = token;
    }
    without_space += !expected.empty() && tokenizer.piece(expected[0])[0] == ' ';

    const std::vector<std::string> options = {"run", file.path, "-n", "30",     "--temp",
                                              "1",   "--top-k", "0",  "--seed", std::to_string(seed)};
    std::vector<std::string> as_ids = options;
    as_ids.insert(as_ids.end(), {"--ids", "--no-echo", "-p", std::to_string(begin)});
    CHECK(parse_ids(run_program(as_ids).out) == expected);
    CHECK(run_program(options).out == text);
  }
  CHECK(ended > 0);
  CHECK(without_space > 0);
}

TEST_CASE("tokenizers: a text in chunks is the whole text") {
  for (const HandTokenizer& t : {byte_level(true), scored()}) {
    const ModelFile file(with_tokenizer(t));
    Tokenizer tokenizer;
    const Model model = open_model(file.bytes);
    REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
    Dice dice = {5};
    std::vector<std::string> letters = {"a", "b", " ", "\xc3\xa9", "a", "b"};
    if (t.kind == 3) letters.insert(letters.end(), {"c", "'", "\n", "<|end|>", "<|e"});
    std::string text = random_text(dice, letters, 60000) + std::string(200000, 'a');
    text += random_text(dice, letters, 20000);
    std::vector<Token> expected(text.size() + 2);
    EncodeResult result;
    REQUIRE(tokenizer.encode(text, {true, true}, {expected.data(), expected.size()}, &result) == Status::ok);
    expected.resize(result.tokens);
    const Outcome o = run_program({"tokens", file.path, "--json", "-f", "-"}, text);
    CHECK(o.status == 0);
    std::string ids = "[";
    for (const Token id : expected) ids += (ids.size() == 1 ? "" : ", ") + std::to_string(id);
    CHECK(json_value(o.out, "ids") == ids + "]");
    CHECK(run_program({"run", file.path, "-f", "-", "-n", "0"}, text).out == text);
  }
}

TEST_CASE("tokenizers: eval takes a text as plain text") {
  const ModelFile file(with_tokenizer(byte_level(true)));
  Tokenizer tokenizer;
  const Model model = open_model(file.bytes);
  REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
  const std::string text = "abc <|end|> it's a\n\nbc  cab\xff <|end|>abcabc  ccc 'll";
  std::vector<Token> ids(text.size());
  EncodeResult result;
  REQUIRE(tokenizer.encode(text, {ids.data(), ids.size()}, &result) == Status::ok);
  std::string raw;
  for (std::size_t i = 0; i < result.tokens; ++i) {
    raw += static_cast<char>(ids[i] & 255);
    raw += static_cast<char>(ids[i] >> 8);
  }
  TemporaryFolder folder;
  const Outcome by_text = run_program({"eval", file.path, "--json", "--text", folder.write("text", text)});
  const Outcome by_ids = run_program({"eval", file.path, "--json", "--ids", folder.write("ids", raw)});
  CHECK(by_text.status == 0);
  CHECK(by_text.out == by_ids.out);
}

TEST_CASE("tokenizers: a signal while text that cannot be cut is encoded ends tokens") {
  const ModelFile file(with_tokenizer(byte_level(false)));
  const std::string text(4 << 20, 'a');
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  REQUIRE(null >= 0);
  const pid_t child = start_program({"tokens", file.path, "-f", "-"}, ends[0], null, STDERR_FILENO);
  close(ends[0]);
  close(null);
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t n = write(ends[1], text.data() + at, text.size() - at);
    REQUIRE(n > 0);
    at += static_cast<std::size_t>(n);
  }
  close(ends[1]);
  usleep(80000);  // it has read all of it by now, and encodes it at once
  kill(child, SIGTERM);
  CHECK(wait_for(child) == 130);
}

TEST_CASE("tokenizers: text that cannot be cut is refused from 16 MiB on" * doctest::skip(kSanitized)) {
  const ModelFile file(with_tokenizer(byte_level(false)));
  const std::string text = file.folder.write("text", std::string((17u << 20), 'a'));
  const Outcome o = run_program({"tokens", file.path, "-f", text});
  CHECK(o.status == 1);
  CHECK(o.out.empty());
  CHECK(o.one_line_with("over 16777216 bytes of text that must be encoded together"));
}

}  // namespace minnow::test
