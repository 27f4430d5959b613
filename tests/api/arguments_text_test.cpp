// What the C functions of tokenizers and samplers say to every wrong argument.
#include <cmath>

#include "tests/api/arguments.hpp"

using namespace minnow::test;

TEST_CASE("arguments: opening a tokenizer") {
  World w;
  Call(w, "minnow_tokenizer_bytes", minnow_tokenizer_bytes).valid(minnow_tokenizer_bytes());
  Call(w, "minnow_tokenizer_open", minnow_tokenizer_open, w.model, w.out.handle, sizeof w.out.handle, &w.out.tokenizer)
      .handle<0>()
      .memory<1>(minnow_tokenizer_bytes())
      .pointer<3>()
      .valid();
  const AlignedBytes without_text = hand_built({});
  alignas(64) std::uint64_t memory[MINNOW_HANDLE_BYTES / 8];
  minnow_model* model = nullptr;
  REQUIRE(minnow_model_open(without_text.data(), without_text.size(), memory, sizeof memory, &model, nullptr) == 0);
  Call(w, "minnow_tokenizer_open", minnow_tokenizer_open, w.model, w.out.handle, sizeof w.out.handle, &w.out.tokenizer)
      .bad<0>(model, MINNOW_UNSUPPORTED)
      .memory<1>(minnow_tokenizer_bytes())
      .pointer<3>();
}

TEST_CASE("arguments: encoding") {
  World w;
  minnow_encode_config config;
  std::memset(&config, 0xee, sizeof config);
  Call init(w, "minnow_encode_config_init", minnow_encode_config_init, &config, sizeof config);
  init.pointer<0>(0, 0).bad<1>(0, 0).bad<1>(4097, 0).bad<1>(SIZE_MAX, 0);
  CHECK(config.special == 0xeeeeeeeeu);
  init.valid();
  CHECK(config.special == 0);

  const char text[] = "abc";
  const Exempt count = {&w.out.size, sizeof w.out.size};
  const Exempt used = {&w.out.used, sizeof w.out.used};
  const Exempt ids = {w.out.tokens, sizeof w.out.tokens};
  Call with(w, "minnow_tokenizer_encode_with", minnow_tokenizer_encode_with, w.tokenizer, text, std::size_t{3}, &config,
            w.out.tokens, std::size_t{16}, &w.out.size, &w.out.used);
  with.handle<0>().input<1>().config<3>().pointer<4>().pointer<6>().pointer<7>().good<2>(0).good<5>(SIZE_MAX);
  with.bad<5>(0, MINNOW_OUTPUT_TOO_SMALL, {count, used}).bad<5>(1, MINNOW_OUTPUT_TOO_SMALL, {count, used, ids});
  with.bad<1>("ab?", MINNOW_BAD_ARGUMENT, {count, used, ids})
      .bad<1>("a\xf0\x9f", MINNOW_BAD_ARGUMENT, {count, used, ids});
  for (const std::uint32_t value : {2u, UINT32_MAX}) {
    minnow_encode_config wrong = config;
    wrong.special = value;
    with.bad<3>(&wrong, MINNOW_BAD_ARGUMENT);
    wrong = config;
    wrong.begin = value;
    with.bad<3>(&wrong, MINNOW_BAD_ARGUMENT);
  }
  with.valid();

  Call encode(w, "minnow_tokenizer_encode", minnow_tokenizer_encode, w.tokenizer, text, std::size_t{3}, w.out.tokens,
              std::size_t{16}, &w.out.size, &w.out.used);
  encode.handle<0>().input<1>().pointer<3>().pointer<5>().pointer<6>().good<2>(0).good<4>(SIZE_MAX);
  encode.bad<4>(0, MINNOW_OUTPUT_TOO_SMALL, {count, used}).valid();
  CHECK(w.out.size == 2);

  Call cut(w, "minnow_tokenizer_cut", minnow_tokenizer_cut, w.tokenizer, text, std::size_t{3}, &config, &w.out.size);
  cut.handle<0>().input<1>().config<3>().pointer<4>().good<2>(0).valid();
}

TEST_CASE("arguments: pieces of text") {
  World w;
  Call piece(w, "minnow_tokenizer_piece", minnow_tokenizer_piece, w.tokenizer, minnow_token{1}, &w.out.bytes,
             &w.out.size);
  piece.handle<0>().pointer<2>().pointer<3>();
  Call after(w, "minnow_tokenizer_piece_after", minnow_tokenizer_piece_after, w.tokenizer, minnow_token{1},
             minnow_token{2}, &w.out.bytes, &w.out.size);
  after.handle<0>().pointer<3>().pointer<4>();
  for (const minnow_token none : {-1, 9, 10, 11, INT32_MIN, INT32_MAX}) {
    w.out.size = 99;
    piece.good<1>(none);
    CHECK(w.out.size == 0);
    w.out.size = 99;
    after.good<1>(none);
    CHECK(w.out.size == 0);
    after.good<2>(none);
    CHECK(w.out.size == 1);
  }
  piece.valid();
  after.valid();
  Call(w, "minnow_tokenizer_begin_token", minnow_tokenizer_begin_token, w.tokenizer).handle_or<0>(-1).valid(-1);
  Call(w, "minnow_tokenizer_n_tokens", minnow_tokenizer_n_tokens, w.tokenizer).handle_or<0>(0).valid(9);
}

TEST_CASE("arguments: making a sampler") {
  World w;
  Call(w, "minnow_sampler_bytes", minnow_sampler_bytes).valid(minnow_sampler_bytes());
  minnow_sampler_config config;
  std::memset(&config, 0xee, sizeof config);
  Call init(w, "minnow_sampler_config_init", minnow_sampler_config_init, &config, sizeof config);
  init.pointer<0>(0, 0).bad<1>(0, 0).bad<1>(4097, 0).bad<1>(SIZE_MAX, 0);
  CHECK(config.top_k == 0xeeeeeeeeu);
  init.valid();
  Call create(w, "minnow_sampler_create", minnow_sampler_create, &config, w.out.handle, sizeof w.out.handle,
              &w.out.sampler);
  create.config<0>().memory<1>(minnow_sampler_bytes()).pointer<3>();
  const auto wrong = [&](float minnow_sampler_config::*field, std::initializer_list<float> values) {
    for (const float value : values) {
      CAPTURE(value);
      minnow_sampler_config other = config;
      other.*field = value;
      create.bad<0>(&other, MINNOW_BAD_ARGUMENT);
    }
  };
  wrong(&minnow_sampler_config::temperature, {-1.0f, -1e-30f, INFINITY, -INFINITY, NAN});
  wrong(&minnow_sampler_config::top_p, {0.0f, -0.5f, 1.001f, INFINITY, -INFINITY, NAN});
  wrong(&minnow_sampler_config::min_p, {-0.001f, 1.001f, INFINITY, -INFINITY, NAN});
  create.valid();
}

TEST_CASE("arguments: picking, and copying a sampler") {
  World w;
  const float logits[] = {0.5f, 0.1f, 0.3f};
  const float none[] = {NAN, INFINITY, -INFINITY};
  Call pick(w, "minnow_sampler_pick", minnow_sampler_pick, w.sampler, logits, std::size_t{3}, &w.out.token);
  pick.handle<0>().input<1>().pointer<3>().bad<1>(none, MINNOW_NUMERIC).bad<2>(0, MINNOW_BAD_ARGUMENT);
  pick.bad<2>(std::size_t{INT32_MAX} + 1, MINNOW_BAD_ARGUMENT).good<2>(1).valid();
  CHECK(w.out.token >= 0);
  CHECK(w.out.token < 3);

  Call(w, "minnow_sampler_copy", minnow_sampler_copy, w.sampler, w.out.handle, sizeof w.out.handle, &w.out.sampler)
      .handle<0>()
      .memory<1>(minnow_sampler_bytes())
      .pointer<3>()
      .valid();
  for (int i = 0; i < 50; ++i) {  // the copy goes on where the other was
    minnow_token a = -1;
    minnow_token b = -1;
    REQUIRE(minnow_sampler_pick(w.sampler, logits, 3, &a) == MINNOW_OK);
    REQUIRE(minnow_sampler_pick(w.out.sampler, logits, 3, &b) == MINNOW_OK);
    CHECK(a == b);
  }
}
