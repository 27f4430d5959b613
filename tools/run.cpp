// `minnow run`: prompt in, text out. stdout gets the prompt and the text, all else goes to stderr.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>

#include "session/window.hpp"
#include "text/utf8.hpp"
#include "tools/commands.hpp"
#include "tools/load.hpp"
#include "tools/process.hpp"
#include "tools/prompt.hpp"
#include "tools/signals.hpp"
#include "tools/system.hpp"

namespace minnow {
namespace {

constexpr const char* kCommand = "run";
constexpr const char* kSeparator = "---------------\n";

struct RunOptions {
  std::string model;
  std::string prompt;
  std::string prompt_file;
  std::string start;
  std::string dash;
  bool has_prompt = false;
  bool has_file = false;
  bool has_start = false;
  bool has_stop = false;
  bool has_dash = false;
  std::uint64_t n = 256;
  double temperature = 0.8;
  std::uint64_t top_k = 200;
  double top_p = 1;
  double min_p = 0;
  std::uint64_t seed = std::random_device{}();
  std::uint64_t samples = 1;
  std::string stop;
  std::uint32_t skip_unknown = 0;
  bool ids = false;
  bool no_echo = false;
  bool stats = false;
  SessionOptions session;
};

struct Prompt {
  TextInput input{kCommand};
  std::optional<TokenReader> reader;
  std::uint64_t tokens = 0;   // of all of it
  std::vector<Token> newest;  // the last of them, as many as a context can hold
  bool shown = true;          // false: the default that stands in for an empty prompt
};

// Writes to stdout at once, so that a reader sees each character when it is there.
class Output {
 public:
  Output(const Tokenizer& tokenizer, bool ids) : tokenizer_(tokenizer), ids_(ids) {}

  bool text(std::string_view bytes) {
    if (bytes.empty()) return true;
    errno = 0;
    failed_ = std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() || std::fflush(stdout) != 0;
    if (failed_) error_ = errno;
    last_ = bytes.back();
    return !failed_;
  }
  bool id(Token token) { return text((at_line_start() ? "" : " ") + std::to_string(token)); }
  // Some tokens of the prompt, whole characters of them. No tokens: its end.
  bool prompt(const std::vector<Token>& tokens) {
    std::string all = std::move(held_);
    for (const Token token : tokens) {
      if (!ids_) all += tokenizer_.piece(token, previous_);
      previous_ = token;
      if (ids_) all += (all.empty() && at_line_start() ? "" : " ") + std::to_string(token);
    }
    const std::size_t ready = all.size() - (tokens.empty() ? 0 : utf8_unfinished(all));
    held_ = all.substr(ready);
    if (tokens.empty()) previous_ = -1;
    return text(std::string_view(all).substr(0, ready));
  }
  void generated() {
    if (first_text_ == 0) first_text_ = seconds_since_start();
  }

  bool ids() const { return ids_; }
  bool at_line_start() const { return last_ == '\n'; }
  bool failed() const { return failed_; }
  int error() const { return error_; }
  double first_text() const { return first_text_; }  // seconds after the start of the process; 0: none yet

 private:
  const Tokenizer& tokenizer_;
  bool ids_;
  bool failed_ = false;
  int error_ = 0;
  char last_ = '\n';
  std::string held_;     // of the prompt: a character without its end
  Token previous_ = -1;  // of the prompt: the token before; -1 at its beginning
  double first_text_ = 0;
};

bool on_text(void* user, std::string_view text) {
  Output* const output = static_cast<Output*>(user);
  const bool written = output->ids() || output->text(text);
  output->generated();
  return written && !interrupted();
}

bool on_token(void* user, Token token) {
  Output* const output = static_cast<Output*>(user);
  if (!output->ids()) return !interrupted();
  const bool written = output->id(token);
  output->generated();
  return written && !interrupted();
}

struct Totals {
  std::uint64_t prompt_tokens = 0;
  std::uint64_t prefilled = 0;  // of these; the beginning of a prompt that is longer than the context never runs
  std::uint64_t tokens = 0;
  double prefill_seconds = 0;
  double decode_seconds = 0;
};

void bind(Options* options, RunOptions* run) {
  options->positional("-", &run->dash, &run->has_dash);
  options->text("p", "TEXT", &run->prompt, &run->has_prompt,
                "the prompt (what texts begin with in this vocabulary, or a new line)");
  options->text("f", "FILE", &run->prompt_file, &run->has_file, "read the prompt from a file or pipe; - is stdin");
  options->text("start", "TEXT", &run->start, &run->has_start, "the prompt, or FILE:NAME for the prompt in a file");
  options->number("n", "N", 0, UINT32_MAX, &run->n, "tokens to write (256)");
  options->real("temp", "T", 0, 1e30, &run->temperature, "temperature; 0 always takes the likeliest token (0.8)");
  options->number("top-k", "K", 0, UINT32_MAX, &run->top_k, "only the K likeliest tokens, and ties; 0: all (200)");
  options->real("top-p", "P", 0, 1, &run->top_p, "only the fewest likeliest tokens that reach P together (1)");
  options->real("min-p", "P", 0, 1, &run->min_p, "only tokens at least P times as likely as the likeliest (0)");
  options->number("seed", "S", 0, UINT64_MAX, &run->seed, "start of the random numbers (from the system)");
  options->number("samples", "N", 1, UINT32_MAX, &run->samples, "texts to write, with seeds S, S + 1, .. (1)");
  options->text("stop", "TEXT", &run->stop, &run->has_stop, "end before this text");
  options->choice("unknown", "WHAT", {{"error", 0}, {"skip", 1}}, &run->skip_unknown,
                  "characters that the model does not know: error, or skip, and what stands before and behind is "
                  "encoded apart (error)");
  options->flag("ids", &run->ids, "prompt and output are decimal token ids");
  options->flag("no-echo", &run->no_echo, "do not print the prompt");
  options->flag("stats", &run->stats, "speed, memory and seed on stderr at the end");
  options->alias("num_samples", "samples");
  options->alias("max_new_tokens", "n");
  options->alias("temperature", "temp");
  options->alias("top_k", "top-k");
  add_session_options(options, &run->session);
}

// --start as nanoGPT's sample.py takes it: a text, or "FILE:" and a name.
void take_start(RunOptions* run) {
  constexpr std::string_view kFile = "FILE:";
  const bool is_file = std::string_view(run->start).substr(0, kFile.size()) == kFile;
  (is_file ? run->has_file : run->has_prompt) = true;
  (is_file ? run->prompt_file : run->prompt) = run->start.substr(is_file ? kFile.size() : 0);
}

int check_options(const RunOptions& run) {
  if (run.has_dash && run.dash != "-") {
    return complain(kCommand, "one argument too many: '" + printable(run.dash) + "'; a prompt is given with -p",
                    kMisused);
  }
  if (int{run.has_prompt} + int{run.has_file} + int{run.has_dash} + int{run.has_start} > 1) {
    return complain(kCommand, "more than one prompt; expected one of -p TEXT, -f FILE and -", kMisused);
  }
  if (run.ids && run.has_stop) {
    return complain(kCommand, "found --ids and --stop, expected one of them: ids are written without text", kMisused);
  }
  if (static_cast<float>(run.top_p) <= 0) {
    return complain(kCommand, "--top-p: found 0, expected a number above 0, up to 1", kMisused);
  }
  return kDone;
}

// What every text of the vocabulary begins with, else a new line, or the first id where it has neither.
Token default_prompt(const Tokenizer& tokenizer) {
  if (tokenizer.begin_token() >= 0) return tokenizer.begin_token();
  Token token = 0;
  EncodeResult result;
  return tokenizer.encode("\n", {&token, 1}, &result) == Status::ok ? token : 0;
}

int make_prompt(const RunOptions& run, const LoadedModel& model, const Tokenizer& tokenizer, Prompt* out) {
  const SignalGuard signals;
  const bool is_read = run.has_file || run.has_dash;
  out->input.use(run.prompt);
  if (is_read) {
    const auto passes = run.no_echo ? TextInput::Passes::one : TextInput::Passes::many;
    const int status = out->input.open(run.has_file ? run.prompt_file : "-", passes);
    if (status != kDone) return status;
  }
  if (run.ids) out->reader.emplace(kCommand, &out->input, model.info.vocab_size);
  if (!run.ids) {
    out->reader.emplace(kCommand, &out->input, tokenizer, run.skip_unknown != 0, kPromptEncoding);
  }
  const std::uint64_t context = run.session.ctx != 0 ? run.session.ctx : model.info.block_size;
  const auto keep = static_cast<std::size_t>(std::min<std::uint64_t>(context, model.info.block_size));
  if (const int status = out->reader->scan(keep, &out->newest); status != kDone) return status;
  out->tokens = out->reader->count();
  out->shown = !run.no_echo;
  if (out->tokens == 0) {
    out->newest.push_back(default_prompt(tokenizer));
    out->tokens = 1;
    if (run.has_prompt || is_read) out->shown = false;  // an empty prompt: something must be fed, but nothing is shown
  }
  return interrupted() ? kInterrupted : kDone;
}

// The reason why a sample ended early, as an exit status.
int explain(Status status, const Output& output, const LoadedSession& session) {
  if (output.failed()) {
    if (system::nobody_reads(output.error())) return kFailed;  // whoever read the text has seen enough
    return complain(kCommand, std::string("cannot write to stdout: ") + std::strerror(output.error()));
  }
  if (interrupted()) return kInterrupted;
  if (status == Status::context_full) {
    complain(kCommand,
             "the context of " + std::to_string(session.session.context()) + " tokens is full (--when-full stop)");
    return kDone;
  }
  if (status == Status::numeric) {
    return complain(kCommand, "the model computed a number that is not finite; minnow info --verify checks the file");
  }
  return complain(kCommand, to_string(status));
}

// Writes the prompt, read again where it does not fit in memory.
int echo(Prompt* prompt, const LoadedSession& session, Output* output) {
  const bool is_default = prompt->reader->count() == 0;
  std::vector<Token> tokens;
  if (is_default && !output->prompt(prompt->newest)) return explain(Status::cancelled, *output, session);
  prompt->reader->rewind();
  do {
    if (const int status = prompt->reader->read(&tokens); status != kDone) return status;
    if (!output->prompt(tokens)) return explain(Status::cancelled, *output, session);
  } while (!tokens.empty());
  return kDone;
}

// Feeds an empty session what decides how a prompt goes on: the newest tokens that end up in the cache.
Status feed_prompt(const Prompt& prompt, LoadedSession* session) {
  Session& into = session->session;
  const std::uint32_t count = tokens_in_window(session->config.when_full, into.context(), 0, prompt.tokens);
  return into.feed({prompt.newest.data() + (prompt.newest.size() - count), count});
}

int write_sample(const RunOptions& run, const Tokenizer& tokenizer, Prompt* prompt, std::uint64_t seed,
                 LoadedSession* session, Output* output, Totals* totals) {
  SamplerConfig sampling;
  sampling.temperature = static_cast<float>(run.temperature);
  sampling.top_k = static_cast<std::uint32_t>(run.top_k);
  sampling.top_p = static_cast<float>(run.top_p);
  sampling.min_p = static_cast<float>(run.min_p);
  sampling.seed = seed;
  Sampler sampler;
  if (Sampler::create(sampling, &sampler) != Status::ok) return complain(kCommand, "bad sampling options", kMisused);

  if (prompt->shown) {
    if (const int echoed = echo(prompt, *session, output); echoed != kDone) return echoed;
  }
  const double begin = seconds_now();
  session->session.reset();
  Status status = feed_prompt(*prompt, session);
  const double fed = seconds_now();
  totals->prefilled += session->session.position();
  GenerateResult result;
  if (status == Status::ok && !interrupted()) {
    GenerateConfig config;
    config.max_tokens = static_cast<std::uint32_t>(run.n);
    config.stop = run.stop;
    config.stop_token = tokenizer.begin_token();
    config.on_text = tokenizer.n_tokens() != 0 ? on_text : nullptr;
    config.on_token = on_token;
    config.user = output;
    status = generate(session->session, &tokenizer, sampler, {}, config, &result);
  }
  // A full context after all that was asked for is no loss to the reader.
  const bool complete = result.stopped || (result.tokens == run.n && result.tokens > 0);
  if (status == Status::context_full && complete) status = Status::ok;
  totals->prompt_tokens += prompt->tokens;
  totals->tokens += result.tokens;
  totals->prefill_seconds += fed - begin;
  totals->decode_seconds += seconds_now() - fed;
  if (status == Status::ok && !interrupted()) return kDone;
  return explain(status, *output, *session);
}

double per_second(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

void print_stats(const RunOptions& run, const LoadedModel& model, const LoadedSession& session, const Output& output,
                 const Totals& totals) {
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::fprintf(stderr, "prompt: %llu %s, prefill %.0f tokens/s\n", number(totals.prompt_tokens),
               plural(totals.prompt_tokens, "token").c_str(), per_second(totals.prefilled, totals.prefill_seconds));
  std::fprintf(stderr, "text: %llu %s, decode %.0f tokens/s\n", number(totals.tokens),
               plural(totals.tokens, "token").c_str(), per_second(totals.tokens, totals.decode_seconds));
  if (output.first_text() == 0) std::fprintf(stderr, "first text: none\n");
  if (output.first_text() != 0)
    std::fprintf(stderr, "first text: %.1f ms after the start of the process\n", output.first_text() * 1e3);
  std::fprintf(stderr, "memory: peak %llu bytes, model %llu, session %llu\n", number(system::peak_memory()),
               number(model.info.file_bytes), number(session.bytes));
  std::fprintf(stderr, "seed: %llu\n", number(run.seed));
  std::fprintf(stderr, "isa: %s, threads: %u\n", kernels_name(session.session.isa()).c_str(), session.pool.width());
}

int write_samples(const RunOptions& run, const Tokenizer& tokenizer, Prompt* prompt, LoadedSession* session,
                  Output* output, Totals* totals) {
  for (std::uint64_t i = 0; i < run.samples; ++i) {
    if (i > 0) {
      if (!run.ids && !output->text("\n")) return explain(Status::cancelled, *output, *session);
      if (!output->text(kSeparator)) return explain(Status::cancelled, *output, *session);
    }
    const int status = write_sample(run, tokenizer, prompt, run.seed + i, session, output, totals);
    if (status != kDone) return status;
    if (run.ids && !output->text("\n")) return explain(Status::cancelled, *output, *session);
  }
  return kDone;
}

int run_model(const ModelPlace& place, RunOptions* options) {
  RunOptions& run = *options;
  int status = check_options(run);
  if (status != kDone) return status;
  if (run.has_start) take_start(&run);

  LoadedModel model;
  if ((status = open_model(kCommand, place, &model, run.session.how_to_load())) != kDone) return status;
  Tokenizer tokenizer;
  if (Tokenizer::open(model.model, &tokenizer) != Status::ok && !run.ids) {
    return complain(kCommand, model.shown + ": the model has no vocabulary; use --ids");
  }
  Prompt prompt;
  if ((status = make_prompt(run, model, tokenizer, &prompt)) != kDone) return status;
  LoadedSession session;
  if ((status = create_session(kCommand, model, run.session, &session)) != kDone) return status;
  if (session.config.when_full == WhenFull::stop && prompt.tokens > session.session.context()) {
    return complain(kCommand, "the prompt has " + std::to_string(prompt.tokens) + plural(prompt.tokens, " token") +
                                  ", the context " + std::to_string(session.session.context()) +
                                  "; shorten it or leave out --when-full stop");
  }

  const SignalGuard signals(SignalGuard::For::text);
  Output output(tokenizer, run.ids);
  Totals totals;
  status = write_samples(run, tokenizer, &prompt, &session, &output, &totals);
  if (run.stats) print_stats(run, model, session, output, totals);
  return status;
}

}  // namespace

int run_command(int argc, char** argv) {
  RunOptions run;
  Options options(
      kCommand, "run MODEL [-p TEXT | -f FILE | -] [options]",
      "Writes text that goes on from a prompt. In it the text of a special token, <|endoftext|>, is that token.");
  options.positional("MODEL", &run.model, nullptr);
  bind(&options, &run);
  int status = kDone;
  if (!options.parse(argc, argv, &status)) return status;
  return run_model({run.model, printable(run.model)}, &run);
}

int run_carried(int argc, char** argv, const ModelPlace& model) {
  RunOptions run;
  Options options(kCommand, "[-p TEXT | -f FILE | -] [options]",
                  "Writes text that goes on from a prompt, by the model that this program carries.");
  bind(&options, &run);
  int status = kDone;
  if (!options.parse(argc, argv, &status)) return status;
  return run_model(model, &run);
}

}  // namespace minnow
