// What happens at the edge of the context, token by token: half, slide, stop; and misuse of a session.
#include "session/state.hpp"
#include "tests/session/rig.hpp"

using namespace minnow;
using namespace minnow::test;

namespace {

constexpr std::uint32_t kContext = 10;

AlignedBytes small_model() {
  HandShape shape;
  shape.block_size = 12;
  shape.type = 2;
  return hand_built(shape);
}

// Logits of a window encoded from nothing.
std::vector<float> fresh(const Model& model, const std::vector<Token>& window) {
  SessionConfig config;
  config.context = kContext;
  Rig rig(model, config);
  REQUIRE(rig.session.feed({window.data(), window.size()}) == Status::ok);
  const Span<const float> l = rig.session.logits();
  return {l.begin(), l.end()};
}

// The definition of design, one token at a time: `keep` newest tokens stay when position kContext is needed.
std::vector<std::vector<float>> expected_logits(const Model& model, const std::vector<Token>& tokens,
                                                std::size_t keep) {
  std::vector<std::vector<float>> out;
  std::vector<Token> window;
  for (const Token token : tokens) {
    if (window.size() == kContext) window.erase(window.begin(), window.end() - static_cast<std::ptrdiff_t>(keep));
    window.push_back(token);
    out.push_back(fresh(model, window));
  }
  return out;
}

}  // namespace

TEST_CASE("edge: half and slide give what their definition gives, however the tokens are fed") {
  const AlignedBytes file = small_model();
  const Model model = open_model(file);
  const std::vector<Token> tokens = some_tokens(47, 11);
  for (const WhenFull when : {WhenFull::half, WhenFull::slide}) {
    const std::size_t keep = when == WhenFull::half ? kContext / 2 : kContext - 1;
    const std::vector<std::vector<float>> expected = expected_logits(model, tokens, keep);
    SessionConfig config;
    config.context = kContext;
    config.when_full = when;
    config.batch = 3;
    for (std::size_t split = 1; split <= tokens.size(); ++split) {
      CAPTURE(static_cast<int>(when));
      CAPTURE(split);
      Rig rig(model, config);
      Rig keeping(model, config);
      for (std::size_t at = 0; at < tokens.size(); at += split) {
        const std::size_t n = tokens.size() - at < split ? tokens.size() - at : split;
        const Span<const Token> piece(tokens.data() + at, n);
        REQUIRE(rig.session.feed(piece) == Status::ok);
        const std::vector<float>& last = expected[at + n - 1];
        REQUIRE(same_bits(rig.session.logits(), {last.data(), last.size()}));
        std::vector<float> rows(n * 11);
        REQUIRE(keeping.session.feed(piece, {rows.data(), rows.size()}) == Status::ok);
        for (std::size_t i = 0; i < n; ++i) {
          REQUIRE(same_bits({rows.data() + i * 11, 11}, {expected[at + i].data(), 11}));
        }
        REQUIRE(rig.session.position() == keeping.session.position());
      }
    }
  }
}

TEST_CASE("edge: a context of one position works under every policy") {
  const AlignedBytes file = small_model();
  const Model model = open_model(file);
  for (const WhenFull when : {WhenFull::half, WhenFull::slide}) {
    SessionConfig config;
    config.context = 1;
    config.when_full = when;
    Rig rig(model, config);
    const std::vector<Token> tokens = some_tokens(5, 11);
    REQUIRE(rig.session.feed({tokens.data(), 5}) == Status::ok);
    CHECK(rig.session.position() == 1);
    const std::vector<float> expected = fresh(model, {tokens[4]});
    CHECK(same_bits(rig.session.logits(), {expected.data(), expected.size()}));
  }
}

TEST_CASE("edge: stop feeds everything or nothing") {
  const AlignedBytes file = small_model();
  const Model model = open_model(file);
  SessionConfig config;
  config.context = kContext;
  config.when_full = WhenFull::stop;
  Rig rig(model, config);
  const std::vector<Token> tokens = some_tokens(12, 11);
  REQUIRE(rig.session.feed({tokens.data(), 9}) == Status::ok);
  const std::vector<float> before(rig.session.logits().begin(), rig.session.logits().end());
  CHECK(rig.session.feed({tokens.data(), 2}) == Status::context_full);
  CHECK(rig.session.position() == 9);
  CHECK(same_bits(rig.session.logits(), {before.data(), before.size()}));
  CHECK(rig.session.feed({tokens.data(), 1}) == Status::ok);
  CHECK(rig.session.feed({tokens.data(), 1}) == Status::context_full);
  rig.session.reset();
  CHECK(rig.session.position() == 0);
  CHECK(rig.session.logits().empty());
  CHECK(rig.session.feed({tokens.data(), 10}) == Status::ok);
}

TEST_CASE("feed: bad ids, null pointers and short outputs are refused before anything happens") {
  const AlignedBytes file = small_model();
  const Model model = open_model(file);
  Rig rig(model, {});
  const Token good[2] = {1, 2};
  REQUIRE(rig.session.feed({good, 2}) == Status::ok);
  const Token negative[2] = {0, -1};
  const Token beyond[2] = {0, 11};
  CHECK(rig.session.feed({negative, 2}) == Status::bad_argument);
  CHECK(rig.session.feed({beyond, 2}) == Status::bad_argument);
  CHECK(rig.session.feed({nullptr, 2}) == Status::bad_argument);
  float rows[21] = {};
  CHECK(rig.session.feed({good, 2}, {rows, 21}) == Status::output_too_small);
  CHECK(rig.session.feed({good, 2}, {nullptr, 22}) == Status::bad_argument);
  CHECK(rig.session.feed({}) == Status::ok);
  CHECK(rig.session.position() == 2);
  CHECK(rig.session.logits().size() == 11);
  Session none;
  CHECK(none.feed({good, 2}) == Status::wrong_state);
  CHECK(none.logits().empty());
  none.reset();
}

TEST_CASE("feed: a weight that is not finite ends the step with numeric on every instruction set") {
  for (const std::uint32_t type : {0u, 2u}) {
    HandShape shape;
    shape.type = type;
    AlignedBytes file = hand_built(shape);
    const Model model = open_model(file);
    // The last plain tensor of the file: ln_f's bias, 8 floats.
    const float nan = std::nanf("");
    std::memcpy(file.data() + file.size() - 32, &nan, sizeof nan);
    Isa isas[6];
    const std::size_t n = available_isas({isas, 6});
    for (std::size_t i = 0; i < n; ++i) {
      SessionConfig config;
      config.isa = isas[i];
      Rig rig(model, config);
      const Token token = 1;
      CHECK(rig.session.feed({&token, 1}) == Status::numeric);
      CHECK(rig.session.position() == 1);
      CHECK(rig.session.logits().empty());
      float rows[11];
      CHECK(rig.session.feed({&token, 1}, {rows, 11}) == Status::numeric);
    }
    Fault fault;
    CHECK(model.verify(&fault) == Status::corrupt);
  }
}
