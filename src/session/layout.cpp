// The layout of a session's one block of memory.
#include "session/attention.hpp"
#include "session/state.hpp"

namespace minnow {
namespace {

// Stops at the largest value, which no arena has.
std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t out = UINT64_MAX;
  return checked_multiply(a, b, &out) ? out : UINT64_MAX;
}

Widths widths_of(const Config& c) noexcept {
  Widths w;
  w.embd = round_up(c.n_embd, 32u);
  w.qkv = round_up((c.n_head + 2 * c.n_kv_head) * c.head_size, 8u);
  w.attended = round_up(c.n_head * c.head_size, 32u);
  w.hidden = round_up(c.n_hidden, 32u);
  w.input = w.embd > w.attended ? w.embd : w.attended;
  w.logits = round_up(c.vocab_size, 8u);
  w.rotation = round_up(c.rotary_dims / 2, 8u);
  return w;
}

Quantised take_quantised(Arena& arena, std::uint64_t batch, std::uint64_t width) noexcept {
  Quantised q;
  q.q = arena.take<std::int8_t>(product(batch, width));
  q.scale = arena.take<float>(product(batch, width / kGroupColumns));
  q.sum = arena.take<std::int32_t>(product(batch, width / kGroupColumns));
  return q;
}

}  // namespace

void lay_out(Arena& arena, const Config& c, const SessionShape& shape, SessionState* out) noexcept {
  const Widths w = widths_of(c);
  const std::uint64_t batch = shape.batch;
  const std::uint64_t heads = product(c.n_layer, c.n_kv_head);  // of all layers
  const std::uint64_t element = kv_bytes(shape.kv);
  const std::uint64_t key_blocks = block_count(shape.context);
  const std::uint64_t key_head = product(product(key_blocks * kKeyLanes, c.head_size), element);
  const std::uint64_t value_head = product(product(shape.context, value_pitch(c.head_size)), element);
  const std::uint64_t logit_rows = batch < kLogitRows ? batch : kLogitRows;
  const std::uint32_t together = shape.batch < kAttendQueries ? shape.batch : kAttendQueries;
  const std::uint64_t attend_pitch = round_up(attend_scratch(c.head_size, together), 16u);

  arena.take<SessionState>(1);
  SessionState s;
  s.shape = shape;
  s.widths = w;
  s.key_head_bytes = static_cast<std::size_t>(key_head);
  s.value_head_bytes = static_cast<std::size_t>(value_head);

  s.weights.layers = arena.take<LayerWeights>(c.n_layer);
  if (family_needed(c)) s.weights.family = arena.take<FamilyWeights>(1);
  if (layer_family_needed(c)) s.weights.family_layers = arena.take<LayerFamilyWeights>(c.n_layer);
  s.tokens = arena.take<Token>(shape.context);
  s.keys = arena.take<std::byte>(product(heads, key_head));
  s.values = arena.take<std::byte>(product(heads, value_head));

  s.x = arena.take<float>(product(batch, w.embd));
  s.h = arena.take<float>(product(batch, w.embd));
  if (c.positions == Positions::rotary) s.rotation = arena.take<float>(product(batch, 2 * std::uint64_t{w.rotation}));
  s.qkv = arena.take<float>(product(batch, w.qkv));
  s.attended = arena.take<float>(product(batch, w.attended));
  s.hidden = arena.take<float>(product(batch, w.hidden));
  if (c.activation == Activation::silu_gated) s.gate = arena.take<float>(product(batch, w.hidden));
  s.y = arena.take<float>(product(batch, w.embd));
  s.logits = arena.take<float>(product(logit_rows, w.logits));

  s.q_input = take_quantised(arena, batch, w.input);
  s.q_hidden = take_quantised(arena, batch, w.hidden);

  s.attend_pitch = static_cast<std::size_t>(attend_pitch);
  s.attend_scratch = arena.take<float>(product(shape.workers, attend_pitch));
  s.half_row = arena.take<Half>(product(shape.workers, value_pitch(c.head_size)));
  *out = s;
}

}  // namespace minnow
