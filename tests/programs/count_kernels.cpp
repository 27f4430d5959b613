// count_kernels MODEL: runs every kernel of the AVX2 table once, and one step and one prompt of the model, and has
// callgrind write what each took in instructions. Under `valgrind --tool=callgrind` alone; tests/check/instructions.sh
// reads what it writes. Everything runs once before it is counted, so that nothing is bound, filled or faulted in then.
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "minnow/hosted.hpp"
#include "session/state.hpp"
#include "tests/session/golden.hpp"

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif
#endif

using namespace minnow;
using namespace minnow::test;

namespace {

void count(const std::string& name, const std::function<void()>& run) {
  run();
#if defined(CALLGRIND_ZERO_STATS)
  CALLGRIND_ZERO_STATS;
  run();
  CALLGRIND_DUMP_STATS_AT(name.c_str());
#else
  std::fprintf(stderr, "count_kernels: %s: built without valgrind/callgrind.h\n", name.c_str());
#endif
}

// Shapes like those of a small model: 6 groups of columns, 33 blocks of rows, so that tiles end in odd ones too.
constexpr std::uint32_t kColumns = 192;
constexpr std::uint32_t kRows = 264;
constexpr std::uint32_t kTokens = 23;
constexpr std::uint32_t kHidden = 768;
constexpr std::uint32_t kHead = 32;
constexpr std::uint32_t kPositions = kAttentionTile;

struct Data {
  std::vector<float> x = std::vector<float>(kTokens * kHidden);
  std::vector<float> y = std::vector<float>(kTokens * kHidden);
  std::vector<Half> halves = std::vector<Half>(kPositions * kHead, 0x3800);  // 0.5
  std::vector<float> floats = std::vector<float>(kPositions * kHead, 0.5f);
  std::vector<std::int8_t> q = std::vector<std::int8_t>(kTokens * kHidden);
  std::vector<float> scale = std::vector<float>(kTokens * kHidden / kGroupColumns);
  std::vector<std::int32_t> sum = std::vector<std::int32_t>(kTokens * kHidden / kGroupColumns);

  Data() {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) / 25 - 2;
  }
};

void count_products(const Kernels& kernels, Data& d) {
  for (const WeightType type : {WeightType::f32, WeightType::f16, WeightType::q8, WeightType::q4}) {
    const auto matmul = kernels.matmul[static_cast<std::uint32_t>(type)];
    if (matmul == nullptr) continue;
    const std::vector<std::byte> weights(std::size_t{kRows / kBlockRows} * (kColumns / kGroupColumns) *
                                         group_bytes(type));
    for (const std::uint32_t tokens : {1u, kTokens}) {
      MatmulArgs args;
      args.weights = weights.data();
      args.groups = kColumns / kGroupColumns;
      args.block_end = kRows / kBlockRows;
      args.tokens = tokens;
      args.x = d.x.data();
      args.q = d.q.data();
      args.scale = d.scale.data();
      args.sum = d.sum.data();
      args.out = d.y.data();
      args.out_pitch = kRows;
      count(std::string("matmul_") + to_string(type) + (tokens == 1 ? "_decode" : "_prefill"), [&] { matmul(args); });
    }
  }
}

void count_rows(const Kernels& k, Data& d) {
  float* const x = d.x.data();
  float* const y = d.y.data();
  count("quantise", [&] { k.quantise(x, kHidden / kGroupColumns, d.q.data(), d.scale.data(), d.sum.data()); });
  count("layer_norm", [&] { k.layer_norm(x, x, x, kColumns, 1e-5f, y); });
  count("rms_norm", [&] { k.rms_norm(x, x, kColumns, 1e-5f, y); });
  count("add", [&] { k.add(y, x, kColumns); });
  count("to_half", [&] { k.to_half(x, kColumns, d.halves.data()); });
  const struct {
    const char* name;
    void (*kernel)(float* x, std::uint32_t n);
  } in_place[] = {
      {"gelu_erf", k.gelu_erf}, {"gelu_tanh", k.gelu_tanh}, {"relu", k.relu}, {"relu_squared", k.relu_squared}};
  for (const auto& each : in_place) {
    d.y.assign(d.y.size(), 0.75f);
    count(each.name, [&] { each.kernel(y, kHidden); });
  }
  d.y.assign(d.y.size(), 0.75f);
  count("silu_gate", [&] { k.silu_gate(y, x, kHidden); });
  count("softcap", [&] { k.softcap(y, kHidden, 15.0f); });
  count("rotate_adjacent", [&] { k.rotate[0](y, x, x + kHead, kHead / 2); });
  count("rotate_halves", [&] { k.rotate[1](y, x, x + kHead, kHead / 2); });
}

// Some queries of a prompt, and the one of a step.
void count_attention(const Kernels& k, Data& d) {
  constexpr std::uint32_t kScores = kKeyLanes + kPositions + kKeyLanes;
  const void* const caches[] = {d.floats.data(), d.halves.data()};
  const char* const names[] = {"f32", "f16"};
  for (const std::uint32_t queries : {1u, 5u}) {
    const std::string phase = queries == 1 ? "_decode" : "_prefill";
    for (int kv = 0; kv < 2; ++kv) {
      ScoreArgs scores;
      scores.q = d.x.data();
      scores.q_pitch = kHead;
      scores.queries = queries;
      scores.head_size = kHead;
      scores.keys = caches[kv];
      scores.count = kPositions;
      scores.scale = 0.2f;
      scores.out = d.y.data() + kKeyLanes;
      scores.out_pitch = kScores;
      count("attention_scores_" + std::string(names[kv]) + phase, [&] { k.attention_scores[kv](scores); });
      MixArgs mix;
      mix.p = d.x.data();
      mix.p_pitch = kScores;
      mix.c = d.floats.data();
      mix.queries = queries;
      mix.head_size = kHead;
      mix.values = caches[kv];
      mix.count = kPositions;
      mix.o = d.y.data();
      mix.o_pitch = kHead;
      count("attention_mix_" + std::string(names[kv]) + phase, [&] { k.attention_mix[kv](mix); });
    }
  }
  d.y.assign(d.y.size(), 0.25f);
  count("softmax_tile", [&] {
    float m = 0;
    float l = 0;
    k.softmax_tile(d.y.data(), kPositions, &m, &l);
  });
}

bool count_session(const char* path) {
  FileMap file;
  Model model;
  if (FileMap::open(path, &file) != Status::ok || Model::open(file.bytes(), &model) != Status::ok) return false;
  SessionConfig config;
  config.isa = Isa::avx2;
  Running running(model, config);
  Session& session = running.session;
  std::vector<Token> tokens(64, 1);
  bool ok = true;
  const auto feed = [&](std::size_t n) { ok &= session.feed(Span<const Token>(tokens.data(), n)) == Status::ok; };
  count("prompt_of_64", [&] {
    session.reset();
    feed(64);
  });
  // Twice the same step: the second forgets what the first one left.
  SessionState& state = *SessionAccess::state(session);
  count("step_at_64", [&] {
    state.ring.count = 64;
    feed(1);
  });
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  const Kernels* const kernels = select_kernels(Isa::avx2);
  if (argc != 2 || kernels == nullptr) {
    std::fprintf(stderr, kernels == nullptr ? "count_kernels: no AVX2 here\n" : "usage: count_kernels MODEL\n");
    return 2;
  }
  Data data;
  count_products(*kernels, data);
  count_rows(*kernels, data);
  count_attention(*kernels, data);
  if (count_session(argv[1])) return 0;
  std::fprintf(stderr, "count_kernels: %s: no model, or it does not run\n", argv[1]);
  return 1;
}
