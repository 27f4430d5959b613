// The loop: pick, show, feed. Depends on session and text through the public interface only.
#include "api/text_stream.hpp"
#include "base/check.hpp"

namespace minnow {
namespace {

// Only ids that have text are ever picked. A model without text has them all.
Span<const float> candidates(const Session& session) noexcept {
  const std::uint32_t n_tokens = session.model().n_tokens;
  const Span<const float> logits = session.logits();
  return n_tokens != 0 && n_tokens < logits.size() ? logits.first(n_tokens) : logits;
}

// One token; *go_on turns false when the stop text appeared. What is picked is also fed, so that the session always
// holds the prompt and every token that was generated, except after an error.
Status step(Session& session, const Tokenizer* tokenizer_or_null, Sampler& sampler, const GenerateConfig& config,
            TextStream& stream, GenerateResult* result) noexcept {
  Token token = 0;
  MINNOW_TRY(sampler.pick(candidates(session), &token));
  ++result->tokens;
  if (config.on_token != nullptr && !config.on_token(config.user, token)) return Status::cancelled;
  if (tokenizer_or_null != nullptr && !stream.push(tokenizer_or_null->piece(token))) return Status::cancelled;
  result->stopped = stream.stopped();
  return session.feed({&token, 1});
}

}  // namespace

Status generate(Session& session, const Tokenizer* tokenizer_or_null, Sampler& sampler, Span<const Token> prompt,
                const GenerateConfig& config, GenerateResult* result_or_null) noexcept {
  const bool has_text = tokenizer_or_null != nullptr && tokenizer_or_null->n_tokens() != 0;
  if (!has_text && (config.on_text != nullptr || !config.stop.empty())) return Status::bad_argument;
  if (session.context() == 0) return Status::wrong_state;
  if (prompt.empty() && session.logits().empty()) return Status::bad_argument;

  GenerateResult result;
  TextStream stream(config.stop, config.on_text, config.user);
  Status status = session.feed(prompt);
  while (status == Status::ok && result.tokens < config.max_tokens && !result.stopped) {
    status = step(session, tokenizer_or_null, sampler, config, stream, &result);
  }
  // A full context after the last token that was asked for is no loss to the caller.
  const bool complete = result.stopped || (result.tokens == config.max_tokens && result.tokens > 0);
  if (status == Status::context_full && complete) status = Status::ok;
  if (status != Status::cancelled && !stream.flush()) status = Status::cancelled;
  if (result_or_null != nullptr && (status == Status::ok || status == Status::cancelled ||
                                    status == Status::context_full || status == Status::numeric)) {
    *result_or_null = result;
  }
  return status;
}

}  // namespace minnow
