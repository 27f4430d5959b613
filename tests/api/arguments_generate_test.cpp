// What minnow_generate says to every wrong argument, and what sessions say to calls from inside a callback or executor.
#include "tests/api/arguments.hpp"

using namespace minnow::test;

namespace {

bool take_text(void*, const char*, std::size_t) { return true; }
bool stop_at_token(void*, minnow_token) { return false; }

minnow_generate_config short_text() {
  minnow_generate_config config;
  minnow_generate_config_init(&config, sizeof config);
  config.max_tokens = 2;
  return config;
}

}  // namespace

TEST_CASE("arguments: generating") {
  World w;
  minnow_generate_config config;
  std::memset(&config, 0xee, sizeof config);
  Call init(w, "minnow_generate_config_init", minnow_generate_config_init, &config, sizeof config);
  init.pointer<0>(0, 0).bad<1>(0, 0).bad<1>(4097, 0).bad<1>(SIZE_MAX, 0);
  CHECK(config.max_tokens == 0xeeeeeeeeu);
  init.valid();

  config = short_text();
  const minnow_token prompt[] = {1, 2};
  Call generate(w, "minnow_generate", minnow_generate, w.session, w.tokenizer, w.sampler, prompt, std::size_t{2},
                &config, &w.out.result);
  generate.bad<4>(0, MINNOW_BAD_ARGUMENT);  // no prompt, and no logits yet
  generate.handle<0>().handle<2>().input<3>().config<5>().optional<6>().good<4>(0);
  generate.good<1>(nullptr).bad<1>(reinterpret_cast<minnow_tokenizer*>(w.zeros), MINNOW_WRONG_STATE);
  generate.bad<1>(reinterpret_cast<minnow_tokenizer*>(w.zeros + 1), MINNOW_MISALIGNED);
  for (const minnow_token wrong : {-1, 11, INT32_MIN, INT32_MAX}) {
    const minnow_token tokens[] = {1, wrong};
    generate.bad<3>(tokens, MINNOW_BAD_ARGUMENT);
  }
  generate.valid();
}

TEST_CASE("arguments: every field of a generation's config") {
  World w;
  const minnow_token prompt[] = {1, 2};
  const minnow_generate_config config = short_text();
  Call generate(w, "minnow_generate", minnow_generate, w.session, w.tokenizer, w.sampler, prompt, std::size_t{2},
                &config, &w.out.result);
  generate.handle<0>().handle<2>().input<3>().optional<6>().good<1>(nullptr);
  const auto with = [&](auto change) {
    minnow_generate_config other = short_text();
    change(other);
    return other;
  };
  using Config = minnow_generate_config;
  for (const Config& wrong : {
           with([](Config& c) { c.stop_size = 1; }),
           with([](Config& c) { c.stop_size = SIZE_MAX; }),
           with([](Config& c) { c.stop_or_null = "a", c.stop_size = SIZE_MAX; }),
           with([](Config& c) { c.stop_or_null = "a", c.stop_size = SIZE_MAX / 2 + 1; }),
       }) {
    generate.bad<5>(&wrong, MINNOW_BAD_ARGUMENT);
  }
  for (const Config& wrong : {with([](Config& c) { c.reserved = 1; }), with([](Config& c) { c.reserved2 = 1; })}) {
    generate.bad<5>(&wrong, MINNOW_UNSUPPORTED);
  }
  for (const Config& right : {
           with([](Config& c) { c.max_tokens = 0; }),
           with([](Config& c) { c.stop_or_null = "a", c.stop_size = 0; }),
           with([](Config& c) { c.stop_token = INT32_MIN; }),
           with([](Config& c) { c.stop_token = INT32_MAX; }),
       }) {
    generate.good<5>(&right);
  }
  const Config endless = with([](Config& c) { c.max_tokens = UINT32_MAX, c.on_token_or_null = stop_at_token; });
  generate.good<5>(&endless, MINNOW_CANCELLED);
  CHECK(w.out.result.tokens == 1);

  const Config texts[] = {with([](Config& c) { c.on_text_or_null = take_text; }),
                          with([](Config& c) { c.stop_or_null = "a", c.stop_size = 1; })};
  for (const Config& text : texts) {  // which needs a tokenizer
    Call(w, "minnow_generate", minnow_generate, w.session, w.tokenizer, w.sampler, prompt, std::size_t{2}, &text,
         &w.out.result)
        .bad<1>(nullptr, MINNOW_BAD_ARGUMENT)
        .handle<0>()
        .handle<2>()
        .input<3>()
        .config<5>()
        .optional<6>();
  }
}

namespace {

// Calls every function of a session from inside: those that would change it are refused, the others tell.
struct Inside {
  World* w = nullptr;
  minnow_session* session = nullptr;
  int calls = 0;
  bool refused = true;

  void call() {
    ++calls;
    const minnow_token token = 1;
    const auto refuses = [&](minnow_status status) { refused = refused && status == MINNOW_WRONG_STATE; };
    refuses(minnow_session_feed(session, &token, 1));
    refuses(minnow_session_feed(session, &token, 0));
    refuses(minnow_session_feed_all(session, &token, 1, w->out.rows, 11));
    refuses(minnow_session_rewind(session, 0));
    refuses(minnow_session_rewind(session, 1));
    refuses(minnow_generate(session, w->tokenizer, w->sampler, &token, 1, nullptr, nullptr));
    minnow_session_reset(session);
    refused = refused && minnow_session_context(session) == 16 && minnow_session_kv(session) == MINNOW_KV_F32;
    static_cast<void>(minnow_session_position(session));
    refused = refused && minnow_session_isa(session) != MINNOW_ISA_BEST;
    refused = refused && minnow_session_logits(session, &w->out.logits, &w->out.size) == MINNOW_OK;
    w->out.info.struct_size = sizeof w->out.info;
    refused = refused && minnow_session_get_model_info(session, &w->out.info) == MINNOW_OK;
  }
};

Inside& inside(void* user) { return *static_cast<Inside*>(user); }
bool call_at_text(void* user, const char*, std::size_t) { return inside(user).call(), true; }
bool call_at_token(void* user, minnow_token) { return inside(user).call(), true; }
bool call_at_prompt(void* user, std::size_t, std::size_t) { return inside(user).call(), true; }
void call_and_run(void* self, std::uint32_t jobs, minnow_job job, void* arg) {
  inside(self).call();
  for (std::uint32_t i = 0; i < jobs; ++i) job(arg, i);
  inside(self).call();
}

minnow_token last_of(std::uint32_t position, minnow_session* session) {
  CHECK(minnow_session_position(session) == position);
  const float* logits = nullptr;
  std::size_t count = 0;
  REQUIRE(minnow_session_logits(session, &logits, &count) == MINNOW_OK);
  std::size_t best = 0;
  for (std::size_t i = 1; i < count; ++i) best = logits[i] > logits[best] ? i : best;
  return static_cast<minnow_token>(best);
}

}  // namespace

TEST_CASE("arguments: a session that generates refuses calls from its callbacks, and goes on as if there were none") {
  minnow_token expected = 0;
  for (const bool calls : {false, true}) {
    World w;
    Inside in;
    in.w = &w;
    in.session = w.session;
    minnow_generate_config config = short_text();
    config.max_tokens = 5;
    config.user = &in;
    if (calls) {
      config.on_text_or_null = call_at_text;
      config.on_token_or_null = call_at_token;
      config.on_prompt_or_null = call_at_prompt;
    }
    const minnow_token prompt[] = {1, 2, 3};
    REQUIRE(minnow_generate(w.session, w.tokenizer, w.sampler, prompt, 3, &config, nullptr) == MINNOW_OK);
    CHECK(in.refused);
    CHECK(in.calls >= (calls ? 7 : 0));
    const minnow_token last = last_of(8, w.session);
    if (calls) CHECK(last == expected);
    expected = last;
  }
}

TEST_CASE("arguments: a session that computes refuses calls from its executor, and goes on as if there were none") {
  HandShape shape;
  shape.n_embd = 96, shape.n_hidden = 384;  // enough work to be cut into jobs
  const AlignedBytes file = hand_built(shape);
  alignas(64) std::uint64_t memory[MINNOW_HANDLE_BYTES / 8];
  minnow_model* model = nullptr;
  REQUIRE(minnow_model_open(file.data(), file.size(), memory, sizeof memory, &model, nullptr) == MINNOW_OK);
  minnow_token expected = 0;
  for (const bool calls : {false, true}) {
    World w;
    Inside in;
    in.w = &w;
    minnow_session_config config;
    minnow_session_config_init(&config, sizeof config);
    if (calls) {
      config.executor_run_or_null = call_and_run;
      config.executor_self = &in;
      config.executor_width = 4;
    }
    std::size_t bytes = 0;
    REQUIRE(minnow_session_memory_needed(model, &config, &bytes) == MINNOW_OK);
    AlignedBytes block(bytes);
    REQUIRE(minnow_session_create(model, &config, block.data(), bytes, &in.session, nullptr) == MINNOW_OK);
    const minnow_token tokens[] = {1, 2, 3};
    float rows[33];
    REQUIRE(minnow_session_feed(in.session, tokens, 3) == MINNOW_OK);
    REQUIRE(minnow_session_feed_all(in.session, tokens, 3, rows, 33) == MINNOW_OK);
    CHECK(in.refused);
    CHECK(in.calls >= (calls ? 4 : 0));
    const minnow_token last = last_of(6, in.session);
    if (calls) CHECK(last == expected);
    expected = last;
    CHECK(minnow_session_rewind(in.session, 1) == MINNOW_OK);  // and is free again
  }
}
