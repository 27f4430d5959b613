// compare_models IDS.bin WINDOWS REFERENCE MODEL..: what models lose against one of the same vocabulary, over windows
// of block_size tokens as `minnow eval` takes them (0: all). Of each the loss; its difference from the reference's; the
// mean Kullback-Leibler divergence KL(reference || model) of what each position predicts, in nats; both with the
// standard error over windows; the share of positions at which both put the same token first.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "minnow/hosted.hpp"

using namespace minnow;

namespace {

constexpr std::size_t kBatch = 32;

struct Compared {
  FileMap map;
  Model model;
  Session session;
  std::vector<std::byte> block;
  std::vector<double> loss, divergence;  // sums of a window
  std::size_t same_first = 0;
};

bool open(const char* path, Compared* out) {
  std::size_t bytes = 0;
  if (FileMap::open(path, &out->map) != Status::ok || Model::open(out->map.bytes(), &out->model) != Status::ok ||
      Session::memory_needed(out->model, {}, &bytes) != Status::ok) {
    return false;
  }
  out->block.resize(bytes + 64);
  std::byte* const at = out->block.data() + (64 - reinterpret_cast<std::uintptr_t>(out->block.data()) % 64) % 64;
  return Session::create(out->model, {}, {at, bytes}, &out->session) == Status::ok;
}

// log(softmax) of n logits.
void log_softmax(const float* logits, std::size_t n, double* out) {
  double largest = logits[0];
  for (std::size_t i = 1; i < n; ++i) largest = std::fmax(largest, static_cast<double>(logits[i]));
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(logits[i]) - largest);
  const double shift = largest + std::log(sum);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<double>(logits[i]) - shift;
}

std::size_t first_choice(const double* p, std::size_t n) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < n; ++i) best = p[i] > p[best] ? i : best;
  return best;
}

// Adds n positions of the last window. p [kBatch][vocabulary]: the reference's, which is the first to come.
void add_positions(const float* logits, const Token* targets, std::size_t n, std::size_t vocabulary, bool is_reference,
                   std::vector<double>* p, Compared* c) {
  std::vector<double> q(vocabulary);
  for (std::size_t t = 0; t < n; ++t) {
    double* const expected = p->data() + t * vocabulary;
    log_softmax(logits + t * vocabulary, vocabulary, is_reference ? expected : q.data());
    if (is_reference) q.assign(expected, expected + vocabulary);
    c->loss.back() -= q[static_cast<std::size_t>(targets[t])];
    for (std::size_t i = 0; i < vocabulary; ++i) c->divergence.back() += std::exp(expected[i]) * (expected[i] - q[i]);
    c->same_first += first_choice(expected, vocabulary) == first_choice(q.data(), vocabulary) ? 1 : 0;
  }
}

struct Mean {
  double value = 0;
  double error = 0;
};

Mean mean_of(const std::vector<double>& x) {
  Mean m;
  const auto n = static_cast<double>(x.size());
  for (const double v : x) m.value += v / n;
  for (const double v : x) m.error += (v - m.value) * (v - m.value);
  m.error = x.size() > 1 ? std::sqrt(m.error / (n - 1) / n) : 0;
  return m;
}

void print(const char* path, const Compared& reference, const Compared& c, std::size_t length) {
  const std::size_t windows = c.loss.size();
  std::vector<double> loss(windows), difference(windows), divergence(windows);
  for (std::size_t w = 0; w < windows; ++w) {
    loss[w] = c.loss[w] / static_cast<double>(length);
    difference[w] = (c.loss[w] - reference.loss[w]) / static_cast<double>(length);
    divergence[w] = c.divergence[w] / static_cast<double>(length);
  }
  const Mean d = mean_of(difference), kl = mean_of(divergence);
  std::printf("%s: loss %.5f, difference %+.6f +- %.6f, KL %.7f +- %.7f, same first choice %.2f %%\n", path,
              mean_of(loss).value, d.value, d.error, kl.value, kl.error,
              100 * static_cast<double>(c.same_first) / static_cast<double>(windows * length));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return std::fputs("usage: compare_models IDS.bin WINDOWS REFERENCE MODEL..\n", stderr), 2;
  std::vector<std::unique_ptr<Compared>> models;
  FileMap ids;
  if (FileMap::open(argv[1], &ids) != Status::ok) return std::fprintf(stderr, "cannot open %s\n", argv[1]), 1;
  for (int i = 3; i < argc; ++i) {
    models.push_back(std::make_unique<Compared>());
    if (!open(argv[i], models.back().get())) return std::fprintf(stderr, "cannot open %s\n", argv[i]), 1;
    const ModelInfo first = models[0]->model.info(), info = models.back()->model.info();
    if (info.vocab_size != first.vocab_size || info.block_size != first.block_size) {
      return std::fprintf(stderr, "%s: another vocabulary or block_size than the reference\n", argv[i]), 1;
    }
  }
  const ModelInfo info = models[0]->model.info();
  const std::size_t length = info.block_size, vocabulary = info.vocab_size, tokens = ids.bytes().size() / 2;
  std::size_t windows = tokens == 0 ? 0 : (tokens - 1) / length;
  if (const std::size_t wanted = std::strtoul(argv[2], nullptr, 10); wanted != 0 && wanted < windows) windows = wanted;
  std::vector<double> p(kBatch * vocabulary);
  std::vector<float> logits(kBatch * vocabulary);
  for (std::size_t w = 0; w < windows; ++w) {
    for (auto& m : models) {
      m->session.reset();
      m->loss.push_back(0);
      m->divergence.push_back(0);
    }
    for (std::size_t at = 0; at < length; at += kBatch) {
      const std::size_t n = length - at < kBatch ? length - at : kBatch;
      Token batch[kBatch + 1];
      for (std::size_t i = 0; i <= n; ++i) {
        const std::byte* const id = ids.bytes().data() + 2 * (w * length + at + i);
        batch[i] = static_cast<Token>(static_cast<unsigned>(id[0]) | static_cast<unsigned>(id[1]) << 8);
      }
      for (auto& m : models) {
        if (m->session.feed({batch, n}, {logits.data(), n * vocabulary}) != Status::ok) {
          return std::fputs("ids beyond the vocabulary, or logits that are not finite\n", stderr), 1;
        }
        add_positions(logits.data(), batch + 1, n, vocabulary, m == models[0], &p, m.get());
      }
    }
  }
  for (std::size_t i = 0; i < models.size(); ++i) print(argv[3 + i], *models[0], *models[i], length);
}
