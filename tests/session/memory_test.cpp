// Session memory: exact to the byte, pinned, the same on every instruction set.
#include "tests/session/families.hpp"
#include "tests/session/rig.hpp"

using namespace minnow;
using namespace minnow::test;

TEST_CASE("memory: the stated size works, one byte less does not, and nothing is written beyond it") {
  HandShape shape;
  for (const std::uint32_t type : {0u, 1u, 2u, 3u}) {
    shape.type = type;
    const AlignedBytes file = hand_built(shape);
    const Model model = open_model(file);
    SessionConfig config;
    std::size_t bytes = 0;
    REQUIRE(Session::memory_needed(model, config, &bytes) == Status::ok);
    AlignedBytes memory(bytes + 64);
    std::memset(memory.data(), 0x77, memory.size());
    Session session;
    std::size_t told = 0;
    CHECK(Session::create(model, config, {memory.data(), bytes - 1}, &session, &told) == Status::memory_too_small);
    CHECK(told == bytes);
    told = 0;
    CHECK(Session::create(model, config, {}, &session, &told) == Status::memory_too_small);
    CHECK(told == bytes);
    CHECK(session.position() == 0);
    CHECK(session.feed({}) == Status::wrong_state);  // untouched
    REQUIRE(Session::create(model, config, {memory.data(), bytes}, &session) == Status::ok);
    const std::vector<Token> tokens = some_tokens(40, shape.vocab_size);
    REQUIRE(session.feed({tokens.data(), tokens.size()}) == Status::ok);
    for (std::size_t i = bytes; i < memory.size(); ++i) REQUIRE(memory.data()[i] == std::byte{0x77});
  }
}

TEST_CASE("memory: the figure is pinned, and depends on options but not on the instruction set") {
  HandShape shape;  // 2 layers, 2 heads of 4, 8 wide, 32 hidden, 16 positions, 11 ids
  const AlignedBytes file = hand_built(shape);
  const Model model = open_model(file);
  const auto needed = [&](const SessionConfig& config) {
    std::size_t bytes = 0;
    REQUIRE(Session::memory_needed(model, config, &bytes) == Status::ok);
    return bytes;
  };
  SessionConfig config;
  const std::size_t base = needed(config);
  // 64-bit pointers. A change here is a change of what every embedder must reserve: make it knowingly.
  if (sizeof(void*) == 8) CHECK(base == 20096);
  Isa isas[6];
  const std::size_t n = available_isas({isas, 6});
  for (std::size_t i = 0; i < n; ++i) {
    config.isa = isas[i];
    CHECK(needed(config) == base);
  }
  config = {};
  config.kv = KvType::f16;
  CHECK(base - needed(config) == 2 * 2 * 16 * (4 + 8) * 2);  // layers, heads, positions, dims, bytes
  config = {};
  config.context = 8;
  CHECK(needed(config) < base);
  config = {};
  config.batch = 1;
  CHECK(needed(config) < base);
}

TEST_CASE("memory: a model pays for what its family brings, and for nothing else") {
  const auto needed = [](const HandShape& shape) {
    const AlignedBytes file = hand_built(shape);
    std::size_t bytes = 0;
    REQUIRE(Session::memory_needed(open_model(file), {}, &bytes) == Status::ok);
    return bytes;
  };
  const std::size_t plain = needed({});
  const auto more = [&](auto change) {
    HandShape shape;
    change(shape);
    return needed(shape) - plain;
  };
  CHECK(more([](HandShape& s) { s.norm = 1; }) == 0);
  CHECK(more([](HandShape& s) { s.positions = 3; }) == 0);
  CHECK(more([](HandShape& s) { s.activation = 3; }) == 0);
  CHECK(more([](HandShape& s) { s.softcap = 15; }) == 0);
  CHECK(more([](HandShape& s) { s.with = {67}; }) == 0);
  if (sizeof(void*) != 8) return;
  constexpr std::size_t kFamily = 64, kLayers = 128;  // the tables of tensors
  CHECK(more([](HandShape& s) { s.output = 1; }) == kFamily);
  CHECK(more([](HandShape& s) { s.embed_norm = 1; }) == kFamily);
  CHECK(more([](HandShape& s) { s.qk_norm = 1; }) == kLayers);
  CHECK(more([](HandShape& s) { s.activation = 4; }) == kLayers + 16 * 32 * sizeof(float));  // batch, hidden
  CHECK(more([](HandShape& s) { s.positions = 2, s.rotary_dims = 4; }) == kFamily + 16 * 2 * 8 * sizeof(float));
  // One KV head of 4 fewer: in the cache of each layer (values padded to 8), and in a row of q, k and v.
  HandShape shared;
  shared.n_kv_head = 1;
  CHECK(plain - needed(shared) == (2 * 16 * (4 + 8) + 16 * 8) * sizeof(float));
}

TEST_CASE("memory: the stated size is the size of every family") {
  for (const Family& family : families()) {
    CAPTURE(family.name);
    const AlignedBytes file = hand_built(family.shape);
    const Model model = open_model(file);
    std::size_t bytes = 0;
    REQUIRE(Session::memory_needed(model, {}, &bytes) == Status::ok);
    AlignedBytes memory(bytes + 64);
    std::memset(memory.data(), 0x77, memory.size());
    Session session;
    CHECK(Session::create(model, {}, {memory.data(), bytes - 1}, &session) == Status::memory_too_small);
    REQUIRE(Session::create(model, {}, {memory.data(), bytes}, &session) == Status::ok);
    const std::vector<Token> tokens = some_tokens(family.shape.block_size * 2, family.shape.vocab_size);
    REQUIRE(session.feed({tokens.data(), tokens.size()}) == Status::ok);
    for (std::size_t i = bytes; i < memory.size(); ++i) REQUIRE(memory.data()[i] == std::byte{0x77});
  }
}

TEST_CASE("memory: every start that is not on 64 bytes is refused") {
  const AlignedBytes file = hand_built({});
  const Model model = open_model(file);
  std::size_t bytes = 0;
  REQUIRE(Session::memory_needed(model, {}, &bytes) == Status::ok);
  AlignedBytes memory(bytes + 64);
  for (std::size_t shift = 1; shift < 64; ++shift) {
    Session session;
    CHECK(Session::create(model, {}, {memory.data() + shift, bytes}, &session) == Status::misaligned);
  }
}

TEST_CASE("memory: options out of range are refused by status") {
  const AlignedBytes file = hand_built({});
  const Model model = open_model(file);
  std::size_t bytes = 1234;
  const auto status = [&](auto change) {
    SessionConfig config;
    change(config);
    return Session::memory_needed(model, config, &bytes);
  };
  CHECK(status([](SessionConfig& c) { c.context = 17; }) == Status::bad_argument);
  CHECK(status([](SessionConfig& c) { c.batch = 1025; }) == Status::bad_argument);
  CHECK(status([](SessionConfig& c) { c.kv = KvType::q8; }) == Status::unsupported);
  CHECK(status([](SessionConfig& c) { c.kv = static_cast<KvType>(9); }) == Status::bad_argument);
  CHECK(status([](SessionConfig& c) { c.when_full = WhenFull::ring; }) == Status::unsupported);
  CHECK(status([](SessionConfig& c) { c.when_full = static_cast<WhenFull>(4); }) == Status::bad_argument);
  CHECK(status([](SessionConfig& c) { c.isa = static_cast<Isa>(99); }) == Status::bad_argument);
  CHECK(status([](SessionConfig& c) {
          c.executor.run = [](void*, std::uint32_t, Job, void*) {};
          c.executor.width = 0;
        }) == Status::bad_argument);
  CHECK(bytes == 1234);
  CHECK(Session::memory_needed(Model{}, {}, &bytes) == Status::wrong_state);
  CHECK(Session::memory_needed(model, {}, nullptr) == Status::bad_argument);
}

TEST_CASE("memory: a session beyond 4 GiB has a figure where addresses have 64 bits, and is too large elsewhere") {
  HandShape shape = rotary_shape(0);
  shape.n_layer = 4, shape.block_size = 1u << 22;
  const AlignedBytes file = hand_built(shape);
  const Model model = open_model(file);
  AlignedBytes memory(1 << 16);
  Session session;
  std::size_t bytes = 7;
  std::size_t told = 7;
  const Status status = Session::memory_needed(model, {}, &bytes);
  CHECK(Session::create(model, {}, {memory.data(), memory.size()}, &session, &told) == Status::memory_too_small);
  CHECK(told == bytes);
  if (sizeof(void*) == 8) {
    CHECK(status == Status::ok);
    CHECK(bytes / shape.block_size >= 4 * (4 * 12 + 4 * 16) * sizeof(float));  // keys, and values padded to 8
  } else {
    CHECK(status == Status::memory_too_small);
    CHECK(bytes == 7);
  }
  SessionConfig less;
  less.context = 64;
  CHECK(Session::memory_needed(model, less, &bytes) == Status::ok);
}
