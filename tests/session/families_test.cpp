// Sessions of every family against double precision, within a stated bound.
#include "tests/session/families.hpp"

#include "base/crc32.hpp"
#include "tests/session/plain_model.hpp"
#include "tests/session/rig.hpp"

using namespace minnow;
using namespace minnow::test;

namespace {

// The largest error of a session's logits, as a share of the largest logit.
double error_of(const HandShape& shape) {
  HandBuilder builder(shape);
  const AlignedBytes file = builder.build();
  const Model model = open_model(file);
  const std::vector<Token> tokens = some_tokens(shape.block_size, shape.vocab_size);
  const std::vector<PlainModel::Row> exact = PlainModel(shape, builder.plain()).logits(tokens);
  SessionConfig config;
  config.kv = KvType::f32;
  config.isa = Isa::reference;
  Rig rig(model, config);
  const std::vector<float> logits = all_logits(rig.session, tokens, tokens.size());
  double worst = 0, largest = 0;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    for (std::size_t id = 0; id < shape.vocab_size; ++id) {
      worst = std::fmax(worst, std::fabs(static_cast<double>(logits[t * shape.vocab_size + id]) - exact[t][id]));
      largest = std::fmax(largest, std::fabs(exact[t][id]));
    }
  }
  CHECK(largest > 1e-4);  // a model that says something
  return worst / largest;
}

std::vector<float> logits_after(const HandShape& shape) {
  const AlignedBytes file = hand_built(shape);
  const Model model = open_model(file);
  Rig rig(model, {});
  return all_logits(rig.session, some_tokens(shape.block_size, shape.vocab_size), 5);
}

}  // namespace

TEST_CASE("truth: logits of every family within 2e-6 of the largest") {  // 5.8e-7
  for (Family& family : families()) {
    CAPTURE(family.name);
    for (const std::uint32_t type : {0u, 1u}) {
      CAPTURE(type);
      family.shape.type = type;
      CHECK(error_of(family.shape) < 2e-6);
    }
  }
}

// The other tests compare tables of one build; this figure compares machines and compilers.
TEST_CASE("families: the same bits everywhere") {
  std::uint32_t sum = 0;
  for (Family& family : families()) {
    for (const std::uint32_t type : {0u, 1u, 2u, 3u}) {
      family.shape.type = type;
      const std::vector<float> logits = logits_after(family.shape);
      sum = crc32(sum, logits.data(), logits.size() * sizeof(float));
    }
  }
  CHECK(sum == 2119911464u);
}

// A config that allows every optional tensor, with one of them at a time.
TEST_CASE("truth: each bias and norm weight on its own") {
  HandShape base = small_shape();
  base.activation = 4, base.qk_norm = 2, base.embed_norm = 1, base.output = 1, base.positions = 2, base.rotary_dims = 8;
  base.bias = false, base.norm_weights = false;
  const std::vector<float> bare = logits_after(base);
  CHECK(error_of(base) < 2e-6);
  for (const std::uint32_t role : {3u, 4u, 16u, 17u, 19u, 20u, 21u, 23u, 24u, 25u, 27u, 29u, 31u, 64u, 65u, 67u}) {
    CAPTURE(role);
    HandShape shape = base;
    shape.with = {role};
    CHECK(error_of(shape) < 2e-6);
    CHECK(!same_bits(logits_after(shape), bare));
  }
}

// Each of these changes the logits, so none is read and then forgotten.
TEST_CASE("families: every field of the config that they bring counts") {
  HandShape base = rotary_shape(0);
  base.rotary_dims = 8;
  const std::vector<float> plain = logits_after(base);
  const auto differs = [&](auto change) {
    HandShape shape = base;
    change(shape);
    return !same_bits(logits_after(shape), plain);
  };
  CHECK(differs([](HandShape& s) { s.norm = 0; }));
  CHECK(differs([](HandShape& s) { s.pairing = 1; }));
  CHECK(differs([](HandShape& s) { s.rotary_dims = 6; }));
  CHECK(differs([](HandShape& s) { s.qk_norm = 1; }));
  CHECK(differs([](HandShape& s) { s.embed_norm = 1; }));
  CHECK(differs([](HandShape& s) { s.softcap = 2; }));
  CHECK(differs([](HandShape& s) { s.output = 1; }));
  CHECK(differs([](HandShape& s) { s.attention_scale = 0.1f; }));
  CHECK(differs([](HandShape& s) { s.n_kv_head = 2; }));
  for (const std::uint32_t activation : {1u, 2u, 3u}) {
    CHECK(differs([&](HandShape& s) { s.activation = activation; }));
  }
  // With weights, a norm before the rotation is not one after it; without, a rotation does not change a length.
  base.qk_norm = 1;
  HandShape after = base;
  after.qk_norm = 2;
  CHECK(!same_bits(logits_after(base), logits_after(after)));
}

TEST_CASE("families: at the edge, relative positions are encoded again like absolute ones") {
  for (const Family& family : families()) {
    CAPTURE(family.name);
    const AlignedBytes file = hand_built(family.shape);
    const Model model = open_model(file);
    SessionConfig config;
    config.context = family.shape.block_size / 2 * 2 > 8 ? 8 : 2;
    const std::size_t n = config.context;
    const std::vector<Token> tokens = some_tokens(n + n / 2, family.shape.vocab_size);
    Rig across(model, config);
    all_logits(across.session, tokens, 1);
    Rig fresh(model, config);  // `half` kept n / 2 tokens when it was full, and has filled up again
    REQUIRE(fresh.session.feed({tokens.data() + n / 2, n}) == Status::ok);
    CHECK(across.session.position() == n);
    CHECK(same_bits(across.session.logits(), fresh.session.logits()));
    config.when_full = WhenFull::ring;
    std::size_t bytes = 0;
    CHECK(Session::memory_needed(model, config, &bytes) == Status::unsupported);
  }
}
