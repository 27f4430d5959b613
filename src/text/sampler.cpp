// Logits to a token: temperature, top-k, min-p, top-p, one draw. The logits are never changed or copied: the filters
// meet in one threshold, found by radix selection over float bits, so a call needs about 2 KiB of stack and time
// linear in the vocabulary. Depends on base and kernels/exact_math.hpp.
#include <cfloat>

#include "base/arguments.hpp"
#include "base/bits.hpp"
#include "base/check.hpp"
#include "base/float_mode.hpp"
#include "base/rng.hpp"
#include "kernels/exact_math.hpp"
#include "minnow/minnow.hpp"

namespace minnow {
namespace {

constexpr std::uint32_t kBins = 256;  // one byte of a key a pass
constexpr std::uint32_t kTopShift = 24;

// Keys order as floats do; both zeros have one.
[[gnu::always_inline]] inline std::uint32_t key_of(float x) noexcept {  // in every inner loop
  const std::uint32_t bits = bit_cast<std::uint32_t>(x + 0.0f);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

// Keys of what is finite. Infinities and NaN lie outside.
constexpr std::uint32_t kLowestKey = ~0xff7fffffu;                // of -FLT_MAX
constexpr std::uint32_t kHighestKey = 0x7f7fffffu | 0x80000000u;  // of FLT_MAX

// Narrows a range of keys byte by byte to a single one: each pass looks at the keys inside and chooses a bin.
struct Radix {
  std::uint32_t low = kLowestKey;
  std::uint32_t high = kHighestKey;
  std::uint32_t shift = kTopShift;

  bool holds(std::uint32_t key) const noexcept { return key >= low && key <= high; }
  std::uint32_t bin_of(std::uint32_t key) const noexcept { return (key >> shift) & (kBins - 1); }

  // False when the range has become the single key `low`.
  bool narrow(std::uint32_t bin) noexcept {
    const std::uint32_t above = shift == kTopShift ? 0 : low >> (shift + 8) << (shift + 8);
    const std::uint32_t first = above | bin << shift;
    const std::uint32_t last = first | ((std::uint32_t{1} << shift) - 1);
    if (first > low) low = first;
    if (last < high) high = last;
    if (shift == 0) return false;
    shift -= 8;
    return true;
  }
};

// The logits under one temperature. What is not finite has probability 0.
struct Distribution {
  Span<const float> logits;
  float largest = 0;
  float temperature = 1;

  // Relative probability: 1 for the largest logit.
  double weight(std::size_t i) const noexcept {
    return exp_f64((static_cast<double>(logits[i]) - static_cast<double>(largest)) / static_cast<double>(temperature));
  }
  // threshold: a key of something finite
  [[gnu::always_inline]] bool kept(std::size_t i, std::uint32_t threshold) const noexcept {
    const std::uint32_t key = key_of(logits[i]);
    return key >= threshold && key <= kHighestKey;
  }
};

// The key of the k-th largest finite logit; the lowest key if there are no more than k.
std::uint32_t top_k_threshold(Span<const float> logits, std::uint32_t k) noexcept {
  Radix radix;
  std::uint64_t wanted = k;
  std::uint32_t bin = 0;
  do {
    std::uint32_t count[kBins] = {};
    for (const float x : logits) {
      const std::uint32_t key = key_of(x);
      if (radix.holds(key)) ++count[radix.bin_of(key)];
    }
    for (bin = kBins - 1; count[bin] < wanted; --bin) {
      wanted -= count[bin];
      if (bin == 0) return kLowestKey;  // only in the first pass: later ones know that the k-th is inside
    }
  } while (radix.narrow(bin));
  return radix.low;
}

// Drops what is less probable than min_p times the most probable: the key of the smallest logit that stays.
std::uint32_t min_p_threshold(const Distribution& d, float min_p, std::uint32_t threshold) noexcept {
  std::uint32_t lowest = key_of(d.largest);
  for (std::size_t i = 0; i < d.logits.size(); ++i) {
    if (!d.kept(i, threshold) || d.weight(i) < static_cast<double>(min_p)) continue;
    const std::uint32_t key = key_of(d.logits[i]);
    if (key < lowest) lowest = key;
  }
  return lowest;
}

// The largest key such that the logits from there up have at least `mass`, of those kept by `threshold`.
std::uint32_t top_p_threshold(const Distribution& d, double mass, std::uint32_t threshold) noexcept {
  Radix radix;
  radix.low = threshold;
  double above = 0;  // weight of the keys above the range
  std::uint32_t chosen = 0;
  do {
    double weight[kBins] = {};
    for (std::size_t i = 0; i < d.logits.size(); ++i) {
      const std::uint32_t key = key_of(d.logits[i]);
      if (radix.holds(key)) weight[radix.bin_of(key)] += d.weight(i);
    }
    // Where rounding keeps the sum just below `mass`, the lowest bin that weighs anything is the one.
    double sum = above;
    for (std::uint32_t bin = kBins; bin-- > 0 && sum < mass;) {
      if (weight[bin] == 0) continue;
      chosen = bin;
      above = sum;
      sum += weight[bin];
    }
  } while (radix.narrow(chosen));
  return radix.low;
}

double total_weight(const Distribution& d, std::uint32_t threshold) noexcept {
  double total = 0;
  for (std::size_t i = 0; i < d.logits.size(); ++i) {
    if (d.kept(i, threshold)) total += d.weight(i);
  }
  return total;
}

// The token where the running sum of weights, in id order, passes u times their total. The sum is noted before every
// stretch of ids, so that only one stretch is run through twice.
std::size_t draw(const Distribution& d, std::uint32_t threshold, double u) noexcept {
  constexpr std::size_t kStretches = 64;
  const std::size_t n = d.logits.size();
  const std::size_t length = n / kStretches + 1;
  double sum_before[kStretches] = {};
  double sum = 0;
  std::size_t stretch = 0;
  for (std::size_t begin = 0; begin < n; begin += length, ++stretch) {
    sum_before[stretch] = sum;
    for (std::size_t i = begin; i < n && i < begin + length; ++i) {
      if (d.kept(i, threshold)) sum += d.weight(i);
    }
  }
  const double target = u * sum;  // below sum, since u < 1
  do --stretch;
  while (sum_before[stretch] > target);
  sum = sum_before[stretch];
  std::size_t last = 0;
  for (std::size_t i = stretch * length; i < n && sum <= target; ++i) {
    const double weight = d.kept(i, threshold) ? d.weight(i) : 0.0;
    if (weight > 0) last = i;
    sum += weight;
  }
  return last;
}

// The token chosen for `draw_bits`, of which logits[best] is the largest logit. Not inlined: the mode is set around it.
[[gnu::noinline]] std::size_t choose(const SamplerConfig& config, Span<const float> logits, std::size_t best,
                                     std::uint64_t draw_bits) noexcept {
  const Distribution d = {logits, logits[best], config.temperature};
  std::uint32_t threshold = config.top_k == 0 ? kLowestKey : top_k_threshold(logits, config.top_k);
  if (config.min_p > 0) threshold = min_p_threshold(d, config.min_p, threshold);
  if (config.top_p < 1) {
    const double mass = static_cast<double>(config.top_p) * total_weight(d, threshold);
    threshold = top_p_threshold(d, mass, threshold);
  }
  return draw(d, threshold, unit_interval(draw_bits));
}

}  // namespace

Status Sampler::create(const SamplerConfig& config, Sampler* out) noexcept {
  const FloatMode mode;  // a comparison with NaN may trap
  const bool legal = config.temperature >= 0 && config.temperature <= FLT_MAX && config.top_p > 0 &&
                     config.top_p <= 1 && config.min_p >= 0 && config.min_p <= 1;
  if (out == nullptr || !legal) return Status::bad_argument;
  *out = Sampler();
  out->config_ = config;
  return Status::ok;
}

Status Sampler::pick(Span<const float> logits, Token* out) noexcept {
  if (out == nullptr || logits.empty() || logits.size() > INT32_MAX) return Status::bad_argument;
  MINNOW_TRY(check_input(logits.data(), logits.size()));
  const FloatMode mode;
  std::size_t best = logits.size();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (is_finite(logits[i]) && (best == logits.size() || logits[i] > logits[best])) best = i;
  }
  if (best == logits.size()) return Status::numeric;

  const std::uint64_t bits = draw64(config_.seed, index_++);
  // A denormal temperature is as good as 0, and some CPUs flush it.
  const bool greedy = config_.temperature < FLT_MIN;
  const std::size_t token = greedy ? best : choose(config_, logits, best, bits);
  *out = static_cast<Token>(token);
  return Status::ok;
}

}  // namespace minnow
