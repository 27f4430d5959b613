// Session: creation in the caller's memory, feeding, and what happens when the context is full.
#include <new>

#include "base/arguments.hpp"
#include "base/check.hpp"
#include "session/layers.hpp"
#include "session/options.hpp"
#include "session/window.hpp"

namespace minnow {
namespace {

bool valid_tokens(Span<const Token> tokens, std::uint32_t vocab_size) noexcept {
  for (const Token token : tokens) {
    if (token < 0 || static_cast<std::uint32_t>(token) >= vocab_size) return false;
  }
  return true;
}

std::uint32_t min_size(std::size_t a, std::uint32_t b) noexcept { return a < b ? static_cast<std::uint32_t>(a) : b; }

// Tokens that one feed() computes.
struct Progress {
  std::size_t total = 0;
  std::size_t done = 0;
};

// Into the cache, without logits. The ring has room for all. False if the sink wants no more.
bool append(SessionState& s, Span<const Token> tokens, Progress* progress) noexcept {
  while (!tokens.empty()) {
    const std::uint32_t n = min_size(tokens.size(), s.shape.batch);
    forward(s, tokens.data(), n);
    tokens = tokens.from(n);
    progress->done += n;
    if (s.pass_sink.on_pass == nullptr) continue;
    if (!s.pass_sink.on_pass(s.pass_sink.user, progress->done, progress->total)) return false;
  }
  return true;
}

// Forgets all but the newest `keep` tokens and encodes these again, at positions 0 .. keep - 1. Every cached key
// carries the position it was computed at, and every value what its token could see from there.
bool re_encode(SessionState& s, std::uint32_t keep, Progress* progress) noexcept {
  std::memmove(s.tokens, s.tokens + (s.ring.count - keep), keep * sizeof(Token));
  s.ring.clear();
  return append(s, Span<const Token>(s.tokens, keep), progress);
}

// Feeds `tokens` so that the cache holds what feeding them singly would leave; windows in between that a later shift
// would throw away are not computed.
bool append_across_edge(SessionState& s, Span<const Token> tokens) noexcept {
  Progress progress;
  if (tokens.size() <= s.shape.context - s.ring.count) {
    progress.total = tokens.size();
    return append(s, tokens, &progress);
  }
  const std::uint32_t in_window = tokens_in_window(s.when_full, s.shape.context, s.ring.count, tokens.size());
  progress.total = in_window;
  s.fewest = fewest_after_edge(s.when_full, s.shape.context);
  if (in_window > tokens.size()) {
    const std::uint32_t kept = in_window - static_cast<std::uint32_t>(tokens.size());
    return re_encode(s, kept, &progress) && append(s, tokens, &progress);
  }
  s.ring.clear();
  return append(s, tokens.from(tokens.size() - in_window), &progress);
}

Status check_feed(const SessionState* s, Span<const Token> tokens) noexcept {
  if (s == nullptr || s->busy) return Status::wrong_state;
  MINNOW_TRY(check_input(tokens.data(), tokens.size()));
  if (!valid_tokens(tokens, s->config->vocab_size)) return Status::bad_argument;
  if (s->when_full == WhenFull::stop && tokens.size() > s->shape.context - s->ring.count) return Status::context_full;
  return Status::ok;
}

}  // namespace

Status Session::memory_needed(const Model& model, const SessionConfig& config, std::size_t* bytes) noexcept {
  if (bytes == nullptr) return Status::bad_argument;
  if (model.file().data() == nullptr) return Status::wrong_state;
  SessionShape shape;
  MINNOW_TRY(session_shape(ModelView(model).config(), config, &shape));
  return session_bytes(ModelView(model).config(), shape, bytes);
}

Status Session::create(const Model& model, const SessionConfig& config, Span<std::byte> memory, Session* out,
                       std::size_t* needed_or_null) noexcept {
  if (out == nullptr) return Status::bad_argument;
  std::size_t needed = 0;
  MINNOW_TRY(memory_needed(model, config, &needed));
  if (memory.data() == nullptr || memory.size() < needed) {
    if (needed_or_null != nullptr) *needed_or_null = needed;
    return Status::memory_too_small;
  }
  if (!is_aligned(memory.data(), kAlign)) return Status::misaligned;

  const ModelView view(model);
  SessionShape shape;
  MINNOW_TRY(session_shape(view.config(), config, &shape));
  Arena arena(memory.first(needed));
  SessionState s;
  lay_out(arena, view.config(), shape, &s);
  // Everything behind the cache is zero, paddings included. The cache is written before it is read.
  std::byte* const activations = reinterpret_cast<std::byte*>(s.x);
  std::memset(activations, 0, static_cast<std::size_t>(memory.data() + needed - activations));
  s.model = model;
  s.config = &view.config();
  s.kernels = select_kernels(config.isa);
  s.executor = config.executor;
  s.when_full = config.when_full;
  s.ring.slots = shape.context;
  resolve_weights(view, &s.weights);
  out->state_ = new (memory.data()) SessionState(s);
  out->state_->self = *out;
  return Status::ok;
}

Status Session::feed(Span<const Token> tokens) noexcept {
  MINNOW_TRY(check_feed(state_, tokens));
  SessionState& s = *state_;
  if (tokens.empty()) return Status::ok;
  const Busy busy(s);
  if (!append_across_edge(s, tokens)) return Status::cancelled;
  // The last pass ended with the newest token.
  s.last_logits = 0;
  s.has_logits = compute_logits(s, s.last_pass - 1, 1) == 1;
  return s.has_logits ? Status::ok : Status::numeric;
}

Status Session::feed(Span<const Token> tokens, Span<float> logits) noexcept {
  MINNOW_TRY(check_feed(state_, tokens));
  SessionState& s = *state_;
  const std::size_t vocab_size = s.config->vocab_size;
  if (logits.size() / vocab_size < tokens.size()) return Status::output_too_small;
  MINNOW_TRY(check_room(logits.data(), logits.size()));
  const Busy busy(s);
  float* out = logits.data();
  bool finite = true;
  while (!tokens.empty()) {
    if (s.ring.full()) {
      Progress progress;
      s.fewest = fewest_after_edge(s.when_full, s.shape.context);
      re_encode(s, kept_when_full(s.when_full, s.shape.context), &progress);
    }
    const std::uint32_t room = s.shape.context - s.ring.count;
    const std::uint32_t n = min_size(tokens.size(), room < s.shape.batch ? room : s.shape.batch);
    forward(s, tokens.data(), n);
    for (std::uint32_t done = 0; done < n;) {
      const std::uint32_t rows = min_size(n - done, kLogitRows);
      const bool rows_finite = compute_logits(s, done, rows) == rows;
      finite &= rows_finite;
      s.has_logits = rows_finite;
      for (std::uint32_t t = 0; t < rows; ++t, out += vocab_size) {
        std::memcpy(out, s.logits + std::size_t{t} * s.widths.logits, vocab_size * sizeof(float));
      }
      s.last_logits = rows - 1;
      done += rows;
    }
    tokens = tokens.from(n);
  }
  return finite ? Status::ok : Status::numeric;
}

Span<const float> Session::logits() const noexcept {
  if (state_ == nullptr || !state_->has_logits) return {};
  return {state_->logits + std::size_t{state_->last_logits} * state_->widths.logits, state_->config->vocab_size};
}

std::uint32_t Session::position() const noexcept { return state_ != nullptr ? state_->ring.count : 0; }
std::uint32_t Session::context() const noexcept { return state_ != nullptr ? state_->shape.context : 0; }
Isa Session::isa() const noexcept { return state_ != nullptr ? state_->kernels->isa : Isa::best; }
KvType Session::kv() const noexcept { return state_ != nullptr ? state_->shape.kv : KvType::automatic; }
ModelInfo Session::model() const noexcept { return state_ != nullptr ? state_->model.info() : ModelInfo{}; }

void Session::reset() noexcept {
  if (state_ == nullptr || state_->busy) return;
  state_->ring.clear();
  state_->fewest = 0;
  state_->has_logits = false;
}

Status Session::rewind(std::uint32_t tokens) noexcept {
  if (state_ == nullptr || state_->busy) return Status::wrong_state;
  SessionState& s = *state_;
  if (tokens > s.ring.count) return Status::bad_argument;
  if (tokens == 0) return Status::ok;
  if (s.ring.count - tokens < s.fewest) return Status::wrong_state;
  s.ring.count -= tokens;
  s.has_logits = false;
  return Status::ok;
}

}  // namespace minnow
