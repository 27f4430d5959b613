// The limits of the machine, measured in the run that they are compared with.
#include "session/steps.hpp"
#include "tools/bench/measure.hpp"

namespace minnow {
namespace {

constexpr std::uint64_t kRounds = 10000;

// Keeps what a loop returns.
void use(std::uint64_t value) { __asm__ volatile("" : : "r"(value)); }

// Multiply-adds a second of all workers together.
double multiply_rate(const Executor& executor, std::uint64_t (*loop)(std::uint64_t), std::uint32_t calls) {
  std::uint64_t done = loop(1);  // of one worker
  const double begin = seconds_now();
  for_parts(executor, executor.width, executor.width, [&](std::uint32_t worker, std::uint32_t, std::uint32_t) {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < calls; ++i) sum += loop(kRounds);
    if (worker == 0) done = sum;
  });
  const double workers = executor.width;
  return static_cast<double>(done) * workers / (seconds_now() - begin);
}

}  // namespace

std::uint32_t calls_to_read(std::uint64_t bytes) {
  constexpr std::uint64_t kLeast = 64u << 20;
  return bytes >= kLeast || bytes == 0 ? 1 : static_cast<std::uint32_t>(kLeast / bytes);
}

double read_rate(const Executor& executor, const LimitLoops& loops, const std::vector<Range>& ranges,
                 std::uint32_t calls) {
  std::uint64_t bytes = 0;
  for (const Range& range : ranges) bytes += range.bytes;
  const std::uint32_t workers = executor.width;
  const double begin = seconds_now();
  for_parts(executor, workers, workers, [&](std::uint32_t, std::uint32_t first, std::uint32_t last) {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < calls; ++i) {
      for (const Range& range : ranges) {
        const std::size_t from = range.bytes * first / workers;
        sum += loops.read(range.at + from, range.bytes * last / workers - from);
      }
    }
    use(sum);
  });
  return static_cast<double>(bytes) * calls / (seconds_now() - begin);
}

LimitResult measure_limits(LoadedSession* session, TimePlan* plan) {
  const SessionState& state = *SessionAccess::state(session->session);
  const LimitLoops& loops = limit_loops(*state.kernels);
  const Executor& executor = session->config.executor;
  LimitResult result;
  result.threads = session->pool.width();

  std::vector<Range> ranges;
  std::uint64_t bytes = 0;
  std::uint64_t int8_bytes = 0;
  for (const MatrixKind& kind : matrix_kinds(state)) {
    for (const Matrix* const matrix : kind.matrices) {
      ranges.push_back({matrix->data, static_cast<std::size_t>(matrix_bytes(*matrix))});
      bytes += ranges.back().bytes;
      if (is_quantised(*matrix)) int8_bytes += ranges.back().bytes;
    }
  }
  std::vector<double> runs;
  const std::uint32_t calls = calls_to_read(bytes);
  // Steps are held against this one figure, and memory is what neighbours disturb most.
  for (std::uint32_t i = 0; i < kReadRepeats; ++i) {
    plan->repeat([&] { runs.push_back(read_rate(executor, loops, ranges, calls)); });
  }
  result.read = figure_of(runs);

  const auto multiply = [&](std::uint64_t (*loop)(std::uint64_t)) {
    const std::uint32_t rounds = calls_for_a_run([&] { use(loop(kRounds)); });
    std::vector<double> rates;
    plan->repeat([&] { rates.push_back(multiply_rate(executor, loop, rounds)); });
    return figure_of(rates);
  };
  result.multiply_float = multiply(loops.multiply_float);
  result.multiply_int8 = multiply(loops.multiply_int8);
  result.multiply = 2 * int8_bytes > bytes ? result.multiply_int8 : result.multiply_float;
  return result;
}

}  // namespace minnow
