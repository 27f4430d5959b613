// Whatever floating-point mode a host has set, on whichever of its threads, results have the contract's bits, and the
// host finds its mode and its exception flags as they were.
#include <cfenv>
#include <thread>

#include "base/float_mode.hpp"
#include "tests/session/rig.hpp"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

using namespace minnow;
using namespace minnow::test;

namespace {

struct HostMode {
  const char* name;
  void (*set)();
};

// Unknown to <cfenv>: denormals flushed to zero.
#if defined(__SSE__)
void flush() { _mm_setcsr(_mm_getcsr() | 0x8040); }
std::uint64_t mode() { return _mm_getcsr(); }
void trap() { _mm_setcsr(0); }
#elif defined(__aarch64__)
void flush() { __asm__ __volatile__("msr fpcr, %0" : : "r"(std::uint64_t{1} << 24)); }
std::uint64_t mode() {
  std::uint64_t control = 0, status = 0;
  __asm__ __volatile__("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control), "=r"(status));
  return control << 32 | status;
}
void trap() { flush(); }
#elif defined(__arm__) && defined(__ARM_FP)
void flush() { __asm__ __volatile__("vmsr fpscr, %0" : : "r"(std::uint32_t{1} << 24)); }
std::uint64_t mode() {
  std::uint32_t word = 0;
  __asm__ __volatile__("vmrs %0, fpscr" : "=r"(word));
  return word;
}
void trap() { flush(); }
#else
void flush() {}
std::uint64_t mode() { return static_cast<std::uint64_t>(std::fegetround()); }
void trap() {}
#endif

const HostMode kHostModes[] = {
    {"as the program starts", [] {}},
    {"upward", [] { std::fesetround(FE_UPWARD); }},
    {"downward", [] { std::fesetround(FE_DOWNWARD); }},
    {"toward zero", [] { std::fesetround(FE_TOWARDZERO); }},
    {"flush to zero", flush},
    {"flush to zero, upward",
     [] {
       std::fesetround(FE_UPWARD);
       flush();
     }},
    {"every exception traps", trap},
};

// The host's pool: a thread a job, each in another mode.
void run_on_odd_threads(void*, std::uint32_t jobs, Job job, void* arg) {
  for (std::uint32_t i = 0; i < jobs; ++i) {
    std::thread([=] {
      kHostModes[i % (sizeof kHostModes / sizeof kHostModes[0])].set();
      const std::uint64_t before = mode();
      job(arg, i);
      CHECK(mode() == before);
    }).join();
  }
}

AlignedBytes model_of_type(std::uint32_t type) {
  HandShape shape;
  shape.type = type;
  shape.n_embd = 96;
  shape.n_head = 3;
  shape.n_layer = 2;
  return hand_built(shape);
}

struct Outcome {
  std::vector<float> logits;
  std::vector<Token> picked;
};

// In the calling thread's mode; the sampler's filters all take part.
Outcome outcome(const Model& model, const SessionConfig& config) {
  Rig rig(model, config);
  Sampler sampler;
  REQUIRE(Sampler::create({0.9f, 7, 0.95f, 0.01f, 5}, &sampler) == Status::ok);
  const std::vector<Token> tokens = some_tokens(9, 11);
  Outcome out;
  std::vector<float> rows(tokens.size() * 11);
  REQUIRE(rig.session.feed({tokens.data(), tokens.size()}, {rows.data(), rows.size()}) == Status::ok);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Token token = 0;
    REQUIRE(sampler.pick({rows.data() + i * 11, 11}, &token) == Status::ok);
    out.picked.push_back(token);
  }
  REQUIRE(rig.session.feed({tokens.data(), 2}) == Status::ok);
  out.logits = rows;
  out.logits.insert(out.logits.end(), rig.session.logits().begin(), rig.session.logits().end());
  return out;
}

}  // namespace

TEST_CASE("float mode: the host's mode changes no bit, and is as it was afterwards") {
  for (const std::uint32_t type : {0u, 2u}) {
    const AlignedBytes file = model_of_type(type);
    const Model model = open_model(file);
    Isa isas[kIsaCount];
    const std::size_t count = available_isas({isas, kIsaCount});
    for (std::size_t i = 0; i < count; ++i) {
      SessionConfig config;
      config.isa = isas[i];
      const Outcome expected = outcome(model, config);
      for (const HostMode& host : kHostModes) {
        CAPTURE(host.name);
        CAPTURE(to_string(isas[i]));
        Outcome found;
        std::uint64_t before = 0;
        std::uint64_t after = 0;
        std::thread([&] {
          Rig warm(model, config);
          host.set();
          before = mode();
          const Token token = 1;
          static_cast<void>(warm.session.feed({&token, 1}));
          Token picked = 0;
          Sampler sampler;
          static_cast<void>(Sampler::create({}, &sampler));
          static_cast<void>(sampler.pick(warm.session.logits(), &picked));
          after = mode();
        }).join();
        CHECK(after == before);
        std::thread([&] {
          host.set();
          found = outcome(model, config);
        }).join();
        CHECK(same_bits(found.logits, expected.logits));
        CHECK(found.picked == expected.picked);
      }
    }
  }
}

TEST_CASE("float mode: jobs on the host's own threads, each in another mode") {
  const AlignedBytes file = model_of_type(2);
  const Model model = open_model(file);
  const Outcome expected = outcome(model, {});
  SessionConfig config;
  config.executor = {run_on_odd_threads, nullptr, 7};
  const Outcome found = outcome(model, config);
  CHECK(same_bits(found.logits, expected.logits));
  CHECK(found.picked == expected.picked);
}

TEST_CASE("float mode: the mode inside is the contract's") {
  const volatile float one = 1;
  const volatile float tiny = 1e-30f;
  std::fesetround(FE_UPWARD);
  const volatile float outside = one + tiny;
  volatile float inside = 0;
  {
    const FloatMode contract;
    inside = one + tiny;
  }
  const volatile float afterwards = one + tiny;
  std::fesetround(FE_TONEAREST);
  CHECK(outside > 1);
  CHECK(inside == 1);
  CHECK(afterwards > 1);
}
