// The attention half of a layer: projections, rotation and norms of heads, the KV cache, and the heads themselves.
#include <cmath>
#include <cstring>

#include "session/attention.hpp"
#include "session/layers.hpp"
#include "session/run_jobs.hpp"
#include "session/steps.hpp"

namespace minnow {
namespace {

// Of one worker, for one head at a time.
float* worker_scratch(const SessionState& s, std::uint32_t worker) noexcept {
  return s.attend_scratch + worker * s.attend_pitch;
}

// RMS norm of one head, in the row [head_size padded to 8], since heads are not padded where they lie.
void norm_head(const SessionState& s, const float* weight_or_null, float* head, float* row) noexcept {
  const Config& c = *s.config;
  std::memcpy(row, head, c.head_size * sizeof(float));
  s.kernels->rms_norm(row, weight_or_null, c.head_size, c.norm_eps, row);
  std::memcpy(head, row, c.head_size * sizeof(float));
}

// Turns and norms the queries and keys of one token where they lie; the cache keeps keys as they are then.
void prepare_heads(SessionState& s, std::uint32_t layer, std::uint32_t t, std::uint32_t worker) noexcept {
  const Config& c = *s.config;
  const std::uint32_t pairs = c.rotary_dims / 2;
  const float* const cos = s.rotation + std::size_t{t} * 2 * s.widths.rotation;
  const float* const sin = cos + s.widths.rotation;
  float* const row = worker_scratch(s, worker);
  float* head = s.qkv + std::size_t{t} * s.widths.qkv;
  for (std::uint32_t h = 0; h < c.n_head + c.n_kv_head; ++h, head += c.head_size) {
    const float* weight = nullptr;
    if (c.qk_norm != QkNorm::none) {
      const LayerFamilyWeights& w = s.weights.family_layers[layer];
      weight = h < c.n_head ? w.q_norm_weight : w.k_norm_weight;
    }
    if (c.qk_norm == QkNorm::rms_before_rotary) norm_head(s, weight, head, row);
    if (pairs != 0) s.kernels->rotate[static_cast<std::uint32_t>(c.rotary_pairing)](head, cos, sin, pairs);
    if (c.qk_norm == QkNorm::rms_after_rotary) norm_head(s, weight, head, row);
  }
}

// The cache of one layer and KV head.
std::size_t head_index(const SessionState& s, std::uint32_t layer, std::uint32_t kv_head) noexcept {
  return std::size_t{layer} * s.config->n_kv_head + kv_head;
}

// A key lies across its block of 8 positions.
template <class Element>
void store_key(const SessionState& s, std::size_t head, std::uint32_t slot, const Element* key) noexcept {
  const std::size_t head_size = s.config->head_size;
  auto* const keys = reinterpret_cast<Element*>(s.keys + head * s.key_head_bytes);
  Element* const to = keys + slot / kKeyLanes * head_size * kKeyLanes + slot % kKeyLanes;
  for (std::size_t dim = 0; dim < head_size; ++dim) to[dim * kKeyLanes] = key[dim];
}

template <class Element>
Element* value_at(const SessionState& s, std::size_t head, std::uint32_t slot) noexcept {
  auto* const values = reinterpret_cast<Element*>(s.values + head * s.value_head_bytes);
  return values + std::size_t{slot} * value_pitch(s.config->head_size);
}

// Appends the keys and values of one token to the cache.
void store_token(SessionState& s, std::uint32_t layer, std::uint32_t t, std::uint32_t worker) noexcept {
  const Config& c = *s.config;
  const std::uint32_t slot = s.ring.slot(s.ring.count + t);
  const float* const k = s.qkv + std::size_t{t} * s.widths.qkv + std::size_t{c.n_head} * c.head_size;
  const float* const v = k + std::size_t{c.n_kv_head} * c.head_size;
  for (std::uint32_t h = 0; h < c.n_kv_head; ++h) {
    const std::size_t head = head_index(s, layer, h);
    const float* const key = k + std::size_t{h} * c.head_size;
    const float* const value = v + std::size_t{h} * c.head_size;
    const std::size_t padding = value_pitch(c.head_size) - c.head_size;
    if (s.shape.kv == KvType::f32) {
      store_key(s, head, slot, key);
      float* const to = value_at<float>(s, head, slot);
      std::memcpy(to, value, c.head_size * sizeof(float));
      for (std::size_t i = 0; i < padding; ++i) to[c.head_size + i] = 0;
    } else {
      Half* const half = s.half_row + std::size_t{worker} * value_pitch(c.head_size);
      s.kernels->to_half(key, c.head_size, half);
      store_key(s, head, slot, half);
      Half* const to = value_at<Half>(s, head, slot);
      s.kernels->to_half(value, c.head_size, to);
      for (std::size_t i = 0; i < padding; ++i) to[c.head_size + i] = 0;
    }
  }
}

// Whether a head's output fills whole groups of the next product's input, which needs it quantised.
bool heads_quantise(const SessionState& s, const Matrix& c_proj) noexcept {
  return is_quantised(c_proj) && s.config->head_size % kGroupColumns == 0;
}

// What is the same for all heads of a layer.
AttendArgs attend_args(const SessionState& s, std::uint32_t worker) noexcept {
  const Config& c = *s.config;
  AttendArgs args;
  args.q_pitch = s.widths.qkv;
  args.head_size = c.head_size;
  args.kv = s.shape.kv == KvType::f32 ? 0 : 1;
  args.ring = s.ring;
  args.scale = c.attention_scale != 0 ? c.attention_scale : 1.0f / std::sqrt(static_cast<float>(c.head_size));
  args.scratch = worker_scratch(s, worker);
  args.out_pitch = s.widths.attended;
  return args;
}

// Query head h of tokens t .. t + args->queries - 1.
void attend_head(const SessionState& s, std::uint32_t layer, std::uint32_t h, std::uint32_t t,
                 AttendArgs* args) noexcept {
  const std::size_t column = std::size_t{h} * args->head_size;
  const std::size_t head = head_index(s, layer, h / (s.config->n_head / s.config->n_kv_head));
  args->q = s.qkv + std::size_t{t} * s.widths.qkv + column;
  args->keys = s.keys + head * s.key_head_bytes;
  args->values = s.values + head * s.value_head_bytes;
  args->count = s.ring.count + t + 1;
  args->out = s.attended + std::size_t{t} * s.widths.attended + column;
  if (s.probe.row != nullptr) {
    args->probabilities_or_null = s.probe.row(s.probe.user, layer, h, s.ring.count + t);
  }
  attend(*s.kernels, *args);
}

// All heads of n tokens: a head after the other, so that its keys and values stay in a cache while its queries pass.
void attend_heads(const SessionState& s, std::uint32_t layer, std::uint32_t n) noexcept {
  const std::uint32_t n_head = s.config->n_head;
  const std::uint32_t head_size = s.config->head_size;
  const std::uint32_t together = s.probe.row != nullptr ? 1 : kAttendQueries;
  const std::uint32_t turns = (n + together - 1) / together;
  const bool quantise = heads_quantise(s, s.weights.layers[layer].attn_c_proj);
  const std::uint64_t work = std::uint64_t{n} * n_head * head_size * (s.ring.count + n) * sizeof(float);
  const std::uint32_t jobs = worthwhile_jobs(work, s.shape.workers, 1);
  for_parts(s, n_head * turns, jobs, [&](std::uint32_t worker, std::uint32_t begin, std::uint32_t end) {
    AttendArgs args = attend_args(s, worker);
    std::uint32_t h = begin / turns;
    std::uint32_t t = begin % turns * together;
    for (std::uint32_t i = begin; i < end; ++i) {
      args.queries = n - t < together ? n - t : together;
      attend_head(s, layer, h, t, &args);
      for (std::size_t row = t; quantise && row < t + args.queries; ++row) {
        const std::size_t at = row * s.widths.attended + std::size_t{h} * head_size;
        quantise_at(s, s.attended + at, at, head_size / kGroupColumns, s.q_input);
      }
      t += together;
      if (t >= n) t = 0, ++h;
    }
  });
}

}  // namespace

void attention_block(SessionState& s, std::uint32_t layer, std::uint32_t n) noexcept {
  const LayerWeights& w = s.weights.layers[layer];
  norm(s, {w.ln_1_weight, w.ln_1_bias, is_quantised(w.c_attn)}, 0, n);

  Product qkv;
  qkv.w = &w.c_attn;
  qkv.bias_or_null = w.c_attn_bias;
  qkv.input = s.h;
  qkv.q_input = s.q_input;
  qkv.out = s.qkv;
  qkv.out_pitch = s.widths.qkv;
  multiply(s, qkv, n);

  const bool prepares = s.config->positions == Positions::rotary || s.config->qk_norm != QkNorm::none;
  const std::uint32_t jobs = token_jobs(s, n, s.widths.qkv / 4);
  for_parts(s, n, jobs, [&](std::uint32_t worker, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t t = begin; t < end; ++t) {
      if (prepares) prepare_heads(s, layer, t, worker);
      store_token(s, layer, t, worker);
    }
  });
  attend_heads(s, layer, n);

  if (is_quantised(w.attn_c_proj) && !heads_quantise(s, w.attn_c_proj)) {
    const std::size_t width = s.widths.attended;
    for_parts(s, n, token_jobs(s, n, s.widths.attended), [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
      const auto groups = static_cast<std::uint32_t>((end - begin) * width / kGroupColumns);
      quantise_at(s, s.attended + begin * width, begin * width, groups, s.q_input);
    });
  }
  Product project;
  project.w = &w.attn_c_proj;
  project.bias_or_null = w.attn_c_proj_bias;
  project.input = s.attended;
  project.q_input = s.q_input;
  project.out = s.y;
  project.out_pitch = s.widths.embd;
  project.add_to_or_null = s.x;
  multiply(s, project, n);
}

}  // namespace minnow
