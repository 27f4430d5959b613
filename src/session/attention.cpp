// The tile loop of attention.
#include "session/attention.hpp"

#include <cmath>

namespace minnow {
namespace {

// Scores of `count` positions from `position` on, in pieces where the ring wraps. A piece may write 7 floats beyond its
// ends; the piece after it starts at slot 0, so it writes nothing in front of its own first score.
void score_tile(const Kernels& kernels, const AttendArgs& a, std::uint32_t position, std::uint32_t count,
                float* scores) noexcept {
  for (std::uint32_t done = 0; done < count;) {
    const std::uint32_t n = a.ring.contiguous(position + done, count - done);
    kernels.attention_scores[a.kv](a.q, a.head_size, a.keys, a.ring.slot(position + done), n, a.scale, scores + done);
    done += n;
  }
}

void mix_tile(const Kernels& kernels, const AttendArgs& a, std::uint32_t position, std::uint32_t count, const float* p,
              float c, float* o) noexcept {
  for (std::uint32_t done = 0; done < count;) {
    const std::uint32_t n = a.ring.contiguous(position + done, count - done);
    kernels.attention_mix[a.kv](p + done, a.values, a.head_size, a.ring.slot(position + done), n, done == 0 ? c : 1.0f,
                                o);
    done += n;
  }
}

std::uint32_t tile_size(std::uint32_t count, std::uint32_t begin) noexcept {
  return count - begin < kAttentionTile ? count - begin : kAttentionTile;
}

}  // namespace

void attend(const Kernels& kernels, const AttendArgs& a) noexcept {
  float* const tile = a.scratch + kKeyLanes;
  float* const o = tile + kAttentionTile + kKeyLanes;
  for (std::uint32_t dim = 0; dim < value_pitch(a.head_size); ++dim) o[dim] = 0;
  float m = -INFINITY;
  float l = 0;
  for (std::uint32_t i = 0; i < a.count; i += kAttentionTile) {
    const std::uint32_t n = tile_size(a.count, i);
    score_tile(kernels, a, i, n, tile);
    const float c = kernels.softmax_tile(tile, n, &m, &l);
    mix_tile(kernels, a, i, n, tile, c, o);
  }
  for (std::uint32_t dim = 0; dim < a.head_size; ++dim) a.out[dim] = o[dim] / l;

  if (a.probabilities_or_null == nullptr) return;
  for (std::uint32_t i = 0; i < a.count; i += kAttentionTile) {
    const std::uint32_t n = tile_size(a.count, i);
    score_tile(kernels, a, i, n, tile);
    float ignored = 0;
    kernels.softmax_tile(tile, n, &m, &ignored);  // m is the maximum of all already
    for (std::uint32_t j = 0; j < n; ++j) a.probabilities_or_null[i + j] = tile[j] / l;
  }
}

}  // namespace minnow
