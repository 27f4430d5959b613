// Executors of the host's: whatever order jobs run in, on whatever threads, sessions give the bits they give without
// one; and threads that each run a session of the same model do not disturb one another.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>

#include "session/state.hpp"
#include "tests/session/rig.hpp"

#if defined(__unix__)
#include <limits.h>
#include <pthread.h>
#endif

using namespace minnow;
using namespace minnow::test;

namespace {

// Numbers for shuffling, always the same.
struct Random {
  std::uint32_t state = 12345;
  std::uint32_t below(std::uint32_t n) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
  }
};

std::vector<std::uint32_t> shuffled(std::uint32_t jobs, Random* random) {
  std::vector<std::uint32_t> order(jobs);
  std::iota(order.begin(), order.end(), 0u);
  for (std::uint32_t i = jobs; i > 1; --i) std::swap(order[i - 1], order[random->below(i)]);
  return order;
}

// Threads that live as long as it does and do all jobs, in random order; the calling thread does none.
class Crew {
 public:
  explicit Crew(std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Crew() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void run(std::uint32_t jobs, Job job, void* arg) {
    std::unique_lock<std::mutex> lock(mutex_);
    job_ = job;
    arg_ = arg;
    todo_ = shuffled(jobs, &random_);
    unfinished_ = jobs;
    changed_.notify_all();
    changed_.wait(lock, [this] { return unfinished_ == 0; });
  }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return over_ || !todo_.empty(); });
      if (over_) return;
      const std::uint32_t index = todo_.back();
      todo_.pop_back();
      lock.unlock();
      job_(arg_, index);
      lock.lock();
      if (--unfinished_ == 0) changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
  std::vector<std::uint32_t> todo_;
  std::uint32_t unfinished_ = 0;
  Job job_ = nullptr;
  void* arg_ = nullptr;
  bool over_ = false;
  Random random_;
};

// What all executors here share.
struct Host {
  Random random;
  Crew crew{2};
  std::uint32_t jobs = 0;  // that were run
};

Host& host_of(void* self, std::uint32_t jobs) {
  Host& host = *static_cast<Host*>(self);
  host.jobs += jobs;
  return host;
}

void one_thread(void* self, std::uint32_t jobs, Job job, void* arg) {
  host_of(self, jobs);
  for (std::uint32_t i = 0; i < jobs; ++i) job(arg, i);
}

void backwards(void* self, std::uint32_t jobs, Job job, void* arg) {
  host_of(self, jobs);
  while (jobs-- > 0) job(arg, jobs);
}

void in_random_order(void* self, std::uint32_t jobs, Job job, void* arg) {
  for (const std::uint32_t i : shuffled(jobs, &host_of(self, jobs).random)) job(arg, i);
}

void thread_per_job(void* self, std::uint32_t jobs, Job job, void* arg) {
  host_of(self, jobs);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < jobs; ++i) threads.emplace_back([=] { job(arg, i); });
  for (std::thread& thread : threads) thread.join();
}

// The last first; both threads and the calling one at once.
void two_at_once(void* self, std::uint32_t jobs, Job job, void* arg) {
  host_of(self, jobs);
  std::atomic<std::uint32_t> left{jobs};
  const auto work = [&] {
    for (std::uint32_t i = left.load(); i > 0;) {
      if (left.compare_exchange_weak(i, i - 1)) job(arg, --i), i = left.load();
    }
  };
  std::thread other(work);
  work();
  other.join();
}

void others_only(void* self, std::uint32_t jobs, Job job, void* arg) { host_of(self, jobs).crew.run(jobs, job, arg); }

#if defined(__unix__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if !defined(__has_feature)
#define SMALL_STACKS 1
#elif !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define SMALL_STACKS 1
#endif
#endif

#if defined(SMALL_STACKS)
struct SmallJob {
  Job job;
  void* arg;
  std::uint32_t index;
};

void* run_small(void* user) {
  const SmallJob& small = *static_cast<SmallJob*>(user);
  small.job(small.arg, small.index);
  return nullptr;
}

// Each job on a thread with a stack of 64 KiB, or the least that the system gives.
void small_stacks(void* self, std::uint32_t jobs, Job job, void* arg) {
  host_of(self, jobs);
  const auto least = static_cast<std::size_t>(PTHREAD_STACK_MIN);
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, least > 65536 ? least : 65536) == 0);
  for (std::uint32_t i = 0; i < jobs; ++i) {
    SmallJob small = {job, arg, i};
    pthread_t thread;
    REQUIRE(pthread_create(&thread, &attributes, run_small, &small) == 0);
    REQUIRE(pthread_join(thread, nullptr) == 0);
  }
  REQUIRE(pthread_attr_destroy(&attributes) == 0);
}
#endif

struct Named {
  const char* name;
  decltype(Executor::run) run;
};

const Named kExecutors[] = {
    {"one thread", one_thread},         {"backwards", backwards},     {"in random order", in_random_order},
    {"thread per job", thread_per_job}, {"two at once", two_at_once}, {"others only", others_only},
#if defined(SMALL_STACKS)
    {"small stacks", small_stacks},
#endif
};

// Enough work that every step is cut into jobs.
HandShape wide_shape(std::uint32_t type) {
  HandShape shape;
  shape.type = type;
  shape.n_layer = 1, shape.n_head = 3, shape.head_size = 32, shape.n_embd = 96, shape.n_hidden = 384;
  shape.block_size = 24, shape.vocab_size = 300, shape.amplitude = 0.2f;
  return shape;
}

}  // namespace

TEST_CASE("executor: any order, any threads, any width: the same bits, for every weight type") {
  Host host;
  for (std::uint32_t type = 0; type < 4; ++type) {
    const AlignedBytes file = hand_built(wide_shape(type));
    const Model model = open_model(file);
    const std::vector<Token> tokens = some_tokens(21, 300);
    Rig alone(model, {});
    const std::vector<float> expected = all_logits(alone.session, tokens, 20);
    for (const Named& executor : kExecutors) {
      for (const std::uint32_t width : {1u, 2u, 3u, kMaxWorkers}) {
        CAPTURE(type);
        CAPTURE(executor.name);
        CAPTURE(width);
        SessionConfig config;
        config.executor = {executor.run, &host, width};
        Rig rig(model, config);
        host.jobs = 0;
        CHECK(same_bits(all_logits(rig.session, tokens, 20), expected));
        CHECK((host.jobs > 0) == (width > 1));
      }
    }
  }
}

TEST_CASE("executor: across the edge of the context and after a rewind") {
  Host host;
  const AlignedBytes file = hand_built(wide_shape(2));
  const Model model = open_model(file);
  const std::vector<Token> tokens = some_tokens(60, 300);
  std::vector<float> expected;
  for (const Named& executor : {Named{"none", nullptr}, kExecutors[2], kExecutors[3], kExecutors[5]}) {
    CAPTURE(executor.name);
    SessionConfig config;
    config.context = 20;
    if (executor.run != nullptr) config.executor = {executor.run, &host, 3};
    Rig rig(model, config);
    REQUIRE(rig.session.feed({tokens.data(), 50}) == Status::ok);
    std::vector<float> logits(rig.session.logits().begin(), rig.session.logits().end());
    REQUIRE(rig.session.rewind(2) == Status::ok);
    REQUIRE(rig.session.feed({tokens.data() + 50, 10}) == Status::ok);
    logits.insert(logits.end(), rig.session.logits().begin(), rig.session.logits().end());
    if (expected.empty()) expected = logits;
    CHECK(same_bits(logits, expected));
  }
}

namespace {

HandShape text_shape() {
  HandShape shape = wide_shape(2);
  shape.vocab_size = 11;
  shape.pieces = {"\n", "a", "b", "c", "@", "ab", "\xe2\x82", "\xac", "\xc3\xa9"};
  return shape;
}

// Encodes, generates and verifies; what was written.
std::string written_by(const Model& model, const Tokenizer& tokenizer, Session session, std::uint64_t seed, bool* ok) {
  std::string text;
  Sampler sampler;
  SamplerConfig sampling;
  sampling.seed = seed;
  Token prompt[8];
  EncodeResult encoded;
  *ok = Sampler::create(sampling, &sampler) == Status::ok;
  *ok = *ok && tokenizer.encode("abcab", {prompt, 8}, &encoded) == Status::ok;
  GenerateConfig config;
  config.max_tokens = 40;
  config.user = &text;
  config.on_text = [](void* user, std::string_view piece) {
    *static_cast<std::string*>(user) += piece;
    return true;
  };
  *ok = *ok && generate(session, &tokenizer, sampler, {prompt, encoded.tokens}, config) == Status::ok;
  *ok = *ok && model.verify() == Status::ok && model.info().vocab_size == 11;
  return text;
}

}  // namespace

TEST_CASE("executor: threads with sessions of one model and tokenizer, each with its own executor or none") {
  constexpr std::size_t kThreads = 4;
  const AlignedBytes file = hand_built(text_shape());
  const Model model = open_model(file);
  Tokenizer tokenizer;
  REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
  bool ok = false;
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < kThreads; ++i) {
    Rig rig(model, {});
    expected.push_back(written_by(model, tokenizer, rig.session, i, &ok));
    REQUIRE(ok);
  }
  Host hosts[kThreads];
  std::vector<Rig> rigs;
  for (std::size_t i = 0; i < kThreads; ++i) {
    SessionConfig config;
    if (i % 2 == 1) config.executor = {others_only, &hosts[i], 3};
    rigs.emplace_back(model, config);
  }
  std::vector<std::string> texts(kThreads);
  bool fine[kThreads] = {};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { texts[i] = written_by(model, tokenizer, rigs[i].session, i, &fine[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < kThreads; ++i) {
    CAPTURE(i);
    CHECK(fine[i]);
    CHECK(texts[i] == expected[i]);
  }
}
