// Depends on sample_text, the sampler and tools/loss.hpp.
#include "tools/quantise/sample_text.hpp"

#include <algorithm>
#include <atomic>

#include "tools/convert/refusal.hpp"
#include "tools/loss.hpp"

namespace minnow::quantise {

namespace {

constexpr std::uint64_t kSeed = 20221031;  // of the first window; window i is that of kSeed + i
constexpr std::size_t kMostSessions = 8;   // sequences written at once
constexpr std::size_t kTokensAtOnce = 16;  // of each, between two looks at whether to stop
constexpr std::size_t kScoredAtOnce = 32;  // tokens whose logits are held

[[noreturn]] void refuse_logits() {
  convert::refuse(
      "the model's logits are not finite; expected a model that can be run; find out why training "
      "diverged, or convert with --calibrate none");
}

// One sequence after another, each a window.
class Writer {
 public:
  Writer(const Model& model, const SessionConfig& config) : owned_(model, config) {}

  void begin(std::uint64_t seed, Token start, Token* out) {
    SamplerConfig config;
    config.temperature = 1;
    config.top_k = 0;
    config.seed = seed;
    static_cast<void>(Sampler::create(config, &sampler_));
    owned_.session.reset();
    out[0] = start;
  }

  // Tokens [from, to) of the window, which follow those before. False: the logits are not finite.
  bool write(Token* window, std::size_t from, std::size_t to) {
    const std::uint32_t n_tokens = owned_.session.model().n_tokens;
    for (std::size_t i = from; i < to; ++i) {
      if (owned_.session.feed({window + i - 1, 1}) != Status::ok) return false;
      if (sampler_.pick(owned_.session.logits().first(n_tokens), window + i) != Status::ok) return false;
    }
    return true;
  }

 private:
  OwnedSession owned_;
  Sampler sampler_;
};

}  // namespace

Windows sample_windows(const Model& model, std::size_t count, std::size_t length, Token start, const Workers& workers,
                       const Progress& progress) {
  Windows out;
  out.length = length;
  out.tokens.resize(count * length);
  SessionConfig config;
  config.context = static_cast<std::uint32_t>(length);
  config.batch = 1;
  std::vector<std::unique_ptr<Writer>> writers;
  while (writers.size() < std::min({count, kMostSessions, std::size_t{workers.executor().width}})) {
    writers.push_back(std::make_unique<Writer>(model, config));
  }
  for (std::size_t first = 0; first < count; first += writers.size()) {
    const std::size_t windows = std::min(writers.size(), count - first);
    const auto window = [&](std::size_t i) { return out.tokens.data() + (first + i) * length; };
    for (std::size_t i = 0; i < windows; ++i) writers[i]->begin(kSeed + first + i, start, window(i));
    for (std::size_t from = 1; from < length; from += kTokensAtOnce) {
      convert::check_interrupted();
      const std::size_t to = std::min(from + kTokensAtOnce, length);
      std::atomic<bool> finite{true};
      workers.run(windows, [&](std::size_t i) {
        if (!writers[i]->write(window(i), from, to)) finite = false;
      });
      if (!finite) refuse_logits();
      if (progress) {
        progress(static_cast<double>(first * length + windows * to) / static_cast<double>(count * length));
      }
    }
  }
  return out;
}

double mean_loss(const Model& model, const Windows& windows, const Workers& workers, const Progress& progress) {
  if (windows.length < 2 || windows.count() == 0) return 0;
  SessionConfig config;
  config.context = static_cast<std::uint32_t>(windows.length);
  config.batch = static_cast<std::uint32_t>(std::min(kScoredAtOnce, windows.length));
  config.executor = workers.executor();
  OwnedSession owned(model, config);
  const std::size_t vocab_size = model.info().vocab_size;
  std::vector<float> logits(kScoredAtOnce * vocab_size);
  double sum = 0;
  const std::size_t scored = windows.length - 1;
  for (std::size_t w = 0; w < windows.count(); ++w) {
    owned.session.reset();
    const Token* const tokens = windows.window(w);
    for (std::size_t begin = 0; begin < scored; begin += kScoredAtOnce) {
      convert::check_interrupted();
      const std::size_t count = std::min(kScoredAtOnce, scored - begin);
      const Span<float> rows(logits.data(), count * vocab_size);
      if (owned.session.feed({tokens + begin, count}, rows) != Status::ok) refuse_logits();
      for (std::size_t i = 0; i < count; ++i) {
        sum += token_loss({rows.data() + i * vocab_size, vocab_size}, tokens[begin + i + 1]);
      }
      if (progress) {
        progress(static_cast<double>(w * scored + begin + count) / static_cast<double>(windows.count() * scored));
      }
    }
  }
  return sum / static_cast<double>(windows.count() * scored);
}

}  // namespace minnow::quantise
