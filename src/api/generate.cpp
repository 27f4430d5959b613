// The loop: pick, show, feed. Depends on session and text.
#include "api/text_stream.hpp"
#include "base/arguments.hpp"
#include "base/check.hpp"
#include "session/state.hpp"

namespace minnow {
namespace {

// One call of generate().
struct Loop {
  Session& session;
  const Tokenizer* tokenizer_or_null;
  Sampler& sampler;
  const GenerateConfig& config;
  std::uint32_t n_candidates;  // only ids that have text are ever picked
  Token previous;              // what the token to come follows; -1: nothing
  TextStream stream;
  GenerateResult result;

  Status step() noexcept;
  bool show(Token token) noexcept;
  bool flush() noexcept;
};

// Shows one token. False if a callback said stop. While the callbacks run the session refuses to be fed.
bool Loop::show(Token token) noexcept {
  const Busy busy(*SessionAccess::state(session));
  bool go_on = config.on_token == nullptr || config.on_token(config.user, token);
  if (go_on && tokenizer_or_null != nullptr) go_on = stream.push(tokenizer_or_null->piece(token, previous));
  previous = token;
  return go_on;
}

// Shows the text that was held back.
bool Loop::flush() noexcept {
  const Busy busy(*SessionAccess::state(session));
  return stream.flush();
}

// One token. What is picked is also fed, so that the session holds the prompt and every token that was generated.
Status Loop::step() noexcept {
  Token token = 0;
  MINNOW_TRY(sampler.pick(session.logits().first(n_candidates), &token));
  if (token == config.stop_token) {
    result.stopped = true;
    return Status::ok;
  }
  ++result.tokens;
  if (!show(token)) return Status::cancelled;
  result.stopped = stream.stopped();
  return session.feed({&token, 1});
}

// The newest token that the session holds, or -1.
Token last_token(const SessionState& state) noexcept {
  return state.ring.count == 0 ? -1 : state.tokens[state.ring.slot(state.ring.count - 1)];
}

}  // namespace

Status generate(Session& session, const Tokenizer* tokenizer_or_null, Sampler& sampler, Span<const Token> prompt,
                const GenerateConfig& config, GenerateResult* result_or_null) noexcept {
  const bool has_text = tokenizer_or_null != nullptr && tokenizer_or_null->n_tokens() != 0;
  if (!has_text && (config.on_text != nullptr || !config.stop.empty())) return Status::bad_argument;
  SessionState* const state = SessionAccess::state(session);
  if (state == nullptr || state->busy) return Status::wrong_state;
  MINNOW_TRY(check_input(config.stop.data(), config.stop.size()));
  if (prompt.empty() && session.logits().empty()) return Status::bad_argument;

  state->pass_sink = {config.on_prompt, config.user};
  Status status = session.feed(prompt);
  state->pass_sink = {};
  Loop loop = {session,
               tokenizer_or_null,
               sampler,
               config,
               session.model().n_tokens,
               last_token(*state),
               TextStream(config.stop, config.on_text, config.user),
               {}};
  while (status == Status::ok && loop.result.tokens < config.max_tokens && !loop.result.stopped) status = loop.step();
  if (status != Status::cancelled && !loop.flush()) status = Status::cancelled;
  if (result_or_null != nullptr && (status == Status::ok || status == Status::cancelled ||
                                    status == Status::context_full || status == Status::numeric)) {
    *result_or_null = loop.result;
  }
  return status;
}

}  // namespace minnow
