// One token's, or one batch's, way through the network: embed, then for every layer attention and MLP, then the head.
#include "session/layers.hpp"

#include <cmath>

#include "session/attention.hpp"
#include "session/run_jobs.hpp"

namespace minnow {
namespace {

// x = wte[token] + wpe[position]
void embed(SessionState& s, const Token* tokens, std::uint32_t n) noexcept {
  const std::uint32_t n_embd = s.config->n_embd;
  const std::size_t wpe_pitch = round_up(n_embd, 8u);
  for (std::uint32_t t = 0; t < n; ++t) {
    float* const x = s.x + std::size_t{t} * s.widths.embd;
    gather_row(s.weights.wte.data, s.weights.wte.type, n_embd, static_cast<std::uint32_t>(tokens[t]), x);
    s.kernels->add(x, s.weights.wpe + std::size_t{s.ring.count + t} * wpe_pitch, n_embd);
  }
}

// h = layer_norm(x), for tokens first .. first + n - 1
void norm(SessionState& s, const float* weight, const float* bias_or_null, std::uint32_t first,
          std::uint32_t n) noexcept {
  for_parts(s, n, [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t t = first + begin; t < first + end; ++t) {
      const std::size_t at = std::size_t{t} * s.widths.embd;
      s.kernels->layer_norm(s.x + at, weight, bias_or_null, s.config->n_embd, s.config->norm_eps, s.h + at);
    }
  });
}

// What happens to a product's rows right after it, while they are in the first cache.
struct Product {
  const Matrix* w = nullptr;
  const float* bias_or_null = nullptr;
  const float* input = nullptr;  // [n][columns padded to 32]
  float* out = nullptr;          // [n][out_pitch]
  std::uint32_t out_pitch = 0;
  void (*activation_or_null)(float*, std::uint32_t) = nullptr;
  float* add_to_or_null = nullptr;  // [n][out_pitch] += out
};

void quantise_input(SessionState& s, const float* input, std::uint32_t groups, std::uint32_t n) noexcept {
  for_parts(s, n, [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      const std::size_t columns = std::size_t{groups} * kGroupColumns;
      s.kernels->quantise(input + t * columns, groups, s.q + t * columns, s.q_scale + t * groups, s.q_sum + t * groups);
    }
  });
}

void multiply(SessionState& s, const Product& p, std::uint32_t n) noexcept {
  MatmulArgs args;
  args.weights = p.w->data;
  args.bias_or_null = p.bias_or_null;
  args.groups = group_count(p.w->columns);
  args.tokens = n;
  args.x = p.input;
  args.q = s.q;
  args.scale = s.q_scale;
  args.sum = s.q_sum;
  args.out = p.out;
  args.out_pitch = p.out_pitch;
  if (p.w->type == WeightType::q8) quantise_input(s, p.input, args.groups, n);
  const auto matmul = s.kernels->matmul[static_cast<std::uint32_t>(p.w->type)];
  for_parts(s, block_count(p.w->rows), [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
    MatmulArgs part = args;
    part.block_begin = begin;
    part.block_end = end;
    matmul(part);
    const std::uint32_t row = begin * kBlockRows;
    const std::uint32_t rows = (end * kBlockRows < p.w->rows ? end * kBlockRows : p.w->rows) - row;
    for (std::size_t t = 0; t < n; ++t) {
      float* const out = p.out + t * p.out_pitch + row;
      if (p.activation_or_null != nullptr) p.activation_or_null(out, rows);
      if (p.add_to_or_null != nullptr) s.kernels->add(p.add_to_or_null + t * p.out_pitch + row, out, rows);
    }
  });
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
  args.scratch = s.attend_scratch + std::size_t{worker} * round_up(attend_scratch(c.head_size), 16u);
  args.out = s.attended + std::size_t{t} * s.widths.attended + std::size_t{h} * c.head_size;
  if (s.probe.row != nullptr) args.probabilities_or_null = s.probe.row(s.probe.user, layer, h, position);
  attend(*s.kernels, args);
}

// x += c_proj(heads(c_attn(ln_1(x))))
void attention(SessionState& s, std::uint32_t layer, std::uint32_t n) noexcept {
  const LayerWeights& w = s.weights.layers[layer];
  norm(s, w.ln_1_weight, w.ln_1_bias, 0, n);

  Product qkv;
  qkv.w = &w.c_attn;
  qkv.bias_or_null = w.c_attn_bias;
  qkv.input = s.h;
  qkv.out = s.qkv;
  qkv.out_pitch = s.widths.qkv;
  multiply(s, qkv, n);

  for_parts(s, n, [&](std::uint32_t worker, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t t = begin; t < end; ++t) store_token(s, layer, t, worker);
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

// x += c_proj(gelu(c_fc(ln_2(x))))
void mlp(SessionState& s, std::uint32_t layer, std::uint32_t n) noexcept {
  const LayerWeights& w = s.weights.layers[layer];
  norm(s, w.ln_2_weight, w.ln_2_bias, 0, n);

  Product up;
  up.w = &w.c_fc;
  up.bias_or_null = w.c_fc_bias;
  up.input = s.h;
  up.out = s.hidden;
  up.out_pitch = s.widths.hidden;
  up.activation_or_null = s.config->activation == Activation::gelu_tanh ? s.kernels->gelu_tanh : s.kernels->gelu_erf;
  multiply(s, up, n);

  Product down;
  down.w = &w.mlp_c_proj;
  down.bias_or_null = w.mlp_c_proj_bias;
  down.input = s.hidden;
  down.out = s.y;
  down.out_pitch = s.widths.embd;
  down.add_to_or_null = s.x;
  multiply(s, down, n);
}

bool all_finite(const float* x, std::uint32_t n) noexcept {
  bool finite = true;
  for (std::uint32_t i = 0; i < n; ++i) finite &= (bit_cast<std::uint32_t>(x[i]) & 0x7f800000u) != 0x7f800000u;
  return finite;
}

}  // namespace

void forward(SessionState& s, const Token* tokens, std::uint32_t n) noexcept {
  embed(s, tokens, n);
  for (std::uint32_t layer = 0; layer < s.config->n_layer; ++layer) {
    attention(s, layer, n);
    mlp(s, layer, n);
  }
  for (std::uint32_t t = 0; t < n; ++t) s.tokens[s.ring.slot(s.ring.count + t)] = tokens[t];
  s.ring.count += n;
  s.last_pass = n;
  s.has_logits = false;
}

std::uint32_t compute_logits(SessionState& s, std::uint32_t first, std::uint32_t n) noexcept {
  norm(s, s.weights.ln_f_weight, s.weights.ln_f_bias, first, n);
  Product head;
  head.w = &s.weights.wte;
  head.input = s.h + std::size_t{first} * s.widths.embd;
  head.out = s.logits;
  head.out_pitch = s.widths.logits;
  multiply(s, head, n);
  for (std::uint32_t t = 0; t < n; ++t) {
    if (!all_finite(s.logits + std::size_t{t} * s.widths.logits, s.config->vocab_size)) return t;
  }
  return n;
}

}  // namespace minnow
