// GPT-2's tokenizer: strings of many scripts to tiktoken's ids and back. The part of the vocabulary that they need is
// in tests/fixtures/gpt2; with GPT2_RANKS=FILE in the environment, a rank file of tiktoken, all of it is tried as well.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/model/hand_built.hpp"
#include "tests/session/rig.hpp"
#include "tests/text/naive_bpe.hpp"
#include "tools/convert/vocabulary.hpp"

namespace minnow::test {
namespace {

const std::string kFolder = "tests/fixtures/gpt2/";

struct Known {
  std::string text;
  std::vector<Token> ids;
};

std::vector<Known> known_strings() {
  std::vector<Known> out;
  std::ifstream file(kFolder + "strings.txt");
  for (std::string line; std::getline(file, line);) {
    Known known;
    const std::size_t space = line.find(' ');
    REQUIRE(space != std::string::npos);
    for (std::size_t i = 0; i < space; i += 2) {
      known.text += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
    }
    std::istringstream ids(line.substr(space));
    for (Token id = 0; ids >> id;) known.ids.push_back(id);
    out.push_back(known);
  }
  REQUIRE(out.size() == 723);
  return out;
}

// The part of the vocabulary in the fixture, its ids counted from 0 without the gaps; `ids` are the true ones.
HandTokenizer partial_vocabulary(std::vector<Token>* ids) {
  struct Row {
    Token left = 0, right = 0;
    std::string piece;
  };
  std::map<Token, Row> rows;
  std::vector<Token> byte_ids;
  std::ifstream bytes(kFolder + "bytes.txt");
  for (Token id = 0; bytes >> id;) {
    rows[id].piece = std::string(1, static_cast<char>(byte_ids.size()));
    byte_ids.push_back(id);
  }
  REQUIRE(byte_ids.size() == 256);
  std::ifstream merges(kFolder + "merges.txt");
  Token id = 0, left = 0, right = 0;
  while (merges >> id >> left >> right) rows[id] = {left, right, rows.at(left).piece + rows.at(right).piece};

  HandTokenizer t;
  t.kind = 3;
  t.split = 1;
  std::map<Token, std::uint32_t> dense;
  for (const auto& [true_id, row] : rows) {
    dense[true_id] = static_cast<std::uint32_t>(ids->size());
    ids->push_back(true_id);
    t.pieces.push_back(row.piece);
    if (row.piece.size() > 1) {
      t.merges.push_back(
          {dense.at(row.left), dense.at(row.right), static_cast<std::uint32_t>(true_id), dense[true_id]});
    }
  }
  for (const Token byte : byte_ids) t.byte_id.push_back(dense.at(byte));
  return t.finish();
}

// Encodes every string and decodes it; how many went wrong. `ids`: true ids of the model's, or empty.
int count_wrong(const Tokenizer& tokenizer, const std::vector<Token>& ids) {
  int wrong = 0;
  for (const Known& known : known_strings()) {
    std::vector<Token> out(known.text.size());
    EncodeResult result;
    const Status status = tokenizer.encode(known.text, {out.data(), out.size()}, &result);
    out.resize(result.tokens);
    std::string back;
    for (Token& token : out) {
      back += tokenizer.piece(token);
      if (!ids.empty()) token = ids[static_cast<std::size_t>(token)];
    }
    const bool right = status == Status::ok && result.bytes == known.text.size() && out == known.ids;
    wrong += !right || back != known.text;
  }
  return wrong;
}

}  // namespace

TEST_CASE("gpt2: strings to ids and back") {
  std::vector<Token> ids;
  HandShape shape;
  shape.tokenizer = partial_vocabulary(&ids);
  shape.vocab_size = shape.tokenizer.n_tokens;
  const AlignedBytes file = hand_built(shape);
  const Model model = open_model(file);
  Tokenizer tokenizer;
  REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
  CHECK(count_wrong(tokenizer, ids) == 0);
}

TEST_CASE("gpt2: strings to ids and back, the whole vocabulary") {
  const char* const ranks = std::getenv("GPT2_RANKS");
  if (ranks == nullptr) return;
  const std::string section = convert::make_tokenizer_section(convert::read_vocabulary(ranks, 50257, ""));
  HandShape shape;
  shape.vocab_size = 50257;
  shape.section = section;
  const AlignedBytes file = hand_built(shape);
  const Model model = open_model(file);
  Tokenizer tokenizer;
  REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
  CHECK(tokenizer.n_tokens() == 50257);
  CHECK(tokenizer.piece(50256) == "<|endoftext|>");
  CHECK(count_wrong(tokenizer, {}) == 0);
}

}  // namespace minnow::test
