// generate(): against a loop written out with Session and Sampler, and each way to end.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/session/rig.hpp"

namespace minnow {
namespace {

using minnow::test::AlignedBytes;
using minnow::test::hand_built;
using minnow::test::HandShape;
using minnow::test::open_model;
using minnow::test::Rig;

// Eleven ids in the logits, nine with text, one of them without any.
HandShape text_shape() {
  HandShape shape;
  shape.amplitude = 0.3f;
  shape.pieces = {"\n", "a", "b", "c", "@", "ab", "\xe2\x82", "\xac", "\xc3\xa9"};
  return shape;
}

struct Written {
  std::string text;
  std::vector<Token> tokens;
  std::size_t refuse_token = SIZE_MAX;  // the sink says stop at this one
  std::size_t refuse_text = SIZE_MAX;
  std::size_t texts = 0;

  static bool on_text(void* user, std::string_view text) {
    Written& self = *static_cast<Written*>(user);
    self.text += text;
    return ++self.texts != self.refuse_text;
  }
  static bool on_token(void* user, Token token) {
    Written& self = *static_cast<Written*>(user);
    self.tokens.push_back(token);
    return self.tokens.size() != self.refuse_token;
  }
};

struct World {
  AlignedBytes file;
  Model model;
  Tokenizer tokenizer;
  Rig rig;
  Sampler sampler;
  Written written;
  GenerateConfig config;
  GenerateResult result;

  explicit World(const SessionConfig& session = {}, std::uint64_t seed = 1)
      : file(hand_built(text_shape())), model(open_model(file)), rig(model, session) {
    REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
    REQUIRE(Sampler::create({1, 0, 1, 0, seed}, &sampler) == Status::ok);
    config.on_text = Written::on_text;
    config.on_token = Written::on_token;
    config.user = &written;
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Status run(const std::vector<Token>& prompt) {
    return generate(rig.session, &tokenizer, sampler, {prompt.data(), prompt.size()}, config, &result);
  }
};

// The same by hand: every picked token is fed.
std::vector<Token> by_hand(World& world, const std::vector<Token>& prompt, std::size_t n) {
  std::vector<Token> tokens;
  REQUIRE(world.rig.session.feed({prompt.data(), prompt.size()}) == Status::ok);
  while (tokens.size() < n) {
    Token token = 0;
    REQUIRE(world.sampler.pick(world.rig.session.logits().first(9), &token) == Status::ok);
    REQUIRE(world.rig.session.feed({&token, 1}) == Status::ok);
    tokens.push_back(token);
  }
  return tokens;
}

std::string decode(const World& world, const std::vector<Token>& tokens) {
  std::string text;
  for (const Token token : tokens) text += world.tokenizer.piece(token);
  return text;
}

}  // namespace

TEST_CASE("generate: the loop, past the end of the context") {
  World world;
  World hand;
  world.config.max_tokens = 60;
  CHECK(world.run({1, 2}) == Status::ok);
  const std::vector<Token> expected = by_hand(hand, {1, 2}, 60);
  CHECK(world.written.tokens == expected);
  CHECK(world.written.text == decode(world, expected));
  CHECK(world.result.tokens == 60);
  CHECK(!world.result.stopped);
  for (const Token token : world.written.tokens) CHECK(token < 9);  // only ids that have text
  CHECK(minnow::test::same_bits(world.rig.session.logits(), hand.rig.session.logits()));
}

TEST_CASE("generate: two calls give what one call gives") {
  World whole;
  whole.config.max_tokens = 30;
  CHECK(whole.run({3}) == Status::ok);
  World parts;
  parts.config.max_tokens = 11;
  CHECK(parts.run({3}) == Status::ok);
  parts.config.max_tokens = 19;
  CHECK(parts.run({}) == Status::ok);
  CHECK(parts.result.tokens == 19);
  CHECK(parts.written.tokens == whole.written.tokens);
}

TEST_CASE("generate: the stop text ends it, across tokens, and is not shown") {
  World free;
  free.config.max_tokens = 200;
  REQUIRE(free.run({0}) == Status::ok);
  int across = 0;
  for (std::size_t at = 3; at + 4 < free.written.text.size(); at += 7) {
    const std::string stop = free.written.text.substr(at, 4);
    const std::size_t found = free.written.text.find(stop);
    World world;
    world.config.max_tokens = 200;
    world.config.stop = stop;
    CHECK(world.run({0}) == Status::ok);
    CHECK(world.result.stopped);
    CHECK(world.written.text == free.written.text.substr(0, found));
    CHECK(world.result.tokens == world.written.tokens.size());
    CHECK(decode(world, world.written.tokens).find(stop) == found);
    World hand;  // the tokens of the stop text were fed too
    CHECK(by_hand(hand, {0}, world.result.tokens) == world.written.tokens);
    CHECK(minnow::test::same_bits(world.rig.session.logits(), hand.rig.session.logits()));
    across += world.tokenizer.piece(world.written.tokens.back()).size() < stop.size();
  }
  CHECK(across > 10);
}

TEST_CASE("generate: no tokens") {
  World world;
  world.config.max_tokens = 0;
  CHECK(world.run({1, 2, 3}) == Status::ok);
  CHECK(world.result.tokens == 0);
  CHECK(world.rig.session.position() == 3);
  CHECK(world.written.text.empty());
}

TEST_CASE("generate: a sink that returns false cancels") {
  World world;
  world.written.refuse_token = 5;
  CHECK(world.run({0}) == Status::cancelled);
  CHECK(world.result.tokens == 5);
  CHECK(world.rig.session.position() == 5);  // the prompt and the four before
  World other;
  other.written.refuse_text = 3;
  CHECK(other.run({0}) == Status::cancelled);
  CHECK(other.written.texts == 3);
}

TEST_CASE("generate: a full context under `stop`") {
  SessionConfig session;
  session.context = 8;
  session.when_full = WhenFull::stop;
  World world(session);
  world.config.max_tokens = 100;
  CHECK(world.run({1, 2, 3}) == Status::context_full);
  CHECK(world.result.tokens == 6);  // five are fed, the sixth is shown and no longer is
  CHECK(world.written.text == decode(world, world.written.tokens));
  CHECK(world.rig.session.position() == 8);

  World exact(session);
  exact.config.max_tokens = 6;
  CHECK(exact.run({1, 2, 3}) == Status::context_full);  // all that was asked for is there, but the last is not fed
  CHECK(exact.result.tokens == 6);
  World fitting(session);
  fitting.config.max_tokens = 5;
  CHECK(fitting.run({1, 2, 3}) == Status::ok);
  CHECK(fitting.rig.session.position() == 8);

  World longer(session);
  longer.result.tokens = 77;
  CHECK(longer.run(std::vector<Token>(9, 1)) == Status::context_full);
  CHECK(longer.result.tokens == 0);
  CHECK(longer.rig.session.position() == 0);
}

TEST_CASE("generate: refuses what cannot work, and leaves the result alone") {
  World world;
  world.result.tokens = 77;
  CHECK(world.run({}) == Status::bad_argument);  // no logits yet
  CHECK(world.run({11}) == Status::bad_argument);
  CHECK(world.run({-1}) == Status::bad_argument);
  CHECK(generate(world.rig.session, nullptr, world.sampler, {}, world.config) == Status::bad_argument);
  Tokenizer never_opened;
  CHECK(generate(world.rig.session, &never_opened, world.sampler, {}, world.config) == Status::bad_argument);
  Session none;
  CHECK(generate(none, &world.tokenizer, world.sampler, {}, world.config, &world.result) == Status::wrong_state);
  CHECK(world.result.tokens == 77);

  GenerateConfig ids_only;  // needs no tokenizer
  ids_only.max_tokens = 4;
  const Token prompt = 1;
  CHECK(generate(world.rig.session, nullptr, world.sampler, {&prompt, 1}, ids_only) == Status::ok);
  CHECK(world.rig.session.position() == 5);
}

TEST_CASE("generate: a callback cannot feed, reset or generate with the session that called it") {
  struct Inside {
    World* world = nullptr;
    std::vector<Status> seen;
  };
  World world;
  Inside inside;
  inside.world = &world;
  GenerateConfig config;
  config.max_tokens = 3;
  config.user = &inside;
  config.on_token = [](void* user, Token) {
    Inside& i = *static_cast<Inside*>(user);
    const Token token = 1;
    const std::uint32_t before = i.world->rig.session.position();
    i.seen.push_back(i.world->rig.session.feed({&token, 1}));
    i.seen.push_back(generate(i.world->rig.session, nullptr, i.world->sampler, {&token, 1}, GenerateConfig()));
    i.world->rig.session.reset();
    CHECK(i.world->rig.session.position() == before);
    return true;
  };
  const Token prompt = 2;
  CHECK(generate(world.rig.session, nullptr, world.sampler, {&prompt, 1}, config) == Status::ok);
  CHECK(inside.seen == std::vector<Status>(6, Status::wrong_state));
  CHECK(world.rig.session.feed({&prompt, 1}) == Status::ok);
}

TEST_CASE("generate: a stop token is picked, and neither shown, counted nor fed") {
  World world;
  World hand;
  const std::vector<Token> expected = by_hand(hand, {1, 2}, 40);
  world.config.max_tokens = 40;
  world.config.stop_token = expected[20];
  const auto first = std::find(expected.begin(), expected.end(), expected[20]);
  CHECK(world.run({1, 2}) == Status::ok);
  CHECK(world.written.tokens == std::vector<Token>(expected.begin(), first));
  CHECK(world.result.stopped);
  CHECK(world.result.tokens == world.written.tokens.size());
  World again;
  by_hand(again, {1, 2}, world.written.tokens.size());
  CHECK(minnow::test::same_bits(world.rig.session.logits(), again.rig.session.logits()));
}

// What on_prompt was told, and when it says stop.
struct Passes {
  std::vector<std::size_t> done;
  std::vector<std::size_t> total;
  std::size_t refuse = SIZE_MAX;
  Session* session = nullptr;

  static bool on_prompt(void* user, std::size_t done, std::size_t total) {
    Passes& self = *static_cast<Passes*>(user);
    const Token token = 1;
    CHECK(self.session->feed({&token, 1}) == Status::wrong_state);
    CHECK(self.session->rewind(1) == Status::wrong_state);
    self.done.push_back(done);
    self.total.push_back(total);
    return self.done.size() != self.refuse;
  }
};

TEST_CASE("generate: on_prompt hears of every batch of the prompt, and its false ends it there") {
  SessionConfig session;
  session.batch = 4;
  const std::vector<Token> prompt = minnow::test::some_tokens(10, 9);
  World plain(session);
  plain.config.max_tokens = 5;
  REQUIRE(generate(plain.rig.session, &plain.tokenizer, plain.sampler, {prompt.data(), prompt.size()}, plain.config) ==
          Status::ok);

  World world(session);
  Passes passes;
  passes.session = &world.rig.session;
  GenerateConfig config;
  config.max_tokens = 5;
  config.on_prompt = Passes::on_prompt;
  config.user = &passes;
  REQUIRE(generate(world.rig.session, nullptr, world.sampler, {prompt.data(), prompt.size()}, config) == Status::ok);
  CHECK(passes.done == std::vector<std::size_t>{4, 8, 10});
  CHECK(passes.total == std::vector<std::size_t>{10, 10, 10});
  CHECK(minnow::test::same_bits(world.rig.session.logits(), plain.rig.session.logits()));

  World stopped(session);
  passes = Passes();
  passes.refuse = 2;
  passes.session = &stopped.rig.session;
  GenerateResult result;
  CHECK(generate(stopped.rig.session, nullptr, stopped.sampler, {prompt.data(), prompt.size()}, config, &result) ==
        Status::cancelled);
  CHECK(result.tokens == 0);
  CHECK(stopped.rig.session.position() == 8);
  CHECK(stopped.rig.session.logits().empty());
  // From there the rest of the prompt gives what the whole gives.
  config.on_prompt = nullptr;
  REQUIRE(generate(stopped.rig.session, nullptr, stopped.sampler, {prompt.data() + 8, 2}, config) == Status::ok);
  CHECK(minnow::test::same_bits(stopped.rig.session.logits(), plain.rig.session.logits()));
}

TEST_CASE("generate: at the edge on_prompt counts what is computed, not what is given") {
  SessionConfig session;
  session.batch = 4;
  session.context = 10;
  World world(session);
  Passes passes;
  passes.session = &world.rig.session;
  GenerateConfig config;
  config.max_tokens = 0;
  config.on_prompt = Passes::on_prompt;
  config.user = &passes;
  const std::vector<Token> prompt = minnow::test::some_tokens(28, 9);
  // Of 22 tokens the window at the end holds 5 + 2; 6 more find room for 3, then 5 of the window are encoded again.
  REQUIRE(generate(world.rig.session, nullptr, world.sampler, {prompt.data(), 22}, config) == Status::ok);
  CHECK(passes.done == std::vector<std::size_t>{4, 7});
  CHECK(passes.total == std::vector<std::size_t>{7, 7});
  passes = Passes();
  passes.session = &world.rig.session;
  REQUIRE(generate(world.rig.session, nullptr, world.sampler, {prompt.data() + 22, 6}, config) == Status::ok);
  CHECK(passes.done == std::vector<std::size_t>{2, 6, 8});
  CHECK(passes.total == std::vector<std::size_t>{8, 8, 8});
  CHECK(world.rig.session.position() == 8);
}

}  // namespace minnow
