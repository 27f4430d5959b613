// `minnow bench`: how fast a model runs here, and how near to what the machine can do.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "session/state.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/report.hpp"
#include "tools/commands.hpp"
#include "tools/convert/file.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/id_stream.hpp"

namespace minnow {
namespace {

constexpr const char* kCommand = "bench";
constexpr std::uint32_t kMostThreads = 8;  // of the second column, without --threads

struct BenchOptions {
  std::string model;
  std::string svg_file;
  std::string old_file;
  bool json = false;
  bool has_svg = false;
  bool has_old = false;
  std::uint64_t runs = 5;
  double seconds = 30;
  SessionOptions session;
};

int parse(int argc, char** argv, BenchOptions* bench) {
  Options options(kCommand, "bench MODEL [options]",
                  "Speed of prompts, of steps (from token to logits, without sampling) and of each operation, beside "
                  "what this machine\nreads and multiplies at most.");
  options.positional("MODEL", &bench->model, nullptr);
  options.flag("json", &bench->json, "one JSON object");
  options.text("svg", "FILE", &bench->svg_file, &bench->has_svg,
               "write a picture of the roofline, each operation on it");
  options.text("compare", "OLD.json", &bench->old_file, &bench->has_old, "ratios to an earlier run's --json");
  options.number("runs", "N", 1, 1000, &bench->runs, "runs of each figure, of which the median counts (5)");
  options.real("seconds", "S", 0.01, 86400, &bench->seconds,
               "time for all of it; figures that need longer get fewer runs (30)");
  add_session_options(&options, &bench->session);
  int status = kDone;
  if (!options.parse(argc, argv, &status)) return status == kDone ? -1 : status;
  for (const std::string& read : {bench->model, bench->old_file}) {
    if (bench->has_svg && is_same_file(bench->svg_file, read)) {
      return complain(kCommand, "--svg: " + printable(bench->svg_file) + " is an input; expected another file name",
                      kMisused);
    }
  }
  return kDone;
}

// One thread and as many as there are cores, or what --threads says.
std::vector<std::uint32_t> thread_counts(const BenchOptions& bench) {
  if (bench.session.threads != 0) return {static_cast<std::uint32_t>(bench.session.threads)};
  const std::uint32_t cores = std::min(ThreadPool::usable_cores(), kMostThreads);
  return cores == 1 ? std::vector<std::uint32_t>{1} : std::vector<std::uint32_t>{1, cores};
}

void describe(const LoadedModel& model, const LoadedSession& session, BenchResult* out) {
  const SessionState& state = *SessionAccess::state(const_cast<LoadedSession&>(session).session);
  out->model = model.path;
  out->type = to_string(model.info.type);
  out->parameters = model.info.n_parameters;
  out->file_bytes = model.info.file_bytes;
  for (const MatrixKind& kind : matrix_kinds(state)) {
    for (const Matrix* const matrix : kind.matrices) {
      out->step_bytes += matrix_bytes(*matrix);
      out->step_macs += matrix_macs(*matrix);
    }
  }
  out->isa = to_string(state.kernels->isa);
  out->kernels = state.kernels->name;
  out->kv = to_string(session.kv);
  out->context = session.context;
  out->batch = state.shape.batch;
  out->load = to_string(model.load);
}

// The first step of the process: it touches every weight, and with a mapped file every page.
void first_step(LoadedSession* session, BenchResult* out) {
  const double begin = seconds_now();
  const Token token = 0;
  static_cast<void>(session->session.feed(Span<const Token>(&token, 1)));
  out->first_touch_seconds = seconds_now() - begin;
  out->first_token_seconds = seconds_since_start();
  session->session.reset();
}

int measure_all(const BenchOptions& bench, BenchResult* out) {
  LoadedModel model;
  const double begin = seconds_now();
  const int opened = open_model(kCommand, bench.model, &model, bench.session.how_to_load());
  if (opened != kDone) return opened;
  out->load_seconds = seconds_now() - begin;
  const SignalGuard signals;
  TimePlan plan(bench.seconds, static_cast<std::uint32_t>(bench.runs));
  const std::vector<std::uint32_t> counts = thread_counts(bench);
  std::uint32_t widths_done = 0;
  for (const std::uint32_t threads : counts) {
    LoadedSession session;
    SessionOptions options = bench.session;
    options.threads = threads;
    if (const int status = create_session(kCommand, model, options, &session); status != kDone) return status;
    if (widths_done == 0) {
      describe(model, session, out);
      first_step(&session, out);
    }
    const std::uint32_t figures = kLimitFigures + step_figures(session) + operation_figures(session);
    plan.expect(figures * (static_cast<std::uint32_t>(counts.size()) - widths_done++));
    out->limits.push_back(measure_limits(&session, &plan));
    measure_prefill(&session, &plan, out);
    measure_decode(&session, &plan, out);
    measure_operations(&session, out->limits.back(), &plan, out);
    if (interrupted()) return kInterrupted;
  }
  return kDone;
}

}  // namespace

int bench_command(int argc, char** argv) {
  BenchOptions bench;
  int status = parse(argc, argv, &bench);
  if (status != kDone) return status < 0 ? kDone : status;
  try {
    std::vector<Comparison> old;
    if (bench.has_old) old = read_rates(bench.old_file);
    std::unique_ptr<convert::OutputFile> svg;  // what cannot be written is told before anything is measured
    if (bench.has_svg) svg = std::make_unique<convert::OutputFile>(bench.svg_file);
    BenchResult result;
    if ((status = measure_all(bench, &result)) != kDone) return status;
    std::vector<Comparison> figures;
    if (bench.has_old) figures = compare_rates(old, result);
    std::string text;
    if (bench.has_old) {
      const std::string others = other_settings(bench.old_file, bench_json(result, ""));
      if (!others.empty()) {
        std::fprintf(stderr, "minnow %s: %s is not of the same: %s\n", kCommand, printable(bench.old_file).c_str(),
                     others.c_str());
      }
    }
    if (bench.json) {
      text = bench_json(result, bench.has_old ? comparison_json(figures) : "");
    } else {
      text = bench_table(result) + (bench.has_old ? comparison_table(figures, bench.old_file) : "");
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (svg != nullptr) {
      const std::string picture = roofline_svg(result);
      svg->append(picture.data(), picture.size());
      svg->commit();
    }
  } catch (const convert::Interrupted&) {
    return kInterrupted;
  } catch (const convert::Refusal& refusal) {
    return complain(kCommand, printable(refusal.path()) + ": " + refusal.what());
  }
  return kDone;
}

}  // namespace minnow
