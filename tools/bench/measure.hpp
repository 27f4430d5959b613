// The measurements of `minnow bench`, one function each. Depends on session, and on tools/load.
#pragma once

#include "tools/bench/loops.hpp"
#include "tools/bench/timing.hpp"
#include "tools/load.hpp"

namespace minnow {

struct SessionState;
struct Matrix;

// The products of a decode step, by kind, in the order in which a layer does them; and what each kind has to read.
struct MatrixKind {
  const char* name;
  std::vector<const Matrix*> matrices;  // of all layers
};
std::vector<MatrixKind> matrix_kinds(const SessionState& state);
std::uint64_t matrix_bytes(const Matrix& matrix);  // with padding: what a product streams
std::uint64_t matrix_macs(const Matrix& matrix);   // rows times columns, without

// Multiply-adds of attention over 0 .. count - 1, one query at each, and bytes of the keys and values of `count`.
double attention_macs(const SessionState& state, std::uint32_t first, std::uint32_t queries);
double cache_bytes(const SessionState& state, std::uint32_t count);

// Steps and prompts, through the public interface. `session` belongs to one number of threads.
void measure_prefill(LoadedSession* session, TimePlan* plan, BenchResult* out);
void measure_decode(LoadedSession* session, TimePlan* plan, BenchResult* out);
std::uint32_t step_figures(const LoadedSession& session);  // how many both take

LimitResult measure_limits(LoadedSession* session, TimePlan* plan);
inline constexpr std::uint32_t kReadRepeats = 5;
inline constexpr std::uint32_t kLimitFigures = kReadRepeats + 2;

// After measure_decode, whose keys and values attention is measured with.
void measure_operations(LoadedSession* session, const LimitResult& limits, TimePlan* plan, BenchResult* out);
std::uint32_t operation_figures(const LoadedSession& session);

// Bytes a second of one run of `calls` passes over ranges, each cut into one part a worker.
struct Range {
  const std::byte* at;
  std::size_t bytes;
};
double read_rate(const Executor& executor, const LimitLoops& loops, const std::vector<Range>& ranges,
                 std::uint32_t calls);
std::uint32_t calls_to_read(std::uint64_t bytes);

}  // namespace minnow
