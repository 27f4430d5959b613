// How figures are taken: several runs, the median of them, and a bound on the time of all. Depends on tools/process.
#pragma once

#include <algorithm>
#include <vector>

#include "tools/bench/result.hpp"
#include "tools/process.hpp"
#include "tools/signals.hpp"

namespace minnow {

inline Figure figure_of(std::vector<double> runs) {
  if (runs.empty()) return {};
  std::sort(runs.begin(), runs.end());
  const std::size_t n = runs.size();
  const double median = n % 2 == 1 ? runs[n / 2] : (runs[n / 2 - 1] + runs[n / 2]) / 2;
  return {median, runs.front(), runs.back(), static_cast<std::uint32_t>(n)};
}

// Shares a time out among figures: each takes the runs that were asked for, fewer if its share is over before, one at
// least. What a figure leaves over goes to those after it.
class TimePlan {
 public:
  TimePlan(double seconds, std::uint32_t runs) : end_(seconds_now() + seconds), runs_(runs) {}

  void expect(std::uint32_t figures) { left_ = figures; }  // from now on

  double seconds_left() const { return std::max(end_ - seconds_now(), 0.0); }

  // run() is one run and returns whatever has to be kept of it. Stops early after a signal.
  template <class Run>
  void repeat(const Run& run) {
    const double share = seconds_left() / std::max(left_, 1u);
    if (left_ > 0) --left_;
    const double begin = seconds_now();
    for (std::uint32_t i = 0; i < runs_ && !interrupted(); ++i) {
      if (i > 0 && seconds_now() - begin > share) break;
      run();
    }
  }
  void skip() {  // a figure that is left out
    if (left_ > 0) --left_;
  }

 private:
  double end_;
  std::uint32_t runs_;
  std::uint32_t left_ = 0;
};

// Long enough for the clock and for what a run begins with.
inline constexpr double kLeastRun = 0.002;

// How often `once` has to be called for a run to take kLeastRun; calls it.
template <class Once>
std::uint32_t calls_for_a_run(const Once& once) {
  std::uint32_t calls = 1;
  for (;;) {
    const double begin = seconds_now();
    for (std::uint32_t i = 0; i < calls; ++i) once();
    const double took = seconds_now() - begin;
    if (took >= kLeastRun || calls >= 1u << 20) return calls;
    calls = took > 0 ? static_cast<std::uint32_t>(std::min(1.3 * kLeastRun / took + 1, 16.0) * calls) : calls * 16;
  }
}

// Seconds of one of `calls` calls.
template <class Once>
double seconds_of(std::uint32_t calls, const Once& once) {
  const double begin = seconds_now();
  for (std::uint32_t i = 0; i < calls; ++i) once();
  return (seconds_now() - begin) / calls;
}

}  // namespace minnow
