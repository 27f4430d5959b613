// ThreadPool: every job exactly once, for any width and count; from several threads; with sleeps between; signals.
#include <doctest/doctest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "minnow/hosted.hpp"

namespace minnow {
namespace {

struct Counts {
  std::vector<std::atomic<int>> runs;
  explicit Counts(std::size_t n) : runs(n) {}

  static void job(void* arg, std::uint32_t index) {
    static_cast<Counts*>(arg)->runs[index].fetch_add(1, std::memory_order_relaxed);
  }
  bool each_is(int n) const {
    for (const auto& count : runs) {
      if (count.load() != n) return false;
    }
    return true;
  }
};

// The longest time for which a pool leaves its threads alone after one was late.
constexpr std::chrono::milliseconds kCallerIsAlone{300};

void run(const Executor& executor, std::uint32_t jobs, Job job, void* arg) {
  if (executor.run != nullptr) return executor.run(executor.self, jobs, job, arg);
  for (std::uint32_t i = 0; i < jobs; ++i) job(arg, i);
}

}  // namespace

TEST_CASE("thread_pool: every job once, whatever the width") {
  for (const std::uint32_t width : {1u, 2u, 3u, 8u, 64u}) {
    ThreadPool pool;
    REQUIRE(ThreadPool::create(width, &pool) == Status::ok);
    CHECK(pool.width() >= 1);
    CHECK(pool.width() <= width);
    CHECK(pool.executor().width == pool.width());
    CAPTURE(width);
    for (const std::uint32_t jobs : {0u, 1u, 2u, 3u, 7u, 64u, 1000u}) {
      Counts counts(jobs);
      const int rounds = width > 8 ? 20 : 200;
      for (int round = 0; round < rounds; ++round) run(pool.executor(), jobs, Counts::job, &counts);
      CHECK(counts.each_is(rounds));
    }
  }
}

TEST_CASE("thread_pool: what a job wrote is seen after run, and before the next") {
  ThreadPool pool;
  REQUIRE(ThreadPool::create(4, &pool) == Status::ok);
  struct Relay {
    std::vector<std::uint64_t> values = std::vector<std::uint64_t>(16, 1);
    std::vector<std::uint64_t> next = std::vector<std::uint64_t>(16);
  } relay;
  const auto job = [](void* arg, std::uint32_t i) {  // plain memory: a race would be one for thread sanitizers too
    Relay& r = *static_cast<Relay*>(arg);
    r.next[i] = r.values[i] + r.values[(i + 1) % 16] % 1000003;
  };
  std::vector<std::uint64_t> expected = relay.values;
  for (int round = 0; round < 2000; ++round) {
    run(pool.executor(), 16, job, &relay);
    relay.values.swap(relay.next);
    std::vector<std::uint64_t> next(16);
    for (std::size_t i = 0; i < 16; ++i) next[i] = expected[i] + expected[(i + 1) % 16] % 1000003;
    expected = next;
  }
  CHECK(relay.values == expected);
}

TEST_CASE("thread_pool: threads that have gone to sleep wake up") {
  ThreadPool pool;
  REQUIRE(ThreadPool::create(2, &pool) == Status::ok);
  Counts counts(4);
  for (int round = 0; round < 30; ++round) {
    std::this_thread::sleep_for(std::chrono::microseconds(round % 3 == 0 ? 2000 : 40));
    run(pool.executor(), 4, Counts::job, &counts);
  }
  CHECK(counts.each_is(30));
}

TEST_CASE("thread_pool: the threads take part, in every run") {
  ThreadPool pool;
  REQUIRE(ThreadPool::create(2, &pool) == Status::ok);
  if (pool.width() < 2 || ThreadPool::usable_cores() == 1) return;  // on one core the caller does all
  // Two jobs that wait for each other, which the caller alone cannot satisfy; the deadline only ends a failing test.
  struct Meeting {
    std::atomic<int> arrived{0};
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    std::atomic<int> missed{0};
  };
  const auto job = [](void* arg, std::uint32_t) {
    Meeting& m = *static_cast<Meeting*>(arg);
    m.arrived.fetch_add(1);
    while (m.arrived.load() < 2) {
      std::this_thread::yield();
      if (std::chrono::steady_clock::now() < m.deadline) continue;
      m.missed.fetch_add(1);
      return;
    }
  };
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(kCallerIsAlone);  // if the round before took a busy machine too long
    Meeting meeting;
    run(pool.executor(), 2, job, &meeting);
    REQUIRE(meeting.missed.load() == 0);
  }
}

// Two jobs, the thread's the later one by as long as the run has taken so far and more.
struct LateThread {
  std::thread::id caller = std::this_thread::get_id();
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::atomic<int> of_caller{0};
  std::atomic<int> of_thread{0};

  static void job(void* arg, std::uint32_t) {
    LateThread& t = *static_cast<LateThread*>(arg);
    if (std::this_thread::get_id() == t.caller) {
      t.of_caller.fetch_add(1);
      while (t.of_thread.load() == 0 && t.age() < std::chrono::milliseconds(100)) std::this_thread::yield();
    } else {
      t.of_thread.fetch_add(1);
      while (t.of_caller.load() == 0) std::this_thread::yield();
      std::this_thread::sleep_for(t.age() + std::chrono::milliseconds(5));
    }
  }
  std::chrono::steady_clock::duration age() const { return std::chrono::steady_clock::now() - begun; }
};

TEST_CASE("thread_pool: after a thread that lost its core, the caller works alone for a while") {
  ThreadPool pool;
  REQUIRE(ThreadPool::create(2, &pool) == Status::ok);
  if (pool.width() < 2 || ThreadPool::usable_cores() == 1) return;
  bool alone = false;
  bool together_again = false;
  for (int round = 0; round < 20 && !(alone && together_again); ++round) {  // a busy machine may need more than one
    LateThread late;
    run(pool.executor(), 2, LateThread::job, &late);
    if (late.of_thread.load() == 0) continue;
    LateThread next;
    run(pool.executor(), 2, LateThread::job, &next);
    if (next.of_thread.load() == 0) alone = true;
    std::this_thread::sleep_for(kCallerIsAlone);
    LateThread last;
    run(pool.executor(), 2, LateThread::job, &last);
    if (last.of_thread.load() != 0) together_again = true;
    std::this_thread::sleep_for(kCallerIsAlone);
  }
  CHECK(alone);
  CHECK(together_again);
}

TEST_CASE("thread_pool: more threads than cores, and neighbours that never rest") {
  std::atomic<bool> stop{false};
  std::vector<std::thread> neighbours;
  for (std::uint32_t i = 0; i < ThreadPool::usable_cores(); ++i) {
    neighbours.emplace_back([&stop] {
      while (!stop.load(std::memory_order_relaxed)) {
      }
    });
  }
  for (const std::uint32_t width : {2u, 64u}) {
    ThreadPool pool;
    REQUIRE(ThreadPool::create(width, &pool) == Status::ok);
    CAPTURE(width);
    for (const std::uint32_t jobs : {2u, 64u, 300u}) {
      Counts counts(jobs);
      for (int round = 0; round < 50; ++round) {
        if (round % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // all threads asleep
        run(pool.executor(), jobs, Counts::job, &counts);
      }
      CHECK(counts.each_is(50));
    }
  }
  stop = true;
  for (std::thread& neighbour : neighbours) neighbour.join();
}

TEST_CASE("thread_pool: used by several threads, and by its own jobs") {
  ThreadPool pool;
  REQUIRE(ThreadPool::create(3, &pool) == Status::ok);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      Counts counts(11);
      for (int round = 0; round < 300; ++round) run(pool.executor(), 11, Counts::job, &counts);
      wrong += !counts.each_is(300);
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);

  struct Nested {
    Executor executor;
    Counts counts{5};
  } nested;
  nested.executor = pool.executor();
  const auto outer = [](void* arg, std::uint32_t) {
    Nested& n = *static_cast<Nested*>(arg);
    run(n.executor, 5, Counts::job, &n.counts);
  };
  run(pool.executor(), 7, outer, &nested);
  CHECK(nested.counts.each_is(7));
}

TEST_CASE("thread_pool: in a forked child the caller does all jobs, and may destroy the pool") {
  ThreadPool pool;
  REQUIRE(ThreadPool::create(3, &pool) == Status::ok);
  Counts counts(20);
  for (int round = 1; round <= 20; ++round) {
    run(pool.executor(), 20, Counts::job, &counts);
    usleep(static_cast<useconds_t>(round * 10));  // the threads spin, go to sleep or sleep
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      alarm(20);  // it would wait for ever
      for (int i = 0; i < 30; ++i) run(pool.executor(), 20, Counts::job, &counts);
      pool = ThreadPool();
      _exit(counts.each_is(round + 30) ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
  run(pool.executor(), 20, Counts::job, &counts);
  CHECK(counts.each_is(21));
}

TEST_CASE("thread_pool: signals stay off its threads") {
  ThreadPool pool;
  REQUIRE(ThreadPool::create(3, &pool) == Status::ok);
  struct Masks {
    std::mutex mutex;
    pthread_t caller;
    int open_workers = 0;
  } masks;
  masks.caller = pthread_self();
  const auto job = [](void* arg, std::uint32_t) {
    Masks& m = *static_cast<Masks*>(arg);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    const bool worker = pthread_equal(pthread_self(), m.caller) == 0;
    const std::lock_guard<std::mutex> lock(m.mutex);
    if (worker && (sigismember(&mask, SIGINT) == 0 || sigismember(&mask, SIGTERM) == 0)) ++m.open_workers;
    usleep(200);  // leaves jobs for the others
  };
  run(pool.executor(), 30, job, &masks);
  CHECK(masks.open_workers == 0);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  CHECK(sigismember(&mask, SIGINT) == 0);  // the caller's mask is as it was
}

#if defined(__linux__)
TEST_CASE("thread_pool: only the cores that the caller may use count") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(ThreadPool::usable_cores() == static_cast<std::uint32_t>(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(ThreadPool::usable_cores() == 1);
  ThreadPool pool;  // its threads only sleep
  REQUIRE(ThreadPool::create(5, &pool) == Status::ok);
  Counts counts(20);
  for (int round = 0; round < 100; ++round) run(pool.executor(), 20, Counts::job, &counts);
  CHECK(counts.each_is(100));
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
}
#endif

TEST_CASE("thread_pool: create, move, destroy") {
  ThreadPool pool;
  CHECK(pool.width() == 1);
  CHECK(!pool.executor().run);
  CHECK(ThreadPool::create(0, &pool) == Status::bad_argument);
  CHECK(ThreadPool::create(257, &pool) == Status::bad_argument);
  CHECK(ThreadPool::create(2, nullptr) == Status::bad_argument);
  for (int i = 0; i < 200; ++i) {
    ThreadPool fresh;
    REQUIRE(ThreadPool::create(3, &fresh) == Status::ok);
    pool = std::move(fresh);
  }
  ThreadPool moved(std::move(pool));
  CHECK(pool.width() == 1);
  Counts counts(9);
  run(moved.executor(), 9, Counts::job, &counts);
  CHECK(counts.each_is(1));
}

}  // namespace minnow
