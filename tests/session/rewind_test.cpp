// rewind(): what is fed after it gives the bits of a session that was never fed what was dropped; and where the cache
// no longer holds what that needs.
#include "session/window.hpp"
#include "tests/session/rig.hpp"

using namespace minnow;
using namespace minnow::test;

namespace {

constexpr std::uint32_t kContext = 10;

AlignedBytes small_model(std::uint32_t type) {
  HandShape shape;
  shape.block_size = 12;
  shape.type = type;
  return hand_built(shape);
}

SessionConfig small_context(WhenFull when_full) {
  SessionConfig config;
  config.context = kContext;
  config.when_full = when_full;
  config.batch = 3;
  return config;
}

// Feeds all but the last `dropped` tokens and then `next`: what a rewound session must equal.
std::vector<float> never_fed(const Model& model, const SessionConfig& config, std::vector<Token> tokens,
                             std::size_t dropped, Token next) {
  tokens.resize(tokens.size() - dropped);
  tokens.push_back(next);
  Rig rig(model, config);
  return all_logits(rig.session, tokens, tokens.size());
}

}  // namespace

TEST_CASE("rewind: the same bits as if the dropped tokens had never been fed, before and after an edge") {
  for (const std::uint32_t type : {0u, 2u}) {
    const AlignedBytes file = small_model(type);
    const Model model = open_model(file);
    for (const WhenFull when : {WhenFull::half, WhenFull::slide, WhenFull::stop}) {
      const SessionConfig config = small_context(when);
      const std::uint32_t longest = when == WhenFull::stop ? kContext : 33;
      for (std::uint32_t fed = 1; fed <= longest; ++fed) {
        const std::vector<Token> tokens = some_tokens(fed, 11);
        const std::uint32_t position = tokens_in_window(when, kContext, 0, fed);
        const std::uint32_t fewest = fed > kContext ? kept_when_full(when, kContext) + 1 : 0;
        for (std::uint32_t dropped = 0; dropped <= position; ++dropped) {
          CAPTURE(static_cast<int>(when));
          CAPTURE(fed);
          CAPTURE(dropped);
          Rig rig(model, config);
          REQUIRE(rig.session.feed({tokens.data(), fed}) == Status::ok);
          REQUIRE(rig.session.position() == position);
          const Status status = rig.session.rewind(dropped);
          if (dropped != 0 && position - dropped < fewest) {
            CHECK(status == Status::wrong_state);
            CHECK(rig.session.position() == position);
            CHECK(rig.session.logits().size() == 11);
            continue;
          }
          REQUIRE(status == Status::ok);
          CHECK(rig.session.position() == position - dropped);
          CHECK(rig.session.logits().size() == (dropped == 0 ? 11 : 0));
          const Token next = 7;
          if (when == WhenFull::stop && position - dropped == kContext) continue;
          REQUIRE(rig.session.feed({&next, 1}) == Status::ok);
          const std::vector<float> expected = never_fed(model, config, tokens, dropped, next);
          const std::size_t last = expected.size() - 11;
          CHECK(same_bits(rig.session.logits(), {expected.data() + last, 11}));
        }
      }
    }
  }
}

TEST_CASE("rewind: where an edge was crossed by singles, by a batch, or while all logits were kept") {
  const AlignedBytes file = small_model(2);
  const Model model = open_model(file);
  const std::vector<Token> tokens = some_tokens(18, 11);
  std::vector<float> rows(tokens.size() * 11);
  for (int way = 0; way < 3; ++way) {
    CAPTURE(way);
    Rig rig(model, small_context(WhenFull::half));
    if (way == 0) {
      for (const Token token : tokens) REQUIRE(rig.session.feed({&token, 1}) == Status::ok);
    } else if (way == 1) {
      REQUIRE(rig.session.feed({tokens.data(), tokens.size()}) == Status::ok);
    } else {
      REQUIRE(rig.session.feed({tokens.data(), tokens.size()}, {rows.data(), rows.size()}) == Status::ok);
    }
    REQUIRE(rig.session.position() == 8);  // 16 and 17 since the second edge, and 6 before
    CHECK(rig.session.rewind(3) == Status::wrong_state);
    CHECK(rig.session.rewind(2) == Status::ok);
    CHECK(rig.session.rewind(1) == Status::wrong_state);
    CHECK(rig.session.position() == 6);
    rig.session.reset();
    REQUIRE(rig.session.feed({tokens.data(), 4}) == Status::ok);
    CHECK(rig.session.rewind(4) == Status::ok);
    CHECK(rig.session.position() == 0);
  }
}

TEST_CASE("rewind: more than there is, and sessions that are not there") {
  const AlignedBytes file = small_model(0);
  const Model model = open_model(file);
  Session none;
  CHECK(none.rewind(0) == Status::wrong_state);
  Rig rig(model, {});
  CHECK(rig.session.rewind(0) == Status::ok);
  CHECK(rig.session.rewind(1) == Status::bad_argument);
  const Token token = 3;
  REQUIRE(rig.session.feed({&token, 1}) == Status::ok);
  CHECK(rig.session.rewind(2) == Status::bad_argument);
  CHECK(rig.session.rewind(UINT32_MAX) == Status::bad_argument);
  CHECK(rig.session.position() == 1);
  CHECK(rig.session.logits().size() == 11);
}
