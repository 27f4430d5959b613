// The world of the argument tests, that these tests can fail, and that they leave out no function.
#include <algorithm>

#include "tests/api/arguments.hpp"
#include "tests/api/headers.hpp"

namespace minnow::test {

World::World() {
  HandShape shape;
  shape.pieces = {"\n", "a", "b", "c", "@", "ab", "\xe2\x82", "\xac", "\xc3\xa9"};
  file = hand_built(shape);
  std::memset(garbage, 0xa5, sizeof garbage);
  std::memset(static_cast<void*>(&out), 0xee, sizeof out);
  REQUIRE(minnow_model_open(file.data(), file.size(), model_memory, sizeof model_memory, &model, nullptr) == MINNOW_OK);
  REQUIRE(minnow_tokenizer_open(model, tokenizer_memory, sizeof tokenizer_memory, &tokenizer) == MINNOW_OK);
  REQUIRE(minnow_sampler_create(nullptr, sampler_memory, sizeof sampler_memory, &sampler) == MINNOW_OK);
  REQUIRE(minnow_session_memory_needed(model, nullptr, &session_bytes) == MINNOW_OK);
  session_memory = AlignedBytes(session_bytes);
  spare = AlignedBytes(session_bytes);
  REQUIRE(minnow_session_create(model, nullptr, session_memory.data(), session_bytes, &session, nullptr) == MINNOW_OK);
}

std::vector<Exempt> World::regions() const {
  return {{model_memory, sizeof model_memory},
          {tokenizer_memory, sizeof tokenizer_memory},
          {sampler_memory, sizeof sampler_memory},
          {zeros, sizeof zeros},
          {garbage, sizeof garbage},
          {session_memory.data(), session_bytes},
          {spare.data(), session_bytes},
          {&out, sizeof out}};
}

std::vector<unsigned char> World::bytes() const {
  std::vector<unsigned char> all;
  for (const Exempt& region : regions()) {
    const auto* const begin = static_cast<const unsigned char*>(region.at);
    all.insert(all.end(), begin, begin + region.bytes);
  }
  return all;
}

bool World::same(const std::vector<unsigned char>& before, std::initializer_list<Exempt> exempt) const {
  std::size_t at = 0;
  for (const Exempt& region : regions()) {
    const auto* const begin = static_cast<const unsigned char*>(region.at);
    if (std::memcmp(before.data() + at, begin, region.bytes) == 0) {
      at += region.bytes;
      continue;
    }
    for (std::size_t i = 0; i < region.bytes; ++i, ++at) {
      const bool may_change = std::any_of(exempt.begin(), exempt.end(), [&](const Exempt& e) {
        const auto* const from = static_cast<const unsigned char*>(e.at);
        return begin + i >= from && begin + i < from + e.bytes;
      });
      if (!may_change && before[at] != begin[i]) return false;
    }
  }
  return true;
}

TEST_CASE("arguments: a byte that changes is found, unless it may") {
  World w;
  const std::vector<unsigned char> before = w.bytes();
  CHECK(w.same(before, {}));
  for (void* const at : {static_cast<void*>(&w.out.error), static_cast<void*>(w.session),
                         static_cast<void*>(w.spare.data()), static_cast<void*>(w.sampler)}) {
    auto* const byte = static_cast<unsigned char*>(at);
    *byte = static_cast<unsigned char>(*byte ^ 1);
    CHECK(!w.same(before, {}));
    CHECK(w.same(before, {{at, 1}}));
    *byte = static_cast<unsigned char>(*byte ^ 1);
  }
}

TEST_CASE("arguments: every function of the C headers is called by these tests") {
  std::string tests;
  for (const char* name : {"model", "session", "text", "generate", "hosted"}) {
    tests += text_of("tests/api/arguments_" + std::string(name) + "_test.cpp");
  }
  tests.erase(std::remove_if(tests.begin(), tests.end(), [](char c) { return c == ' ' || c == '\n'; }), tests.end());
  for (const std::string& name : public_c_functions()) {
    CAPTURE(name);
    CHECK(tests.find("(w,\"" + name + "\"," + name) != std::string::npos);
  }
}

}  // namespace minnow::test
