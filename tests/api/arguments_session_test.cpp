// What the C functions of sessions say to every wrong argument.
#include "tests/api/arguments.hpp"

using namespace minnow::test;

namespace {

void run_nothing(void*, std::uint32_t, minnow_job, void*) {}

minnow_session_config defaults() {
  minnow_session_config config;
  minnow_session_config_init(&config, sizeof config);
  return config;
}

struct BadConfig {
  minnow_session_config config;
  minnow_status status;
};

// Each field too small, too large, and unknown.
std::vector<BadConfig> bad_configs() {
  std::vector<BadConfig> all;
  const auto add = [&](std::uint32_t minnow_session_config::*field, std::uint32_t value, minnow_status status) {
    BadConfig bad = {defaults(), status};
    bad.config.executor_run_or_null = run_nothing;
    bad.config.*field = value;
    all.push_back(bad);
  };
  for (const std::uint32_t value : {17u, UINT32_MAX}) add(&minnow_session_config::context, value, MINNOW_BAD_ARGUMENT);
  for (const std::uint32_t value : {MINNOW_MAX_BATCH + 1u, UINT32_MAX}) {
    add(&minnow_session_config::batch, value, MINNOW_BAD_ARGUMENT);
  }
  for (const std::uint32_t value : {0u, MINNOW_MAX_WORKERS + 1u, UINT32_MAX}) {
    add(&minnow_session_config::executor_width, value, MINNOW_BAD_ARGUMENT);
  }
  for (const std::uint32_t value : {4u, UINT32_MAX}) add(&minnow_session_config::kv, value, MINNOW_BAD_ARGUMENT);
  for (const std::uint32_t value : {4u, UINT32_MAX}) add(&minnow_session_config::when_full, value, MINNOW_BAD_ARGUMENT);
  for (const std::uint32_t value : {7u, UINT32_MAX}) add(&minnow_session_config::isa, value, MINNOW_BAD_ARGUMENT);
  add(&minnow_session_config::kv, MINNOW_KV_Q8, MINNOW_UNSUPPORTED);
  add(&minnow_session_config::when_full, MINNOW_WHEN_FULL_RING, MINNOW_UNSUPPORTED);
  constexpr minnow_isa kOfOtherMachines = sizeof(void*) == 8 ? 6 : 5;  // armv7, dotprod
  add(&minnow_session_config::isa, kOfOtherMachines, MINNOW_UNSUPPORTED);
  return all;
}

}  // namespace

TEST_CASE("arguments: a session's options") {
  World w;
  minnow_session_config written;
  std::memset(&written, 0xee, sizeof written);
  const minnow_session_config before = written;
  Call init(w, "minnow_session_config_init", minnow_session_config_init, &written, sizeof written);
  init.pointer<0>(0, 0);
  for (const std::size_t size : {std::size_t{0}, sizeof(std::size_t) - 1, std::size_t{4097}, SIZE_MAX}) {
    init.bad<1>(size, 0);
    CHECK(std::memcmp(&written, &before, sizeof written) == 0);
  }
  init.good<1>(sizeof(std::size_t));
  CHECK(written.context == before.context);
  init.valid();
  CHECK(written.struct_size == sizeof written);
  CHECK(written.executor_width == 1);
}

TEST_CASE("arguments: the memory of a session") {
  World w;
  minnow_session_config config = defaults();
  Call needed(w, "minnow_session_memory_needed", minnow_session_memory_needed, w.model, &config, &w.out.size);
  needed.handle<0>().config<1>().pointer<2>().valid();
  Call create(w, "minnow_session_create", minnow_session_create, w.model, &config, w.spare.data(), w.session_bytes,
              &w.out.session, &w.out.used);
  create.handle<0>().config<1>().pointer<4>().optional<5>();
  create.memory<2>(w.session_bytes, {{&w.out.used, sizeof w.out.used}});
  for (const std::size_t off : {4u, 8u, 16u, 32u}) {
    create.bad<2>(reinterpret_cast<char*>(w.spare.data()) + off, MINNOW_MISALIGNED);
  }
  for (const BadConfig& bad : bad_configs()) {
    CAPTURE(bad.config.context);
    CAPTURE(bad.config.kv);
    CAPTURE(bad.config.isa);
    needed.bad<1>(&bad.config, bad.status);
    create.bad<1>(&bad.config, bad.status);
  }
  config.executor_width = 0;  // without an executor it says nothing
  create.good<1>(&config).valid();
}

TEST_CASE("arguments: feeding") {
  World w;
  const minnow_token tokens[] = {1, 2, 3};
  Call feed(w, "minnow_session_feed", minnow_session_feed, w.session, tokens, std::size_t{3});
  feed.handle<0>().input<1>().good<2>(0).valid();
  Call all(w, "minnow_session_feed_all", minnow_session_feed_all, w.session, tokens, std::size_t{3}, w.out.rows,
           std::size_t{33});
  all.handle<0>().input<1>().pointer<3>().good<2>(0);
  for (const std::size_t room : {0u, 1u, 32u}) all.bad<4>(room, MINNOW_OUTPUT_TOO_SMALL);
  all.good<4>(SIZE_MAX).valid();
  CHECK(minnow_session_position(w.session) == 9);
  for (const minnow_token wrong : {-1, 11, INT32_MIN, INT32_MAX}) {
    const minnow_token last[] = {1, 2, wrong};
    const minnow_token first[] = {wrong, 1, 2};
    feed.bad<1>(last, MINNOW_BAD_ARGUMENT).bad<1>(first, MINNOW_BAD_ARGUMENT);
    all.bad<1>(last, MINNOW_BAD_ARGUMENT).bad<1>(first, MINNOW_BAD_ARGUMENT);
  }
}

TEST_CASE("arguments: feeding a context that is full, and one that never was fed") {
  World w;
  minnow_session_config config = defaults();
  config.when_full = MINNOW_WHEN_FULL_STOP;
  config.context = 4;
  REQUIRE(minnow_session_create(w.model, &config, w.session_memory.data(), w.session_bytes, &w.session, nullptr) ==
          MINNOW_OK);
  const minnow_token tokens[] = {1, 2, 3};
  minnow_session* const session = w.session;
  Call feed(w, "minnow_session_feed", minnow_session_feed, session, tokens, std::size_t{3});
  feed.handle<0>().valid().input<1>();
  feed.bad<1>(tokens, MINNOW_CONTEXT_FULL).bad<2>(2, MINNOW_CONTEXT_FULL).good<2>(1);
  Call all(w, "minnow_session_feed_all", minnow_session_feed_all, session, tokens, std::size_t{1}, w.out.rows,
           std::size_t{11});
  all.handle<0>().input<1>().pointer<3>().bad<4>(11, MINNOW_CONTEXT_FULL);
}

TEST_CASE("arguments: what a session tells") {
  World w;
  const minnow_token token = 1;
  REQUIRE(minnow_session_feed(w.session, &token, 1) == MINNOW_OK);
  Call(w, "minnow_session_logits", minnow_session_logits, w.session, &w.out.logits, &w.out.size)
      .handle<0>()
      .pointer<1>()
      .pointer<2>()
      .valid();
  Call(w, "minnow_session_position", minnow_session_position, w.session).handle_or<0>(0).valid(1);
  Call(w, "minnow_session_context", minnow_session_context, w.session).handle_or<0>(0).valid(16);
  const minnow_isa isa = minnow_session_isa(w.session);
  CHECK(isa != MINNOW_ISA_BEST);
  Call(w, "minnow_session_isa", minnow_session_isa, w.session).handle_or<0>(0).valid(isa);
  Call(w, "minnow_session_kv", minnow_session_kv, w.session).handle_or<0>(0).valid(MINNOW_KV_F32);
  w.out.info.struct_size = sizeof w.out.info;
  Call info(w, "minnow_session_get_model_info", minnow_session_get_model_info, w.session, &w.out.info);
  info.handle<0>().pointer<1>().valid();
  for (const std::size_t size : {std::size_t{0}, sizeof(std::size_t) - 1, std::size_t{4097}, SIZE_MAX}) {
    w.out.info.struct_size = size;
    info.bad<1>(&w.out.info, MINNOW_BAD_ARGUMENT);
  }
}

TEST_CASE("arguments: rewinding and resetting") {
  World w;
  const minnow_token tokens[] = {1, 2, 3};
  REQUIRE(minnow_session_feed(w.session, tokens, 3) == MINNOW_OK);
  Call rewind(w, "minnow_session_rewind", minnow_session_rewind, w.session, 1u);
  rewind.handle<0>().bad<1>(4, MINNOW_BAD_ARGUMENT).bad<1>(UINT32_MAX, MINNOW_BAD_ARGUMENT).good<1>(0).valid();
  CHECK(minnow_session_position(w.session) == 2);
  Call(w, "minnow_session_reset", minnow_session_reset, w.session).handle_or<0>(0).valid();
  CHECK(minnow_session_position(w.session) == 0);
}

TEST_CASE("arguments: the copy of a session's block is no session") {
  World w;
  std::memcpy(w.spare.data(), w.session_memory.data(), w.session_bytes);
  const minnow_token tokens[] = {1, 2, 3};
  auto* const copy = reinterpret_cast<minnow_session*>(w.spare.data());
  Call(w, "minnow_session_feed", minnow_session_feed, w.session, tokens, std::size_t{3})
      .bad<0>(copy, MINNOW_WRONG_STATE)
      .input<1>();
  Call(w, "minnow_session_rewind", minnow_session_rewind, w.session, 0u).bad<0>(copy, MINNOW_WRONG_STATE).good<1>(0);
  Call(w, "minnow_session_context", minnow_session_context, w.session).bad<0>(copy, 0);
  Call(w, "minnow_session_reset", minnow_session_reset, w.session).bad<0>(copy, 0);
}
