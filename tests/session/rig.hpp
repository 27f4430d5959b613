// What session tests share beyond golden.hpp: a session in its own block, checked as it is made.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "minnow/hosted.hpp"
#include "tests/session/golden.hpp"

namespace minnow::test {

inline minnow::Model open_model(const AlignedBytes& file) {
  minnow::Model model;
  minnow::Fault fault;
  const minnow::Status status = minnow::Model::open(file.view(), &model, &fault);
  CAPTURE(fault.what);
  CAPTURE(fault.offset);
  REQUIRE(status == minnow::Status::ok);
  return model;
}

// A session and the block it lives in.
struct Rig {
  AlignedBytes memory;
  minnow::Session session;

  Rig(const minnow::Model& model, const minnow::SessionConfig& config) {
    std::size_t bytes = 0;
    REQUIRE(minnow::Session::memory_needed(model, config, &bytes) == minnow::Status::ok);
    memory = AlignedBytes(bytes);
    // What an embedder's block may hold: not zeros.
    std::memset(memory.data(), 0x5a, bytes);
    REQUIRE(minnow::Session::create(model, config, memory.span(), &session) == minnow::Status::ok);
  }
};

// Logits after every token, fed in pieces of `split` tokens.
inline std::vector<float> all_logits(minnow::Session& session, const std::vector<minnow::Token>& tokens,
                                     std::size_t split) {
  std::vector<float> out = logits_of(session, tokens, split);
  REQUIRE(!out.empty());
  return out;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

inline bool same_bits(minnow::Span<const float> a, minnow::Span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// `n` ids below vocab, always the same.
inline std::vector<minnow::Token> some_tokens(std::size_t n, std::uint32_t vocab) {
  std::vector<minnow::Token> tokens(n);
  for (std::size_t i = 0; i < n; ++i) tokens[i] = static_cast<minnow::Token>((i * i * 7 + i * 3 + 1) % vocab);
  return tokens;
}

}  // namespace minnow::test
