// minnow.h: the walk in C gives what C++ gives; structs of other versions; null pointers everywhere.
#include <doctest/doctest.h>

#include "minnow/minnow.h"
#include "tests/session/rig.hpp"

extern "C" int minnow_c_api_walk(const void* file, size_t file_size, void* memory, size_t memory_size, char* out,
                                 size_t* out_size);

namespace minnow {
namespace {

using minnow::test::AlignedBytes;

AlignedBytes text_model() {
  minnow::test::HandShape shape;
  shape.pieces = {"\n", "a", "b", "c", "@", "ab", "\xe2\x82", "\xac", "\xc3\xa9"};
  return minnow::test::hand_built(shape);
}

// A model handle in C terms.
struct CModel {
  AlignedBytes file = text_model();
  std::uint64_t memory[MINNOW_HANDLE_BYTES / 8] = {};
  minnow_model* model = nullptr;

  CModel() {
    REQUIRE(minnow_model_open(file.data(), file.size(), memory, sizeof memory, &model, nullptr) == MINNOW_OK);
  }
};

}  // namespace

TEST_CASE("c_api: from file bytes to text in C, the same text as in C++") {
  const AlignedBytes file = text_model();
  AlignedBytes memory(1 << 20);
  char text[256];
  std::size_t size = 0;
  const int wrong_line = minnow_c_api_walk(file.data(), file.size(), memory.data(), memory.size(), text, &size);
  REQUIRE(wrong_line == 0);

  const Model model = minnow::test::open_model(file);
  SessionConfig session_config;
  session_config.context = 12;
  minnow::test::Rig rig(model, session_config);
  Tokenizer tokenizer;
  REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
  SamplerConfig sampling;
  sampling.seed = 7;
  Sampler sampler;
  REQUIRE(Sampler::create(sampling, &sampler) == Status::ok);
  std::string expected;
  GenerateConfig config;
  config.max_tokens = 20;
  config.user = &expected;
  config.on_text = [](void* user, std::string_view piece) {
    *static_cast<std::string*>(user) += piece;
    return true;
  };
  const Token prompt = 5;
  REQUIRE(generate(rig.session, &tokenizer, sampler, {&prompt, 1}, config) == Status::ok);
  CHECK(std::string(text, size) == expected);
  CHECK(size > 0);
}

TEST_CASE("c_api: a session takes what it takes in C++, and no byte less") {
  CModel c;
  const Model model = minnow::test::open_model(c.file);
  std::size_t cpp = 0;
  std::size_t needed = 0;
  REQUIRE(Session::memory_needed(model, {}, &cpp) == Status::ok);
  REQUIRE(minnow_session_memory_needed(c.model, nullptr, &needed) == MINNOW_OK);
  CHECK(needed == cpp);
  AlignedBytes memory(needed);
  minnow_session* session = nullptr;
  for (const std::size_t size : {needed - 1, std::size_t{10}, std::size_t{0}}) {
    std::size_t told = 0;
    CHECK(minnow_session_create(c.model, nullptr, memory.data(), size, &session, &told) == MINNOW_MEMORY_TOO_SMALL);
    CHECK(told == needed);
    CHECK(minnow_session_create(c.model, nullptr, memory.data(), size, &session, nullptr) == MINNOW_MEMORY_TOO_SMALL);
  }
  CHECK(session == nullptr);
  std::size_t told = 0;
  CHECK(minnow_session_create(c.model, nullptr, memory.data(), needed, &session, &told) == MINNOW_OK);
  CHECK(told == 0);

  minnow_model_info of_model, of_session;
  std::memset(&of_model, 0, sizeof of_model);
  std::memset(&of_session, 0, sizeof of_session);
  of_model.struct_size = of_session.struct_size = sizeof of_model;
  CHECK(minnow_model_get_info(c.model, &of_model) == MINNOW_OK);
  CHECK(minnow_session_get_model_info(session, &of_session) == MINNOW_OK);
  CHECK(of_session.n_layer == 2);
  CHECK(std::memcmp(&of_model, &of_session, sizeof of_model) == 0);
}

TEST_CASE("c_api: structs that have grown or are too small") {
  CModel c;
  std::size_t bytes = 0;
  struct Newer {
    minnow_session_config config;
    std::uint64_t extra;
  } newer;
  minnow_session_config_init(&newer.config, sizeof newer);
  CHECK(newer.config.struct_size == sizeof newer);
  CHECK(newer.extra == 0);
  CHECK(minnow_session_memory_needed(c.model, &newer.config, &bytes) == MINNOW_OK);
  newer.extra = 1;
  CHECK(minnow_session_memory_needed(c.model, &newer.config, &bytes) == MINNOW_UNSUPPORTED);
  newer.config.struct_size = sizeof newer.config;
  CHECK(minnow_session_memory_needed(c.model, &newer.config, &bytes) == MINNOW_OK);
  newer.config.struct_size = sizeof newer.config - 1;
  CHECK(minnow_session_memory_needed(c.model, &newer.config, &bytes) == MINNOW_BAD_ARGUMENT);
  newer.config.struct_size = 0;
  CHECK(minnow_session_memory_needed(c.model, &newer.config, &bytes) == MINNOW_BAD_ARGUMENT);

  minnow_model_info info;
  std::memset(&info, 0xee, sizeof info);
  info.struct_size = offsetof(minnow_model_info, n_embd);  // an older, shorter struct
  CHECK(minnow_model_get_info(c.model, &info) == MINNOW_OK);
  CHECK(info.n_layer == 2);
  CHECK(info.n_embd == 0xeeeeeeeeu);
  info.struct_size = 0;
  CHECK(minnow_model_get_info(c.model, &info) == MINNOW_BAD_ARGUMENT);
}

TEST_CASE("c_api: null pointers are bad arguments") {
  CModel c;
  std::uint64_t memory[MINNOW_HANDLE_BYTES / 8];
  minnow_model* model = nullptr;
  minnow_tokenizer* tokenizer = nullptr;
  minnow_sampler* sampler = nullptr;
  minnow_session* session = nullptr;
  std::size_t n = 0;
  const float* logits = nullptr;
  minnow_token token = 0;
  const char* bytes = nullptr;
  CHECK(minnow_model_open(nullptr, 1, memory, sizeof memory, &model, nullptr) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_model_open(c.file.data(), c.file.size(), nullptr, 64, &model, nullptr) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_model_open(c.file.data(), c.file.size(), memory, sizeof memory, nullptr, nullptr) ==
        MINNOW_BAD_ARGUMENT);
  CHECK(minnow_model_verify(nullptr, nullptr) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_model_get_info(nullptr, nullptr) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_session_memory_needed(nullptr, nullptr, &n) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_session_memory_needed(c.model, nullptr, nullptr) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_session_create(c.model, nullptr, nullptr, 1 << 20, &session, nullptr) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_session_feed(nullptr, &token, 1) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_session_feed_all(nullptr, &token, 1, nullptr, 0) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_session_logits(nullptr, &logits, &n) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_session_position(nullptr) == 0);
  CHECK(minnow_session_get_model_info(nullptr, nullptr) == MINNOW_BAD_ARGUMENT);
  minnow_session_reset(nullptr);
  CHECK(minnow_tokenizer_open(nullptr, memory, sizeof memory, &tokenizer) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_tokenizer_encode(nullptr, "a", 1, &token, 1, &n, &n) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_tokenizer_piece(nullptr, 0, &bytes, &n) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_sampler_create(nullptr, nullptr, 64, &sampler) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_sampler_pick(nullptr, nullptr, 0, &token) == MINNOW_BAD_ARGUMENT);
  CHECK(minnow_generate(nullptr, nullptr, nullptr, nullptr, 0, nullptr, nullptr) == MINNOW_BAD_ARGUMENT);
  minnow_session_config_init(nullptr, 8);
  CHECK(minnow_sampler_create(nullptr, memory, sizeof memory, &sampler) == MINNOW_OK);  // the defaults
}

TEST_CASE("c_api: faults, texts, instruction sets") {
  AlignedBytes file = text_model();
  file.data()[8] = std::byte{99};  // major version
  std::uint64_t memory[MINNOW_HANDLE_BYTES / 8];
  minnow_model* model = nullptr;
  minnow_fault fault = {"", 0, 0};
  CHECK(minnow_model_open(file.data(), file.size(), memory, sizeof memory, &model, &fault) == MINNOW_UNSUPPORTED);
  CHECK(std::string(fault.what) != "");
  CHECK(fault.found == 99);
  CHECK(model == nullptr);
  CHECK(std::string(minnow_status_text(MINNOW_MEMORY_TOO_SMALL)) == "memory too small");
  CHECK(std::string(minnow_status_text(1234)) == "unknown status");
  CHECK(std::string(minnow_version()) == version());
  minnow_isa isas[8];
  const std::size_t count = minnow_available_isas(isas, 8);
  REQUIRE(count >= 1);
  CHECK(isas[0] == MINNOW_ISA_REFERENCE);
  CHECK(minnow_isa_text(MINNOW_ISA_REFERENCE) == std::string(to_string(Isa::reference)));
  CHECK(minnow_weight_type_text(MINNOW_WEIGHT_Q8) == std::string(to_string(WeightType::q8)));
  CHECK(minnow_kv_type_text(MINNOW_KV_F16) == std::string(to_string(KvType::f16)));
  CHECK(minnow_when_full_text(MINNOW_WHEN_FULL_RING) == std::string(to_string(WhenFull::ring)));
  CHECK(minnow_available_isas(isas, 0) == 0);
}

}  // namespace minnow
