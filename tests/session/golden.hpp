// Compares a model with what PyTorch computed from its checkpoint in float64. For the fixture's tests and for
// tests/programs/golden.cpp; needs no test framework.
#pragma once

#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "minnow/minnow.hpp"
#include "session/state.hpp"
#include "tests/model/hand_built.hpp"

namespace minnow::test {

template <class T>
std::vector<T> load_array(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  std::vector<T> out(in.good() ? static_cast<std::size_t>(in.tellg()) / sizeof(T) : 0);
  in.seekg(0);
  in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size() * sizeof(T)));
  return out;
}

inline std::vector<minnow::Token> load_ids(const std::string& path) {
  const std::vector<std::uint16_t> ids = load_array<std::uint16_t>(path);
  return {ids.begin(), ids.end()};
}

// The largest |a - b|; infinite where the sizes differ or there is nothing to compare.
inline float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size() || a.empty()) return INFINITY;
  float largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float d = std::fabs(a[i] - b[i]);
    if (!(d <= largest)) largest = d;
  }
  return largest;
}

// A session in memory of its own; session.context() is 0 if it could not be made.
struct Running {
  AlignedBytes memory;
  minnow::Session session;
  Running(const minnow::Model& model, const minnow::SessionConfig& config) {
    std::size_t bytes = 0;
    if (minnow::Session::memory_needed(model, config, &bytes) != minnow::Status::ok) return;
    memory = AlignedBytes(bytes);
    static_cast<void>(minnow::Session::create(model, config, memory.span(), &session));
  }
};

// Logits after every token, [tokens][vocab_size]; empty on failure.
inline std::vector<float> logits_of(minnow::Session& session, const std::vector<minnow::Token>& tokens,
                                    std::size_t split) {
  const std::size_t vocab = session.model().vocab_size;
  std::vector<float> out(tokens.size() * vocab);
  for (std::size_t at = 0; at < tokens.size(); at += split) {
    const std::size_t n = tokens.size() - at < split ? tokens.size() - at : split;
    const minnow::Span<float> rows(out.data() + at * vocab, n * vocab);
    if (session.feed({tokens.data() + at, n}, rows) != minnow::Status::ok) return {};
  }
  return out;
}

// Attention probabilities [layer][head][n][n] of the first n tokens; 0 where the mask is.
inline std::vector<float> attention_of(minnow::Session& session, const std::vector<minnow::Token>& tokens,
                                       std::size_t n) {
  const minnow::ModelInfo info = session.model();
  struct Sink {
    std::vector<float> rows;
    std::size_t n, pitch, heads;
  } sink;
  sink.n = n;
  sink.pitch = (n + 7) / 8 * 8;
  sink.heads = info.n_head;
  sink.rows.assign(info.n_layer * info.n_head * n * sink.pitch, 0.0f);
  minnow::SessionState* state = minnow::SessionAccess::state(session);
  state->probe.user = &sink;
  state->probe.row = [](void* user, std::uint32_t layer, std::uint32_t head, std::uint32_t position) {
    Sink& s = *static_cast<Sink*>(user);
    return s.rows.data() + ((layer * s.heads + head) * s.n + position) * s.pitch;
  };
  const minnow::Status status = session.feed({tokens.data(), n});
  state->probe = {};
  if (status != minnow::Status::ok) return {};
  std::vector<float> out;
  for (std::size_t row = 0; row < info.n_layer * info.n_head * n; ++row) {
    const float* p = sink.rows.data() + row * sink.pitch;
    for (std::size_t j = 0; j < n; ++j) out.push_back(j <= row % n ? p[j] : 0.0f);
  }
  return out;
}

// The prompt and `n` greedy tokens behind it; shorter on failure.
inline std::vector<minnow::Token> greedy_of(minnow::Session& session, std::vector<minnow::Token> tokens,
                                            std::size_t n) {
  minnow::Status status = session.feed({tokens.data(), tokens.size()});
  for (std::size_t i = 0; i < n && status == minnow::Status::ok; ++i) {
    const minnow::Span<const float> logits = session.logits();
    std::size_t best = 0;
    for (std::size_t id = 1; id < logits.size(); ++id) {
      if (logits[id] > logits[best]) best = id;
    }
    tokens.push_back(static_cast<minnow::Token>(best));
    status = session.feed({&tokens.back(), 1});
  }
  return tokens;
}

}  // namespace minnow::test
