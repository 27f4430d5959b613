// The kernels one by one, on the model's own weights of all layers in turn, so that they come from where they come from
// in a step; in alternation with a plain sum over the same bytes.
#include <functional>

#include "model/tensors.hpp"
#include "session/attention.hpp"
#include "session/state.hpp"
#include "session/steps.hpp"
#include "tools/bench/measure.hpp"

namespace minnow {
namespace {

// Inputs and outputs of the kernels, of one batch.
struct Buffers {
  std::vector<float> x;
  std::vector<float> out;
  std::vector<std::int8_t> q;
  std::vector<float> scale;
  std::vector<std::int32_t> sum;
  std::vector<float> scratch;

  Buffers(const SessionState& s, std::uint32_t width) {
    const std::size_t rows = s.shape.batch;
    const std::uint32_t widest = std::max({s.widths.input, s.widths.hidden, s.widths.logits});
    x.resize(rows * widest);
    std::uint32_t noise = 1;
    for (float& v : x) {
      noise = noise * 1664525u + 1013904223u;
      v = static_cast<float>(static_cast<std::int32_t>(noise >> 8) - (1 << 23)) / (1 << 22);
    }
    out.resize(rows * std::max(widest, s.widths.qkv));
    q.resize(rows * std::max(s.widths.input, s.widths.hidden));
    scale.resize(q.size() / kGroupColumns);
    sum.resize(scale.size());
    s.kernels->quantise(x.data(), static_cast<std::uint32_t>(scale.size()), q.data(), scale.data(), sum.data());
    scratch.resize(std::size_t{width} * round_up(attend_scratch(s.config->head_size, kAttendQueries), 16u));
  }
};

// One kind of operation: what a pass does and what it costs.
struct Operation {
  std::string name;
  bool float_arithmetic = true;
  std::uint32_t tokens = 0;
  double bytes = 0;
  double macs = 0;
  std::vector<Range> ranges;  // what the limit reads
  std::function<void()> pass;
};

class Bench {
 public:
  Bench(LoadedSession* session, std::uint32_t tokens)
      : session_(session),
        state_(*SessionAccess::state(session->session)),
        executor_(session->config.executor),
        buffers_(state_, session->pool.width()),
        kinds_(matrix_kinds(state_)),
        tokens_(tokens) {}

  std::vector<Operation> operations();

 private:
  Operation product(const MatrixKind& kind);
  void multiply(const Matrix& matrix, std::uint32_t tokens);
  Operation rows(const char* name, std::uint32_t passes, std::uint32_t width, double bytes, double macs,
                 std::function<void(float* x, std::size_t token)> row);
  Operation norm();
  Operation quantise();
  Operation activation();
  Operation attention();
  void attend_once(std::uint32_t layer, std::uint32_t head, std::uint32_t first, std::uint32_t queries,
                   std::uint32_t count, std::uint32_t worker);

  LoadedSession* session_;
  SessionState& state_;
  Executor executor_;
  Buffers buffers_;
  std::vector<MatrixKind> kinds_;
  std::uint32_t tokens_;
};

// Nothing follows the product: no bias, no activation, no sum.
void Bench::multiply(const Matrix& matrix, std::uint32_t tokens) {
  Product product;
  product.w = &matrix;
  product.input = buffers_.x.data();
  product.q_input = {buffers_.q.data(), buffers_.scale.data(), buffers_.sum.data()};
  product.out = buffers_.out.data();
  product.out_pitch = round_up(matrix.rows, kBlockRows);
  minnow::multiply(state_, product, tokens);
}

Operation Bench::product(const MatrixKind& kind) {
  // A session computes logits of a few tokens at once, however long the prompt.
  const std::uint32_t tokens = kind.name == std::string("output") ? std::min(tokens_, kLogitRows) : tokens_;
  Operation operation;
  operation.name = kind.name;
  operation.tokens = tokens;
  for (const Matrix* const matrix : kind.matrices) {
    operation.float_arithmetic = !is_quantised(*matrix);
    operation.ranges.push_back({matrix->data, static_cast<std::size_t>(matrix_bytes(*matrix))});
    operation.bytes += static_cast<double>(matrix_bytes(*matrix));
    operation.macs += static_cast<double>(matrix_macs(*matrix)) * tokens;
  }
  operation.pass = [this, &kind, tokens] {
    for (const Matrix* const matrix : kind.matrices) multiply(*matrix, tokens);
  };
  return operation;
}

// A kernel on rows of `width` numbers, `passes` times for every token; bytes and macs are of one row.
Operation Bench::rows(const char* name, std::uint32_t passes, std::uint32_t width, double bytes, double macs,
                      std::function<void(float* x, std::size_t token)> row) {
  Operation operation;
  operation.name = name;
  operation.tokens = tokens_;
  operation.bytes = bytes * passes * tokens_;
  operation.macs = macs * passes * tokens_;
  operation.ranges.push_back(
      {reinterpret_cast<const std::byte*>(buffers_.x.data()), std::size_t{tokens_} * width * sizeof(float)});
  operation.pass = [this, passes, width, row = std::move(row)] {
    for (std::uint32_t i = 0; i < passes; ++i) {
      for_parts(executor_, tokens_, executor_.width, [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
        for (std::size_t t = begin; t < end; ++t) row(buffers_.x.data() + t * width, t);
      });
    }
  };
  return operation;
}

Operation Bench::norm() {
  const Config& c = *state_.config;
  const LayerWeights& layer = state_.weights.layers[0];
  const std::uint32_t width = state_.widths.embd;
  const bool rms = c.norm == Norm::rms;
  const double vectors = 2 + (layer.ln_1_weight != nullptr) + (layer.ln_1_bias != nullptr);
  return rows(rms ? "rms_norm" : "layer_norm", 2 * c.n_layer + 1, width, vectors * 4 * c.n_embd,
              (rms ? 3.0 : 5.0) * c.n_embd, [this, &c, &layer, rms, width](float* x, std::size_t t) {
                float* const y = buffers_.out.data() + t * width;
                if (rms) {
                  state_.kernels->rms_norm(x, layer.ln_1_weight, c.n_embd, c.norm_eps, y);
                } else {
                  state_.kernels->layer_norm(x, layer.ln_1_weight, layer.ln_1_bias, c.n_embd, c.norm_eps, y);
                }
              });
}

Operation Bench::quantise() {
  const std::uint32_t groups = state_.widths.hidden / kGroupColumns;
  const std::uint32_t width = groups * kGroupColumns;
  return rows("quantise (MLP)", state_.config->n_layer, width, 5.0 * width + 8.0 * groups, 3.0 * width,
              [this, groups, width](float* x, std::size_t t) {
                state_.kernels->quantise(x, groups, buffers_.q.data() + t * width, buffers_.scale.data() + t * groups,
                                         buffers_.sum.data() + t * groups);
              });
}

// Operations a number of the formulas in kernels.hpp and exact_math.hpp.
Operation Bench::activation() {
  const Kernels& k = *state_.kernels;
  const std::uint32_t n = state_.config->n_hidden;
  const std::uint32_t width = state_.widths.hidden;
  const auto plain = [&](const char* name, double macs, void (*kernel)(float*, std::uint32_t)) {
    return rows(name, state_.config->n_layer, width, 8.0 * n, macs * n,
                [this, kernel, n, width](float* x, std::size_t t) {
                  float* const y = buffers_.out.data() + t * width;
                  std::copy(x, x + n, y);  // in place the numbers would run away
                  kernel(y, n);
                });
  };
  switch (state_.config->activation) {
    case Activation::gelu_erf:
      return plain("gelu_erf", 26, k.gelu_erf);
    case Activation::gelu_tanh:
      return plain("gelu_tanh", 20, k.gelu_tanh);
    case Activation::relu:
      return plain("relu", 1, k.relu);
    case Activation::relu_squared:
      return plain("relu_squared", 2, k.relu_squared);
    case Activation::silu_gated:
      break;
  }
  return rows("silu_gate", state_.config->n_layer, width, 12.0 * n, 17.0 * n,
              [this, n, width](float* x, std::size_t t) {
                float* const y = buffers_.out.data() + t * width;
                std::copy(x, x + n, y);
                state_.kernels->silu_gate(y, x, n);
              });
}

// Queries of a batch, the last of which attends to `count` positions.
Operation Bench::attention() {
  const Config& c = *state_.config;
  const std::uint32_t count = std::max(std::min(state_.ring.count, state_.shape.context / 2), 1u);
  const std::uint32_t queries = std::min(tokens_, count);
  Operation operation;
  operation.name = "attention at " + std::to_string(count);
  operation.tokens = queries;
  operation.bytes = cache_bytes(state_, count);
  operation.macs = attention_macs(state_, count - queries, queries);
  for (std::size_t head = 0; head < std::size_t{c.n_layer} * c.n_kv_head; ++head) {
    const auto part = [&](std::size_t bytes) { return bytes / state_.shape.context * count; };
    operation.ranges.push_back({state_.keys + head * state_.key_head_bytes, part(state_.key_head_bytes)});
    operation.ranges.push_back({state_.values + head * state_.value_head_bytes, part(state_.value_head_bytes)});
  }
  const std::uint32_t turns = (queries + kAttendQueries - 1) / kAttendQueries;  // of each head
  operation.pass = [this, &c, count, queries, turns] {
    for (std::uint32_t layer = 0; layer < c.n_layer; ++layer) {
      const std::uint32_t heads = turns * c.n_head;
      for_parts(executor_, heads, executor_.width, [&](std::uint32_t worker, std::uint32_t begin, std::uint32_t end) {
        for (std::uint32_t i = begin; i < end; ++i) {
          const std::uint32_t first = i % turns * kAttendQueries;
          attend_once(layer, i / turns, first, std::min(queries - first, kAttendQueries), count - queries + first + 1,
                      worker);
        }
      });
    }
  };
  return operation;
}

// Queries first .. first + queries - 1 of one head, the first of which attends to `count` positions.
void Bench::attend_once(std::uint32_t layer, std::uint32_t head, std::uint32_t first, std::uint32_t queries,
                        std::uint32_t count, std::uint32_t worker) {
  const Config& c = *state_.config;
  const std::size_t kv_head = std::size_t{layer} * c.n_kv_head + head / (c.n_head / c.n_kv_head);
  const std::size_t pitch = std::size_t{c.n_head} * c.head_size;
  const std::size_t at = first * pitch + std::size_t{head} * c.head_size;
  AttendArgs args;
  args.q = buffers_.x.data() + at;
  args.q_pitch = pitch;
  args.queries = queries;
  args.head_size = c.head_size;
  args.keys = state_.keys + kv_head * state_.key_head_bytes;
  args.values = state_.values + kv_head * state_.value_head_bytes;
  args.kv = state_.shape.kv == KvType::f32 ? 0 : 1;
  args.ring = state_.ring;
  args.count = count;
  args.scale = 0.125f;
  args.scratch = buffers_.scratch.data() + worker * (buffers_.scratch.size() / session_->pool.width());
  args.out = buffers_.out.data() + at;
  args.out_pitch = pitch;
  attend(*state_.kernels, args);
}

std::vector<Operation> Bench::operations() {
  std::vector<Operation> all;
  for (const MatrixKind& kind : kinds_) all.push_back(product(kind));
  all.push_back(attention());
  all.push_back(norm());
  if (is_quantised(state_.weights.layers[0].mlp_c_proj)) all.push_back(quantise());
  all.push_back(activation());
  return all;
}

OperationResult measure(const Operation& operation, const Executor& executor, const LimitLoops& loops, TimePlan* plan) {
  std::uint64_t bytes = 0;
  for (const Range& range : operation.ranges) bytes += range.bytes;
  const std::uint32_t calls = calls_for_a_run(operation.pass);
  std::vector<double> runs;
  std::vector<double> reads;
  plan->repeat([&] {
    runs.push_back(seconds_of(calls, operation.pass));
    reads.push_back(read_rate(executor, loops, operation.ranges, calls_to_read(bytes)));
  });
  OperationResult result;
  result.name = operation.name;
  result.seconds = figure_of(runs);
  result.bytes = operation.bytes;
  result.macs = operation.macs;
  result.read_limit = figure_of(reads).median;
  return result;
}

std::uint32_t row_operations(const SessionState& state) {
  return is_quantised(state.weights.layers[0].mlp_c_proj) ? 4 : 3;  // attention, norm, activation; quantise
}

}  // namespace

std::vector<MatrixKind> matrix_kinds(const SessionState& s) {
  const Config& c = *s.config;
  std::vector<MatrixKind> kinds(4);
  kinds[0].name = "c_attn";
  kinds[1].name = "attn.c_proj";
  kinds[2].name = "c_fc";
  kinds[3].name = "mlp.c_proj";
  MatrixKind gate = {"c_gate", {}};
  for (std::uint32_t i = 0; i < c.n_layer; ++i) {
    const LayerWeights& layer = s.weights.layers[i];
    kinds[0].matrices.push_back(&layer.c_attn);
    kinds[1].matrices.push_back(&layer.attn_c_proj);
    kinds[2].matrices.push_back(&layer.c_fc);
    kinds[3].matrices.push_back(&layer.mlp_c_proj);
    if (c.activation == Activation::silu_gated) gate.matrices.push_back(&s.weights.family_layers[i].c_gate);
  }
  if (!gate.matrices.empty()) kinds.insert(kinds.begin() + 2, gate);
  kinds.push_back({"output", {c.output == Output::separate ? &s.weights.family->lm_head : &s.weights.wte}});
  return kinds;
}

std::uint64_t matrix_bytes(const Matrix& m) {
  return std::uint64_t{block_count(m.rows)} * group_count(m.columns) * group_bytes(m.type);
}

std::uint64_t matrix_macs(const Matrix& m) { return std::uint64_t{m.rows} * m.columns; }

double attention_macs(const SessionState& s, std::uint32_t first, std::uint32_t queries) {
  const Config& c = *s.config;
  const double attended = queries * (first + (queries + 1) / 2.0);
  return 2.0 * attended * c.head_size * c.n_head * c.n_layer;
}

double cache_bytes(const SessionState& s, std::uint32_t count) {
  const Config& c = *s.config;
  return 2.0 * count * c.head_size * c.n_kv_head * c.n_layer * kv_bytes(s.shape.kv);
}

std::uint32_t operation_figures(const LoadedSession& session) {
  const SessionState& state = *SessionAccess::state(const_cast<LoadedSession&>(session).session);
  return 2 * (static_cast<std::uint32_t>(matrix_kinds(state).size()) + row_operations(state));
}

void measure_operations(LoadedSession* session, const LimitResult& limits, TimePlan* plan, BenchResult* out) {
  const LimitLoops& loops = limit_loops(*SessionAccess::state(session->session)->kernels);
  for (const bool prefill : {false, true}) {
    const std::uint32_t tokens = prefill ? SessionAccess::state(session->session)->shape.batch : 1;
    Bench bench(session, tokens);
    for (const Operation& operation : bench.operations()) {
      if (interrupted()) return;
      OperationResult result = measure(operation, session->config.executor, loops, plan);
      result.phase = prefill ? "prefill" : "decode";
      result.threads = session->pool.width();
      result.tokens = operation.tokens;
      result.mac_limit = operation.float_arithmetic ? limits.multiply_float.median : limits.multiply_int8.median;
      out->operations.push_back(result);
    }
  }
}

}  // namespace minnow
