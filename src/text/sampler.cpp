// Logits to a token: temperature, top-k, min-p, top-p, one draw. The logits are never changed or copied: the filters
// meet in one threshold, found by radix selection over float bits, so a call needs about 2 KiB of stack and time
// linear in the vocabulary. Depends on base and kernels/exact_math.hpp.
#include <cfloat>

#include "base/bits.hpp"
#include "base/check.hpp"
#include "base/rng.hpp"
#include "kernels/exact_math.hpp"
#include "minnow/minnow.hpp"

namespace minnow {
namespace {

constexpr std::uint32_t kBins = 256;  // one byte of a key a pass
constexpr std::uint32_t kTopShift = 24;

bool is_finite(float x) noexcept { return x - x == 0.0f; }

// Orders as floats do: a < b exactly if key_of(a) < key_of(b). Both zeros have one key. No finite float has key 0.
std::uint32_t key_of(float x) noexcept {
  const std::uint32_t bits = bit_cast<std::uint32_t>(x + 0.0f);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

// The logits under one temperature. What is not finite has probability 0.
struct Distribution {
  Span<const float> logits;
  float largest = 0;
  float temperature = 1;

  // Relative probability: 1 for the largest logit.
  float weight(std::size_t i) const noexcept {
    const float z = (logits[i] - largest) / temperature;  // <= 0; -inf where it overflows
    return z > -100.0f ? exp_f32(z) : 0.0f;
  }
  bool kept(std::size_t i, std::uint32_t threshold) const noexcept {
    return is_finite(logits[i]) && key_of(logits[i]) >= threshold;
  }
};

// Whether `key` begins with the bytes of `prefix` that earlier passes fixed, those above `shift`'s byte.
bool has_prefix(std::uint32_t key, std::uint32_t prefix, std::uint32_t shift) noexcept {
  return shift == kTopShift || (key ^ prefix) >> (shift + 8) == 0;
}

// The key of the k-th largest finite logit; 0, below every key, if there are no more than k.
std::uint32_t top_k_threshold(Span<const float> logits, std::uint32_t k) noexcept {
  std::uint32_t prefix = 0;
  std::uint64_t wanted = k;
  for (std::uint32_t shift = kTopShift;; shift -= 8) {
    std::uint32_t count[kBins] = {};
    for (const float x : logits) {
      const std::uint32_t key = key_of(x);
      if (is_finite(x) && has_prefix(key, prefix, shift)) ++count[(key >> shift) & (kBins - 1)];
    }
    std::uint32_t bin = kBins - 1;
    while (count[bin] < wanted) {
      wanted -= count[bin];
      if (bin == 0) return 0;  // only in the first pass: later ones know that the k-th is here
      --bin;
    }
    prefix |= bin << shift;
    if (shift == 0) return prefix;
  }
}

// Drops what is less probable than min_p times the most probable: the key of the smallest logit that stays.
std::uint32_t min_p_threshold(const Distribution& d, float min_p, std::uint32_t threshold) noexcept {
  std::uint32_t lowest = key_of(d.largest);
  for (std::size_t i = 0; i < d.logits.size(); ++i) {
    if (!d.kept(i, threshold) || d.weight(i) < min_p) continue;
    const std::uint32_t key = key_of(d.logits[i]);
    if (key < lowest) lowest = key;
  }
  return lowest;
}

// The largest key such that the logits from there up have at least `mass`, of those kept by `threshold`.
std::uint32_t top_p_threshold(const Distribution& d, double mass, std::uint32_t threshold) noexcept {
  std::uint32_t prefix = 0;
  double above = 0;  // mass of the keys above those that begin with prefix
  for (std::uint32_t shift = kTopShift;; shift -= 8) {
    double weight[kBins] = {};
    for (std::size_t i = 0; i < d.logits.size(); ++i) {
      const std::uint32_t key = key_of(d.logits[i]);
      if (d.kept(i, threshold) && has_prefix(key, prefix, shift)) {
        weight[(key >> shift) & (kBins - 1)] += static_cast<double>(d.weight(i));
      }
    }
    // Where rounding keeps the sum just below `mass`, the lowest bin that weighs anything is the one.
    std::uint32_t chosen = kBins;
    double above_chosen = above;
    for (std::uint32_t bin = kBins; bin-- > 0;) {
      if (weight[bin] == 0) continue;
      chosen = bin;
      above_chosen = above;
      above += weight[bin];
      if (above >= mass) break;
    }
    above = above_chosen;
    prefix |= chosen << shift;
    if (shift == 0) return prefix;
  }
}

double total_weight(const Distribution& d, std::uint32_t threshold) noexcept {
  double total = 0;
  for (std::size_t i = 0; i < d.logits.size(); ++i) {
    if (d.kept(i, threshold)) total += static_cast<double>(d.weight(i));
  }
  return total;
}

// The token where the running sum of weights, in id order, passes u times their total.
std::size_t draw(const Distribution& d, std::uint32_t threshold, double u) noexcept {
  const double target = u * total_weight(d, threshold);
  double sum = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < d.logits.size(); ++i) {
    const float weight = d.kept(i, threshold) ? d.weight(i) : 0.0f;
    if (weight == 0.0f) continue;
    last = i;
    sum += static_cast<double>(weight);
    if (sum > target) break;
  }
  return last;
}

}  // namespace

Status Sampler::create(const SamplerConfig& config, Sampler* out) noexcept {
  const bool legal = config.temperature >= 0 && config.temperature <= FLT_MAX && config.top_p > 0 &&
                     config.top_p <= 1 && config.min_p >= 0 && config.min_p <= 1;
  if (out == nullptr || !legal) return Status::bad_argument;
  *out = Sampler();
  out->config_ = config;
  return Status::ok;
}

Status Sampler::pick(Span<const float> logits, Token* out) noexcept {
  if (out == nullptr || logits.data() == nullptr || logits.empty() || logits.size() > INT32_MAX) {
    return Status::bad_argument;
  }
  std::size_t best = logits.size();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (is_finite(logits[i]) && (best == logits.size() || logits[i] > logits[best])) best = i;
  }
  if (best == logits.size()) return Status::numeric;

  const std::uint64_t bits = draw64(config_.seed, index_++);
  std::size_t token = best;
  if (config_.temperature >= FLT_MIN) {  // a denormal temperature is as good as 0, and some hosts flush it
    const Distribution d = {logits, logits[best], config_.temperature};
    std::uint32_t threshold = config_.top_k == 0 ? 0 : top_k_threshold(logits, config_.top_k);
    if (config_.min_p > 0) threshold = min_p_threshold(d, config_.min_p, threshold);
    if (config_.top_p < 1) {
      const double mass = static_cast<double>(config_.top_p) * total_weight(d, threshold);
      threshold = top_p_threshold(d, mass, threshold);
    }
    token = draw(d, threshold, unit_interval(bits));
  }
  *out = static_cast<Token>(token);
  return Status::ok;
}

}  // namespace minnow
