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
  return s.attend_scratch + std::size_t{worker} * round_up(attend_scratch(s.config->head_size), 16u);
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

// Writes one key and one value, of kv elements, into their slot.
template <class Element>
void store_head(const SessionState& s, std::size_t head, std::uint32_t slot, const Element* key, const Element* value,
                Element zero) noexcept {
  const std::size_t head_size = s.config->head_size;
  const std::size_t pitch = value_pitch(s.config->head_size);
  auto* const keys = reinterpret_cast<Element*>(s.keys + head * s.key_head_bytes);
  auto* const values = reinterpret_cast<Element*>(s.values + head * s.value_head_bytes);
  if (key != nullptr) {
    Element* const to = keys + slot / kKeyLanes * head_size * kKeyLanes + slot % kKeyLanes;
    for (std::size_t dim = 0; dim < head_size; ++dim) to[dim * kKeyLanes] = key[dim];
  }
  if (value != nullptr) {
    Element* const to = values + slot * pitch;
    for (std::size_t dim = 0; dim < pitch; ++dim) to[dim] = dim < head_size ? value[dim] : zero;
  }
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
    if (s.shape.kv == KvType::f32) {
      store_head<float>(s, head, slot, key, value, 0.0f);
    } else {
      Half* const half = s.half_row + std::size_t{worker} * value_pitch(c.head_size);
      s.kernels->to_half(key, c.head_size, half);
      store_head<Half>(s, head, slot, half, nullptr, 0);
      s.kernels->to_half(value, c.head_size, half);
      store_head<Half>(s, head, slot, nullptr, half, 0);
    }
  }
}

// One query head of one token.
void attend_head(SessionState& s, std::uint32_t layer, std::uint32_t t, std::uint32_t h,
                 std::uint32_t worker) noexcept {
  const Config& c = *s.config;
  const std::size_t head = head_index(s, layer, h / (c.n_head / c.n_kv_head));
  const std::uint32_t position = s.ring.count + t;
  AttendArgs args;
  args.q = s.qkv + std::size_t{t} * s.widths.qkv + std::size_t{h} * c.head_size;
  args.head_size = c.head_size;
  args.keys = s.keys + head * s.key_head_bytes;
  args.values = s.values + head * s.value_head_bytes;
  args.kv = s.shape.kv == KvType::f32 ? 0 : 1;
  args.ring = s.ring;
  args.count = position + 1;
  args.scale = c.attention_scale != 0 ? c.attention_scale : 1.0f / std::sqrt(static_cast<float>(c.head_size));
  args.scratch = worker_scratch(s, worker);
  args.out = s.attended + std::size_t{t} * s.widths.attended + std::size_t{h} * c.head_size;
  if (s.probe.row != nullptr) args.probabilities_or_null = s.probe.row(s.probe.user, layer, h, position);
  attend(*s.kernels, args);
}

}  // namespace

void attention_block(SessionState& s, std::uint32_t layer, std::uint32_t n) noexcept {
  const LayerWeights& w = s.weights.layers[layer];
  norm(s, w.ln_1_weight, w.ln_1_bias, 0, n);

  Product qkv;
  qkv.w = &w.c_attn;
  qkv.bias_or_null = w.c_attn_bias;
  qkv.input = s.h;
  qkv.out = s.qkv;
  qkv.out_pitch = s.widths.qkv;
  multiply(s, qkv, n);

  const bool prepares = s.config->positions == Positions::rotary || s.config->qk_norm != QkNorm::none;
  for_parts(s, n, [&](std::uint32_t worker, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t t = begin; t < end; ++t) {
      if (prepares) prepare_heads(s, layer, t, worker);
      store_token(s, layer, t, worker);
    }
  });
  const std::uint32_t n_head = s.config->n_head;
  for_parts(s, n * n_head, [&](std::uint32_t worker, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i) attend_head(s, layer, i / n_head, i % n_head, worker);
  });

  Product project;
  project.w = &w.attn_c_proj;
  project.bias_or_null = w.attn_c_proj_bias;
  project.input = s.attended;
  project.out = s.y;
  project.out_pitch = s.widths.embd;
  project.add_to_or_null = s.x;
  multiply(s, project, n);
}

}  // namespace minnow
