// Depends on round_block and lanes.
#include "tools/quantise/round_block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/quantise/lanes.hpp"

namespace minnow::quantise {

namespace {

constexpr std::size_t kPairs = kBlockRows / 2;

// Scales tried, in units of the largest |target| / 8 and with either sign; then around the best one.
constexpr double kFactors[] = {0.5625, 0.625, 0.6875, 0.75, 0.8125, 0.875, 0.9375, 1.0, 1.0625, 1.125};
constexpr double kFinerSteps[] = {-0.046875, -0.03125, -0.015625, 0.015625, 0.03125, 0.046875};

constexpr double kRounder = 6755399441055744.0;  // 1.5 * 2^52: x + this - this is x to nearest even

double as_half(double x) { return static_cast<double>(half_to_float(float_to_half(static_cast<float>(x)))); }

double code_of(double target, double inverse) {
  const double code = std::min(std::max(target * inverse, -8.0), 7.0);
  return (code + kRounder) - kRounder;
}

}  // namespace

// A group rounded with some scale a row.
struct BlockRounder::Trial {
  double loss[kBlockRows];
  double scale[kBlockRows];
  double code[kGroupColumns][kBlockRows];
  double error[kGroupColumns][kBlockRows];

  void take_lane(const Trial& other, std::size_t lane) {
    loss[lane] = other.loss[lane];
    scale[lane] = other.scale[lane];
    for (std::size_t c = 0; c < kGroupColumns; ++c) {
      code[c][lane] = other.code[c][lane];
      error[c][lane] = other.error[c][lane];
    }
  }
};

// The part of the feedback that comes from the groups before: two columns at a time.
void BlockRounder::make_targets(const float* weights, std::size_t first, std::size_t count) {
  for (std::size_t c = 0; c < count; c += 2) {
    const std::size_t second = c + 1 < count ? c + 1 : c;
    const double* const u0 = factor_.u.row(first + c);
    const double* const u1 = factor_.u.row(first + second);
    Pair sum[2][kPairs];
    for (std::size_t p = 0; p < kPairs; ++p) {
      const float* const w0 = weights + (first + c) * kBlockRows + 2 * p;
      const float* const w1 = weights + (first + second) * kBlockRows + 2 * p;
      sum[0][p] = Pair{w0[0], w0[1]};
      sum[1][p] = Pair{w1[0], w1[1]};
    }
    const double* error = errors_.data();
    for (std::size_t j = 0; j < first; ++j, error += kBlockRows) {
      const Pair a0 = both(u0[j]);
      const Pair a1 = both(u1[j]);
      for (std::size_t p = 0; p < kPairs; ++p) {
        const Pair e = load_pair(error + 2 * p);
        sum[0][p] += a0 * e;
        sum[1][p] += a1 * e;
      }
    }
    for (std::size_t p = 0; p < kPairs; ++p) {
      store_pair(sum[1][p], &targets_[second][2 * p]);
      store_pair(sum[0][p], &targets_[c][2 * p]);
    }
  }
}

void BlockRounder::try_scale(const float* weights, std::size_t first, std::size_t count, const double* scale,
                             Trial* trial) const {
  double inverse[kBlockRows];
  for (std::size_t r = 0; r < kBlockRows; ++r) {
    trial->scale[r] = scale[r];
    trial->loss[r] = 0;
    inverse[r] = scale[r] != 0 ? 1 / scale[r] : 0;
  }
  for (std::size_t c = 0; c < count; ++c) {
    const double* const u = factor_.u.row(first + c) + first;
    Pair sum[kPairs];
    for (std::size_t p = 0; p < kPairs; ++p) sum[p] = load_pair(&targets_[c][2 * p]);
    for (std::size_t j = 0; j < c; ++j) {
      const Pair a = both(u[j]);
      for (std::size_t p = 0; p < kPairs; ++p) sum[p] += a * load_pair(&trial->error[j][2 * p]);
    }
    double target[kBlockRows];
    for (std::size_t p = 0; p < kPairs; ++p) store_pair(sum[p], target + 2 * p);
    const double cost = factor_.d[first + c];
    const float* const w = weights + (first + c) * kBlockRows;
    for (std::size_t r = 0; r < kBlockRows; ++r) {
      const double code = code_of(target[r], inverse[r]);
      const double rounded = code * scale[r];
      const double left = target[r] - rounded;
      trial->code[c][r] = code;
      trial->error[c][r] = static_cast<double>(w[r]) - rounded;
      trial->loss[r] += cost * (left * left);
    }
  }
}

// The scale of each row with the least loss of the group, and the group rounded with it.
void BlockRounder::search(const float* weights, std::size_t first, std::size_t count, Trial* best) const {
  double unit[kBlockRows] = {};
  for (std::size_t c = 0; c < count; ++c) {
    for (std::size_t r = 0; r < kBlockRows; ++r) unit[r] = std::max(unit[r], std::fabs(targets_[c][r]));
  }
  Trial trial;
  double scale[kBlockRows] = {};
  try_scale(weights, first, count, scale, best);
  const auto attempt = [&] {
    try_scale(weights, first, count, scale, &trial);
    for (std::size_t r = 0; r < kBlockRows; ++r) {
      if (trial.loss[r] < best->loss[r]) best->take_lane(trial, r);
    }
  };
  for (double& each : unit) each /= 8;
  for (const double sign : {1.0, -1.0}) {
    for (const double factor : kFactors) {
      for (std::size_t r = 0; r < kBlockRows; ++r) scale[r] = as_half(sign * factor * unit[r]);
      attempt();
    }
  }
  double center[kBlockRows];
  std::copy_n(best->scale, kBlockRows, center);
  for (const double step : kFinerSteps) {
    for (std::size_t r = 0; r < kBlockRows; ++r)
      scale[r] = as_half(center[r] + step * std::copysign(unit[r], center[r]));
    attempt();
  }
}

double BlockRounder::round(const float* weights, RoundedGroup* out) {
  const std::size_t columns = factor_.d.size();
  Trial best;
  double loss = 0;
  for (std::size_t first = 0; first < columns; first += kGroupColumns, ++out) {
    const std::size_t count = std::min(std::size_t{kGroupColumns}, columns - first);
    make_targets(weights, first, count);
    search(weights, first, count, &best);
    *out = {};
    for (std::size_t r = 0; r < kBlockRows; ++r) {
      if (std::fabs(best.scale[r]) >= static_cast<double>(kHalfMax)) loss = std::numeric_limits<double>::infinity();
      loss += best.loss[r];
      out->scale[r] = float_to_half(static_cast<float>(best.scale[r]));
    }
    for (std::size_t c = 0; c < count; ++c) {
      for (std::size_t r = 0; r < kBlockRows; ++r) out->code[c][r] = static_cast<std::int8_t>(best.code[c][r]);
      std::copy_n(best.error[c], kBlockRows, errors_.data() + (first + c) * kBlockRows);
    }
  }
  return loss;
}

}  // namespace minnow::quantise
