// `minnow eval`: the mean loss over whole windows of a text, as nanoGPT measures it.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "tools/commands.hpp"
#include "tools/convert/file.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/id_stream.hpp"
#include "tools/json.hpp"
#include "tools/load.hpp"
#include "tools/loss.hpp"
#include "tools/prompt.hpp"
#include "tools/signals.hpp"

namespace minnow {
namespace {

constexpr const char* kCommand = "eval";

struct EvalOptions {
  std::string model;
  std::string text_file;
  std::string ids_file;
  std::string logits_file;
  bool has_text = false;
  bool has_ids = false;
  bool has_logits = false;
  std::uint64_t windows = 0;  // 0: all
  bool json = false;
  std::uint32_t skip_unknown = 0;
  SessionOptions session;
};

struct Score {
  double loss_sum = 0;  // nats
  std::uint64_t windows = 0;
  std::uint64_t tokens = 0;
};

// Where the tokens come from: a stream of ids, or a text, which is checked whole and then read again.
class Source {
 public:
  int open(const EvalOptions& options, const LoadedModel& model) {
    if (options.has_ids) return ids_.open(options.ids_file, model.info.vocab_size);
    Tokenizer tokenizer;
    if (Tokenizer::open(model.model, &tokenizer) != Status::ok) {
      return complain(kCommand, printable(options.model) + ": the model has no vocabulary; use --ids");
    }
    if (const int status = text_.open(options.text_file, TextInput::Passes::many); status != kDone) return status;
    reader_.emplace(kCommand, &text_, tokenizer, options.skip_unknown != 0);
    if (const int status = reader_->scan(0, &tokens_); status != kDone) return status;
    reader_->rewind();
    return kDone;
  }

  // Appends up to `count` tokens, fewer only at the end. Returns an exit status.
  int read(std::size_t count, std::vector<Token>* out) {
    if (!reader_) return ids_.read(count, out);
    while (count > 0) {
      if (at_ == tokens_.size()) {
        at_ = 0;
        if (const int status = reader_->read(&tokens_); status != kDone) return status;
        if (tokens_.empty()) return kDone;
      }
      const std::size_t end = at_ + std::min(count, tokens_.size() - at_);
      count -= end - at_;
      for (; at_ < end; ++at_) out->push_back(tokens_[at_]);
    }
    return kDone;
  }

 private:
  IdStream ids_{kCommand};
  TextInput text_{kCommand};
  std::optional<TokenReader> reader_;  // of text_
  std::vector<Token> tokens_;          // a piece of it
  std::size_t at_ = 0;                 // in tokens_
};

// Feeds one window in batches, which gives the same bits as feeding it whole and needs little memory for logits.
// tokens: [window + 1]
int score_window(const std::vector<Token>& tokens, Session* session, std::vector<float>* logits,
                 convert::OutputFile* file_or_null, Score* score) {
  const std::size_t vocab_size = session->model().vocab_size;
  const std::size_t batch = logits->size() / vocab_size;
  const std::size_t window = tokens.size() - 1;
  session->reset();
  for (std::size_t begin = 0; begin < window; begin += batch) {
    if (interrupted()) return kInterrupted;
    const std::size_t count = window - begin < batch ? window - begin : batch;
    const Span<float> rows(logits->data(), count * vocab_size);
    const Status status = session->feed({tokens.data() + begin, count}, rows);
    if (status == Status::context_full) {
      return complain(kCommand, "a window of " + std::to_string(window) + " tokens does not fit the context of " +
                                    std::to_string(session->context()) + "; leave out --ctx or --when-full stop");
    }
    if (status != Status::ok) {
      return complain(kCommand, "window " + std::to_string(score->windows) + ": " + to_string(status));
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Span<const float> row(rows.data() + i * vocab_size, vocab_size);
      score->loss_sum += token_loss(row, tokens[begin + i + 1]);
    }
    if (file_or_null != nullptr) file_or_null->append(rows.data(), rows.size() * sizeof(float));
  }
  ++score->windows;
  score->tokens += window;
  return kDone;
}

int score_all(const EvalOptions& options, Source* source, Session* session, Score* score) {
  const ModelInfo model = session->model();
  const std::uint64_t wanted = options.session.batch != 0 ? options.session.batch : kDefaultBatch;
  const std::size_t longest = SIZE_MAX / sizeof(float) / model.vocab_size;  // of batches that can be addressed
  const std::size_t batch = wanted < longest ? static_cast<std::size_t>(wanted) : longest;
  std::vector<float> logits(batch * model.vocab_size);
  std::unique_ptr<convert::OutputFile> file;  // until the first window is in it
  if (options.has_logits) file = std::make_unique<convert::OutputFile>(options.logits_file);
  std::vector<Token> tokens;  // a window and the token after it, which the next window begins with
  while (options.windows == 0 || score->windows < options.windows) {
    if (const int status = source->read(model.block_size + std::size_t{1} - tokens.size(), &tokens); status != kDone) {
      return status;
    }
    if (tokens.size() <= model.block_size) break;
    if (const int status = score_window(tokens, session, &logits, file.get(), score); status != kDone) return status;
    if (file != nullptr) file->commit();
    file.reset();
    tokens = {tokens.back()};
  }
  if (score->windows != 0) return kDone;
  return complain(kCommand, "found " + std::to_string(tokens.size()) + plural(tokens.size(), " token") +
                                ", expected at least " + std::to_string(model.block_size + std::uint64_t{1}) +
                                ": one window and the token after it");
}

int check_options(const EvalOptions& options) {
  if (options.has_text == options.has_ids) {
    return complain(kCommand, "expected one of --text FILE and --ids FILE", kMisused);
  }
  const std::string& input = options.has_ids ? options.ids_file : options.text_file;
  for (const std::string& read : {options.model, input}) {
    if (options.has_logits && is_same_file(options.logits_file, read)) {
      return complain(kCommand,
                      "--logits: " + printable(options.logits_file) + " is an input; expected another file name",
                      kMisused);
    }
  }
  return kDone;
}

}  // namespace

int eval_command(int argc, char** argv) {
  EvalOptions eval;
  Options options(kCommand, "eval MODEL (--text FILE | --ids FILE.bin) [options]",
                  "The mean loss over windows of block_size tokens, whatever --ctx says; a short tail is left out.");
  options.positional("MODEL", &eval.model, nullptr);
  options.text("text", "FILE", &eval.text_file, &eval.has_text, "a text; - is stdin");
  options.text("ids", "FILE", &eval.ids_file, &eval.has_ids, "16-bit little-endian ids, as nanoGPT's val.bin");
  options.number("windows", "N", 1, UINT64_MAX, &eval.windows, "only the first N windows (all)");
  options.text("logits", "FILE", &eval.logits_file, &eval.has_logits,
               "write the first window's logits as float32, a row a position");
  options.choice("unknown", "WHAT", {{"error", 0}, {"skip", 1}}, &eval.skip_unknown,
                 "characters that the model does not know: error, or skip, and what stands before and behind is "
                 "encoded apart (error)");
  options.flag("json", &eval.json, "one JSON object: loss, perplexity, tokens, windows, window");
  add_session_options(&options, &eval.session);
  int status = kDone;
  if (!options.parse(argc, argv, &status)) return status;
  if ((status = check_options(eval)) != kDone) return status;

  LoadedModel model;
  if ((status = open_model(kCommand, eval.model, &model, eval.session.how_to_load())) != kDone) return status;
  LoadedSession session;
  if ((status = create_session(kCommand, model, eval.session, &session)) != kDone) return status;
  const SignalGuard signals;
  Score score;
  try {
    Source source;
    if ((status = source.open(eval, model)) != kDone) return status;
    if ((status = score_all(eval, &source, &session.session, &score)) != kDone) return status;
  } catch (const convert::Interrupted&) {
    return kInterrupted;
  } catch (const convert::Refusal& refusal) {
    return complain(kCommand, printable(refusal.path()) + ": " + refusal.what());
  }

  const double loss = score.loss_sum / static_cast<double>(score.tokens);
  const std::uint64_t window = model.info.block_size;
  if (eval.json) {
    JsonObject json;
    json.add("loss", loss).add("perplexity", exp_f64(loss)).add("tokens", score.tokens);
    json.add("windows", score.windows).add("window", window);
    std::printf("%s\n", json.str().c_str());
  } else {
    std::printf("loss        %.6f nats a token\nperplexity  %.4f\n", loss, exp_f64(loss));
    std::printf("tokens      %llu in %llu %s of %llu\n", static_cast<unsigned long long>(score.tokens),
                static_cast<unsigned long long>(score.windows), plural(score.windows, "window").c_str(),
                static_cast<unsigned long long>(window));
  }
  return kDone;
}

}  // namespace minnow
