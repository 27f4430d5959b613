// What session tests share: a session in its own block, and bytes of a fixture.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "minnow/hosted.hpp"
#include "minnow/minnow.hpp"
#include "tests/model/hand_built.hpp"

namespace minnow_test {

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

// Feeds in pieces of `split` tokens, and returns the logits after every token.
inline std::vector<float> all_logits(minnow::Session& session, const std::vector<minnow::Token>& tokens,
                                     std::size_t split) {
  const std::size_t vocab = session.model().vocab_size;
  std::vector<float> out(tokens.size() * vocab);
  for (std::size_t at = 0; at < tokens.size(); at += split) {
    const std::size_t n = tokens.size() - at < split ? tokens.size() - at : split;
    const minnow::Span<float> rows(out.data() + at * vocab, n * vocab);
    REQUIRE(session.feed(minnow::Span<const minnow::Token>(tokens.data() + at, n), rows) == minnow::Status::ok);
  }
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

template <class T>
std::vector<T> read_array(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), path);
  in.seekg(0, std::ios::end);
  std::vector<T> out(static_cast<std::size_t>(in.tellg()) / sizeof(T));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size() * sizeof(T)));
  return out;
}

inline minnow::Token greedy(minnow::Span<const float> logits) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < logits.size(); ++i) {
    if (logits[i] > logits[best]) best = i;
  }
  return static_cast<minnow::Token>(best);
}

}  // namespace minnow_test
