// The tile loop of attention.
#include "session/attention.hpp"

#include <cmath>
#include <cstring>

namespace minnow {
namespace {

// Some of the queries: `first` .. `end - 1`.
struct Queries {
  std::uint32_t first;
  std::uint32_t end;
};

float* scores_of(const AttendArgs& a, std::uint32_t query) noexcept {
  return a.scratch + std::size_t{query} * kScorePitch + kKeyLanes;
}

float* sums_of(const AttendArgs& a, std::uint32_t query) noexcept {
  return a.scratch + std::size_t{a.queries} * kScorePitch + std::size_t{query} * value_pitch(a.head_size);
}

// Scores of `count` positions from `position` on, in pieces where the ring wraps. A piece may write 7 floats beyond its
// ends; the piece after it starts at slot 0, so it writes nothing in front of its own first score.
void score_tile(const Kernels& kernels, const AttendArgs& a, Queries queries, std::uint32_t position,
                std::uint32_t count) noexcept {
  ScoreArgs s;
  s.q = a.q + queries.first * a.q_pitch;
  s.q_pitch = a.q_pitch;
  s.queries = queries.end - queries.first;
  s.head_size = a.head_size;
  s.keys = a.keys;
  s.scale = a.scale;
  s.out_pitch = kScorePitch;
  for (std::uint32_t done = 0; done < count; done += s.count) {
    s.first_slot = a.ring.slot(position + done);
    s.count = a.ring.contiguous(position + done, count - done);
    s.out = scores_of(a, queries.first) + done;
    kernels.attention_scores[a.kv](s);
  }
}

// Adds the values of `count` positions from `position` on, which have the weights from index `from` of a tile's on.
void mix_tile(const Kernels& kernels, const AttendArgs& a, Queries queries, std::uint32_t position, std::uint32_t from,
              std::uint32_t count, const float* c) noexcept {
  constexpr float kOnes[] = {1, 1, 1, 1, 1, 1, 1, 1};
  static_assert(sizeof kOnes / sizeof *kOnes == kAttendQueries);
  MixArgs m;
  m.p_pitch = kScorePitch;
  m.queries = queries.end - queries.first;
  m.head_size = a.head_size;
  m.values = a.values;
  m.o = sums_of(a, queries.first);
  m.o_pitch = value_pitch(a.head_size);
  for (std::uint32_t done = 0; done < count; done += m.count) {
    m.first_slot = a.ring.slot(position + done);
    m.count = a.ring.contiguous(position + done, count - done);
    m.p = scores_of(a, queries.first) + from + done;
    m.c = done == 0 ? c : kOnes;
    kernels.attention_mix[a.kv](m);
  }
}

std::uint32_t tile_size(std::uint32_t count, std::uint32_t begin) noexcept {
  return count - begin < kAttentionTile ? count - begin : kAttentionTile;
}

// One tile, from position `begin` on, of all queries that attend to any of it.
void attend_tile(const Kernels& kernels, const AttendArgs& a, std::uint32_t begin, float* m, float* l) noexcept {
  const Queries queries = {begin < a.count ? 0 : begin - a.count + 1, a.queries};
  score_tile(kernels, a, queries, begin, tile_size(a.count + a.queries - 1, begin));
  float c[kAttendQueries];
  for (std::uint32_t j = queries.first; j < queries.end; ++j) {
    c[j] = kernels.softmax_tile(scores_of(a, j), tile_size(a.count + j, begin), &m[j], &l[j]);
  }
  // The positions that all attend to, then what the later queries see beyond: each query's sum still goes in order.
  const std::uint32_t common = tile_size(a.count + queries.first, begin);
  mix_tile(kernels, a, queries, begin, 0, common, c + queries.first);
  for (std::uint32_t j = queries.first + 1; j < queries.end; ++j) {
    const std::uint32_t more = tile_size(a.count + j, begin) - common;
    const float one = 1;
    if (more != 0) mix_tile(kernels, a, {j, j + 1}, begin + common, common, more, &one);
  }
}

void store_probabilities(const Kernels& kernels, const AttendArgs& a, float m, float l) noexcept {
  for (std::uint32_t i = 0; i < a.count; i += kAttentionTile) {
    const std::uint32_t n = tile_size(a.count, i);
    score_tile(kernels, a, {0, 1}, i, n);
    float ignored = 0;
    kernels.softmax_tile(scores_of(a, 0), n, &m, &ignored);  // m is the maximum of all already
    for (std::uint32_t j = 0; j < n; ++j) a.probabilities_or_null[i + j] = scores_of(a, 0)[j] / l;
  }
}

}  // namespace

void attend(const Kernels& kernels, const AttendArgs& a) noexcept {
  const std::uint32_t pitch = value_pitch(a.head_size);
  std::memset(sums_of(a, 0), 0, std::size_t{a.queries} * pitch * sizeof(float));
  float m[kAttendQueries];
  float l[kAttendQueries] = {};
  for (std::uint32_t j = 0; j < a.queries; ++j) m[j] = -INFINITY;
  const std::uint32_t last = a.count + a.queries - 1;  // positions that the last query attends to
  for (std::uint32_t begin = 0; begin < last; begin += kAttentionTile) attend_tile(kernels, a, begin, m, l);
  for (std::uint32_t j = 0; j < a.queries; ++j) {
    float* const o = sums_of(a, j);
    const float sum = l[j];
    for (std::uint32_t dim = 0; dim < pitch; dim += 8) {
      for (std::uint32_t i = 0; i < 8; ++i) o[dim + i] /= sum;
    }
    std::memcpy(a.out + j * a.out_pitch, o, a.head_size * sizeof(float));
  }
  if (a.probabilities_or_null != nullptr) store_probabilities(kernels, a, m[0], l[0]);
}

}  // namespace minnow
