// Prompts and steps as a user of the library meets them, without sampling.
#include "session/state.hpp"
#include "tools/bench/measure.hpp"

namespace minnow {
namespace {

constexpr std::uint32_t kSteps = 8;  // timed together

std::vector<Token> some_tokens(std::uint32_t n, std::uint32_t vocab_size) {
  std::vector<Token> tokens(n);
  for (std::uint32_t i = 0; i < n; ++i)
    tokens[i] = static_cast<Token>((std::uint64_t{i} * i * 7 + i * 3 + 1) % vocab_size);
  return tokens;
}

// False where a logit is not finite, which ends the run of the program elsewhere and here makes no difference.
void feed(Session* session, const Token* tokens, std::uint32_t n) {
  static_cast<void>(session->feed(Span<const Token>(tokens, n)));
}

// Forgets all but the first `position` tokens. Only while nothing has been shifted out of the context.
void rewind(SessionState* state, std::uint32_t position) { state->ring.count = position; }

std::vector<std::uint32_t> prefill_lengths(std::uint32_t context) {
  std::vector<std::uint32_t> lengths;
  for (const std::uint32_t length : {16u, 64u, 256u}) {
    if (length < context) lengths.push_back(length);
  }
  lengths.push_back(context);
  return lengths;
}

std::uint32_t steps_at_once(std::uint32_t context) { return std::max(std::min(kSteps, context / 4), 1u); }

double product_macs(const SessionState& state, std::uint32_t tokens) {
  double macs = 0;
  for (const MatrixKind& kind : matrix_kinds(state)) {
    const bool of_last_token = std::string(kind.name) == "output";
    for (const Matrix* const matrix : kind.matrices) {
      macs += static_cast<double>(matrix_macs(*matrix)) * (of_last_token ? 1 : tokens);
    }
  }
  return macs;
}

std::string seconds_text(double seconds) { return std::to_string(static_cast<std::uint64_t>(seconds + 1)) + " s"; }

}  // namespace

std::uint32_t step_figures(const LoadedSession& session) {
  return static_cast<std::uint32_t>(prefill_lengths(session.context).size()) + 3;
}

void measure_prefill(LoadedSession* session, TimePlan* plan, BenchResult* out) {
  SessionState* const state = SessionAccess::state(session->session);
  const std::vector<Token> tokens = some_tokens(session->context, state->config->vocab_size);
  double a_token = 0;  // seconds, at the length before
  for (const std::uint32_t length : prefill_lengths(session->context)) {
    const double expected = a_token * length;
    if (expected > plan->seconds_left()) {
      out->left_out.push_back("prefill of " + std::to_string(length) + " tokens with " +
                              std::to_string(session->pool.width()) + plural(session->pool.width(), " thread") +
                              ": about " + seconds_text(expected));
      plan->skip();
      continue;
    }
    const auto once = [&] {
      session->session.reset();
      feed(&session->session, tokens.data(), length);
    };
    const std::uint32_t calls = expected < 0.1 ? calls_for_a_run(once) : 1;
    std::vector<double> runs;
    plan->repeat([&] { runs.push_back(seconds_of(calls, once)); });
    PrefillResult result;
    result.threads = session->pool.width();
    result.length = length;
    result.seconds = figure_of(runs);
    result.macs = product_macs(*state, length) + attention_macs(*state, 0, length);
    a_token = result.seconds.median / length;
    out->prefill.push_back(result);
  }
}

void measure_decode(LoadedSession* session, TimePlan* plan, BenchResult* out) {
  SessionState* const state = SessionAccess::state(session->session);
  const std::uint32_t context = session->context;
  const std::uint32_t steps = steps_at_once(context);
  const std::vector<Token> tokens = some_tokens(context, state->config->vocab_size);
  const std::uint32_t last = context - steps;

  // Deepest first: one fill serves all. What fills less than all is what prefill could afford.
  std::uint32_t filled = 0;
  for (const PrefillResult& result : out->prefill) {
    if (result.threads == session->pool.width()) filled = std::max(filled, result.length);
  }
  filled = std::min(filled, last);
  if (state->ring.count >= filled) {  // the longest prompt is still there
    rewind(state, filled);
  } else {
    session->session.reset();
    feed(&session->session, tokens.data(), filled);
  }
  std::vector<DecodeResult> results;
  std::vector<std::uint32_t> positions = {last, context / 2, 0};
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  for (const std::uint32_t position : positions) {
    const std::uint32_t label = position == last ? context : position;
    if (position > filled) {
      out->left_out.push_back("decode at context " + std::to_string(label) + ", as prompts of that length");
      plan->skip();
      continue;
    }
    const auto once = [&] {
      rewind(state, position);
      for (std::uint32_t i = 0; i < steps; ++i) feed(&session->session, tokens.data() + position + i, 1);
    };
    const std::uint32_t calls = calls_for_a_run(once);
    std::vector<double> runs;
    plan->repeat([&] { runs.push_back(seconds_of(calls, once) / steps); });
    DecodeResult result;
    result.threads = session->pool.width();
    result.context = label;
    result.seconds = figure_of(runs);
    result.bytes = static_cast<double>(out->step_bytes) + cache_bytes(*state, position + (steps + 1) / 2);
    results.push_back(result);
  }
  rewind(state, filled);
  out->decode.insert(out->decode.end(), results.rbegin(), results.rend());
}

}  // namespace minnow
