// Attention of one query over the KV ring: the one definition for prefill, decode and every policy.
#pragma once

#include "kernels/kernels.hpp"
#include "session/ring.hpp"

namespace minnow {

// Floats of scratch that attend() needs: one tile of scores with room for a partial block on either side, and the
// accumulator.
constexpr std::uint32_t attend_scratch(std::uint32_t head_size) noexcept {
  return kKeyLanes + kAttentionTile + kKeyLanes + value_pitch(head_size);
}

struct AttendArgs {
  const float* q = nullptr;  // [head_size]
  std::uint32_t head_size = 0;
  const void* keys = nullptr;    // of this KV head: [slots / 8 rounded up][head_size][8]
  const void* values = nullptr;  // of this KV head: [slots][value_pitch(head_size)]
  int kv = 0;                    // 0: f32, 1: f16
  Ring ring;
  std::uint32_t count = 0;  // positions attended to: 0 .. count - 1, counted from the oldest; >= 1
  float scale = 0;
  float* scratch = nullptr;                // [attend_scratch(head_size)]
  float* out = nullptr;                    // [head_size]
  float* probabilities_or_null = nullptr;  // [count padded to 8]; costs a second pass
};

// out = sum of p[i] value[i], p = softmax of scale * q . key[i], one tile of kAttentionTile positions at a time with a
// running maximum (Milakov, Gimelshein, arXiv:1805.02867; Dao et al., arXiv:2205.14135).
void attend(const Kernels& kernels, const AttendArgs& args) noexcept;

}  // namespace minnow
