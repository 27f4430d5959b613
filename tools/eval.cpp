// `minnow eval`: the mean loss over whole windows of a text, as nanoGPT measures it.
#include <cstdio>
#include <memory>

#include "tools/commands.hpp"
#include "tools/convert/file.hpp"
#include "tools/convert/refusal.hpp"
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

// Little-endian 16-bit ids, as nanoGPT's prepare.py writes them.
int read_ids(const std::string& path, std::uint32_t vocab_size, std::vector<Token>* out) {
  std::string bytes;
  if (const int status = read_input(kCommand, path, &bytes); status != kDone) return status;
  if (bytes.size() % 2 != 0) {
    return complain(kCommand, printable(path) + ": " + std::to_string(bytes.size()) +
                                  " bytes, expected an even number: ids of 16 bits, as in nanoGPT's val.bin");
  }
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const auto id = static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) |
                    static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + 1])) << 8;
    if (id >= vocab_size) {
      return complain(kCommand, printable(path) + ": id " + std::to_string(id) + " at byte " + std::to_string(i) +
                                    ", expected ids below " + std::to_string(vocab_size) +
                                    ", the model's vocab_size; was the file made with another vocabulary?");
    }
    out->push_back(static_cast<Token>(id));
  }
  return kDone;
}

int read_tokens(const EvalOptions& options, const LoadedModel& model, std::vector<Token>* out) {
  if (options.has_ids) return read_ids(options.ids_file, model.info.vocab_size, out);
  Tokenizer tokenizer;
  if (Tokenizer::open(model.model, &tokenizer) != Status::ok) {
    return complain(kCommand, printable(options.model) + ": the model has no vocabulary; use --ids");
  }
  std::string text;
  if (const int status = read_input(kCommand, options.text_file, &text); status != kDone) return status;
  return encode_text(kCommand, tokenizer, text, options.skip_unknown != 0, out);
}

// Feeds one window in batches, which gives the same bits as feeding it whole and needs little memory for logits.
int score_window(Span<const Token> tokens, std::size_t window, std::size_t batch, Session* session,
                 std::vector<float>* logits, convert::OutputFile* file_or_null, Score* score) {
  const std::size_t vocab_size = session->model().vocab_size;
  session->reset();
  for (std::size_t begin = 0; begin < window; begin += batch) {
    const std::size_t count = window - begin < batch ? window - begin : batch;
    const Span<float> rows(logits->data(), count * vocab_size);
    const Status status = session->feed(tokens.from(begin).first(count), rows);
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

int score_all(const EvalOptions& options, const std::vector<Token>& tokens, LoadedSession* session, Score* score) {
  const std::size_t window = session->session.context();
  if (tokens.size() < window + 1) {
    return complain(kCommand, "found " + std::to_string(tokens.size()) + " tokens, expected at least " +
                                  std::to_string(window + 1) + ": one window and the token after it");
  }
  const std::size_t all = (tokens.size() - 1) / window;
  const std::size_t windows = options.windows != 0 && options.windows < all ? options.windows : all;
  const std::size_t batch = options.session.batch != 0 ? options.session.batch : kDefaultBatch;
  std::vector<float> logits(batch * session->session.model().vocab_size);
  std::unique_ptr<convert::OutputFile> file;
  if (options.has_logits) file = std::make_unique<convert::OutputFile>(options.logits_file);
  for (std::size_t w = 0; w < windows; ++w) {
    const Span<const Token> from(tokens.data() + w * window, window + 1);
    const int status = score_window(from, window, batch, &session->session, &logits, file.get(), score);
    if (status != kDone) return status;
    if (file != nullptr) file->commit();  // the first window only
    file.reset();
    if (interrupted()) return kInterrupted;
  }
  return kDone;
}

}  // namespace

int eval_command(int argc, char** argv) {
  EvalOptions eval;
  Options options(kCommand, "eval MODEL (--text FILE | --ids FILE.bin) [options]",
                  "The mean loss over whole windows of block_size tokens; a short tail is left out.");
  options.positional("MODEL", &eval.model, nullptr);
  options.text("text", "FILE", &eval.text_file, &eval.has_text, "a text; - is stdin");
  options.text("ids", "FILE", &eval.ids_file, &eval.has_ids, "16-bit little-endian ids, as nanoGPT's val.bin");
  options.number("windows", "N", 1, UINT64_MAX, &eval.windows, "only the first N windows (all)");
  options.text("logits", "FILE", &eval.logits_file, &eval.has_logits,
               "write the first window's logits as float32, a row a position");
  options.choice("unknown", "WHAT", {{"error", 0}, {"skip", 1}}, &eval.skip_unknown,
                 "characters that the model does not know: error or skip (error)");
  options.flag("json", &eval.json, "one JSON object: loss, perplexity, tokens, windows, window");
  add_session_options(&options, &eval.session);
  int status = kDone;
  if (!options.parse(argc, argv, &status)) return status;
  if (eval.has_text == eval.has_ids) {
    return complain(kCommand, "expected one of --text FILE and --ids FILE", kMisused);
  }

  LoadedModel model;
  if ((status = open_model(kCommand, eval.model, &model)) != kDone) return status;
  std::vector<Token> tokens;
  if ((status = read_tokens(eval, model, &tokens)) != kDone) return status;
  LoadedSession session;
  if ((status = create_session(kCommand, model, eval.session, &session)) != kDone) return status;
  const SignalGuard signals;
  Score score;
  try {
    if ((status = score_all(eval, tokens, &session, &score)) != kDone) return status;
  } catch (const convert::Refusal& refusal) {
    return complain(kCommand, printable(refusal.path()) + ": " + refusal.what());
  }

  const double loss = score.loss_sum / static_cast<double>(score.tokens);
  const std::uint64_t window = session.session.context();
  if (eval.json) {
    JsonObject json;
    json.add("loss", loss).add("perplexity", exp_f64(loss)).add("tokens", score.tokens);
    json.add("windows", score.windows).add("window", window);
    std::printf("%s\n", json.str().c_str());
  } else {
    std::printf("loss        %.6f nats a token\nperplexity  %.4f\n", loss, exp_f64(loss));
    std::printf("tokens      %llu in %llu windows of %llu\n", static_cast<unsigned long long>(score.tokens),
                static_cast<unsigned long long>(score.windows), static_cast<unsigned long long>(window));
  }
  return kDone;
}

}  // namespace minnow
