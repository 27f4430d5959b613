// Attention of some queries over the KV ring: the one definition for prefill, decode and every policy.
#pragma once

#include "kernels/kernels.hpp"
#include "session/ring.hpp"

namespace minnow {

// Queries of one head that attend together, so that a tile of keys and values, once in the first cache, serves all.
inline constexpr std::uint32_t kAttendQueries = 8;

// One query's row of scores: a tile with room for a partial block on either side.
inline constexpr std::uint32_t kScorePitch = kKeyLanes + kAttentionTile + kKeyLanes;

// Floats of scratch that attend() needs: a row of scores and the accumulator of each query.
constexpr std::uint32_t attend_scratch(std::uint32_t head_size, std::uint32_t queries) noexcept {
  return queries * (kScorePitch + value_pitch(head_size));
}

struct AttendArgs {
  const float* q = nullptr;  // [queries][q_pitch], head_size used
  std::size_t q_pitch = 0;
  std::uint32_t queries = 0;  // of successive tokens; <= kAttendQueries
  std::uint32_t head_size = 0;
  const void* keys = nullptr;    // of this KV head: [slots / 8 rounded up][head_size][8]
  const void* values = nullptr;  // of this KV head: [slots][value_pitch(head_size)]
  int kv = 0;                    // 0: f32, 1: f16
  Ring ring;
  std::uint32_t count = 0;  // query j attends to positions 0 .. count + j - 1, counted from the oldest; >= 1
  float scale = 0;
  float* scratch = nullptr;  // [attend_scratch(head_size, queries)]
  float* out = nullptr;      // [queries][out_pitch], head_size written
  std::size_t out_pitch = 0;
  float* probabilities_or_null = nullptr;  // of one query: [count padded to 8]; costs a second pass
};

// out = sum of p[i] value[i], p = softmax of scale * q . key[i], one tile of kAttentionTile positions at a time with a
// running maximum (Milakov, Gimelshein, arXiv:1805.02867; Dao et al., arXiv:2205.14135).
void attend(const Kernels& kernels, const AttendArgs& args) noexcept;

}  // namespace minnow
