// A pool of std::threads that run the jobs of one Executor. Built with exceptions, since std::thread throws.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "hosted/blocked_signals.hpp"
#include "hosted/system.hpp"
#include "minnow/hosted.hpp"

namespace minnow {
namespace {

// Longer than the serial work between two parallel parts of a token, short enough not to be felt on a battery.
constexpr std::chrono::microseconds kSpin{50};
constexpr int kPausesBetweenClocks = 32;  // reading the clock costs about as much as this

// Where neighbours keep the cores busy, the caller is faster alone: a thread that holds a job up for longer than kLate
// has lost its core, and waking one kFutile times in vain costs more than it brings. The caller tries again after a
// time that doubles from the first to the last of these. A run that begins in that time stays on the caller to its end.
constexpr std::chrono::milliseconds kLate{1};
constexpr int kFutile = 8;
constexpr std::chrono::milliseconds kFirstAlone{4};
constexpr std::chrono::milliseconds kLastAlone{256};

using Time = std::chrono::steady_clock::time_point;

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__ARM_ARCH_7A__)
  __asm__ __volatile__("yield");
#endif
}

// Between a thread's own store and its load of what another thread stores: at least one of the two sees the other's.
// A fence rather than seq_cst accesses, which qemu 7.2 translates from aarch64 to x86 without their order.
void full_fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

// Spins until `done()` or for kSpin. Returns what done() said last.
template <class Condition>
bool spin_until(const Condition& done) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < kPausesBetweenClocks; ++i) {
      if (done()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return done();
}

}  // namespace

// One run at a time. Its jobs are claimed by counting `unclaimed` down: whoever turns n into n-1 owns job n-1. The
// fields of the run are written before `unclaimed` is raised, and read only by owners of a claim, whose job must finish
// before the run can end; so no thread ever sees the fields of a run change. A thread that comes late finds either no
// claim or one of a later run, and both are right.
// However many threads there are, only as many as leave the caller a core spin or are woken: the others would only keep
// these from working.
struct ThreadPool::State {
  // One cache line: who claims a job then has what it needs.
  alignas(64) std::atomic<std::uint32_t> unclaimed{0};
  Job job = nullptr;
  void* arg = nullptr;
  alignas(64) std::atomic<std::uint32_t> unfinished{0};
  alignas(64) std::atomic<std::uint32_t> awake{0};  // workers that do not sleep, so will see a job
  std::atomic<bool> caller_sleeps{false};
  std::atomic<bool> stop{false};
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  Time alone_until;  // of whoever has set `busy`, as the next
  std::chrono::steady_clock::duration alone_for = kFirstAlone;
  int futile = 0;  // runs in a row for which threads were woken, and which the caller finished before one came
  bool may_spin = true;
  std::uint64_t process = 0;  // a forked child has none of the threads, and `mutex` as one of them may have held it
  std::uint32_t most_awake = 0;
  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable finished;
  std::vector<std::thread> threads;

  void run(std::uint32_t jobs, Job new_job, void* new_arg) noexcept;
  bool run_one() noexcept;
  bool wake_workers(std::uint32_t wanted) noexcept;
  void wait_for_work() noexcept;
  bool wait_until_finished(Time begun) noexcept;
  void stay_alone(Time begun) noexcept;
  void work_loop() noexcept;
};

// Claims a job and runs it. False if there was none.
bool ThreadPool::State::run_one() noexcept {
  std::uint32_t left = unclaimed.load(std::memory_order_relaxed);
  do {
    if (left == 0) return false;
  } while (!unclaimed.compare_exchange_weak(left, left - 1, std::memory_order_acquire, std::memory_order_relaxed));
  job(arg, left - 1);
  if (unfinished.fetch_sub(1, std::memory_order_acq_rel) != 1) return true;
  full_fence();  // either this thread sees the caller asleep, or the caller sees 0
  if (caller_sleeps.load(std::memory_order_relaxed)) {
    const std::lock_guard<std::mutex> lock(mutex);
    finished.notify_one();
  }
  return true;
}

void ThreadPool::State::run(std::uint32_t jobs, Job new_job, void* new_arg) noexcept {
  // Jobs may run one after the other, so a second caller, or a job that runs jobs, does without the threads.
  if (jobs <= 1 || threads.empty() || busy.test_and_set(std::memory_order_acquire)) {
    for (std::uint32_t i = 0; i < jobs; ++i) new_job(new_arg, i);
    return;
  }
  const Time begun = std::chrono::steady_clock::now();
  if (begun < alone_until) {
    for (std::uint32_t i = 0; i < jobs; ++i) new_job(new_arg, i);
    busy.clear(std::memory_order_release);
    return;
  }
  job = new_job;
  arg = new_arg;
  unfinished.store(jobs, std::memory_order_relaxed);
  unclaimed.store(jobs, std::memory_order_release);
  const bool woke = wake_workers(jobs - 1);
  std::uint32_t own = 0;
  while (run_one()) ++own;
  const bool late = !wait_until_finished(begun);
  if (own != jobs)
    futile = 0;
  else if (woke)
    ++futile;
  if (late || futile == kFutile) stay_alone(begun);
  busy.clear(std::memory_order_release);
}

// Whether it woke any.
bool ThreadPool::State::wake_workers(std::uint32_t wanted) noexcept {
  full_fence();  // either the caller counts a thread as asleep here, or that thread sees the jobs before it sleeps
  const std::uint32_t have = awake.load(std::memory_order_relaxed);
  wanted = std::min(wanted, most_awake);
  if (have >= wanted || system::process_id() != process) return false;
  { const std::lock_guard<std::mutex> lock(mutex); }  // a thread that is about to sleep now does
  for (std::uint32_t i = have; i < wanted; ++i) work.notify_one();
  return true;
}

void ThreadPool::State::wait_for_work() noexcept {
  const auto ready = [this] {
    return unclaimed.load(std::memory_order_relaxed) != 0 || stop.load(std::memory_order_relaxed);
  };
  if (may_spin && awake.load(std::memory_order_relaxed) <= most_awake && spin_until(ready)) return;
  std::unique_lock<std::mutex> lock(mutex);
  awake.fetch_sub(1, std::memory_order_relaxed);
  full_fence();
  work.wait(lock, ready);
  awake.fetch_add(1, std::memory_order_relaxed);
}

// Of a run that began at `begun`. False if it took so long that a thread must have lost its core: longer than the
// caller itself worked, which no fair share of the jobs explains.
bool ThreadPool::State::wait_until_finished(Time begun) noexcept {
  const auto ready = [this] { return unfinished.load(std::memory_order_acquire) == 0; };
  if (ready()) return true;
  const Time from = std::chrono::steady_clock::now();
  if (may_spin && spin_until(ready)) return true;
  if (!ready()) {
    std::unique_lock<std::mutex> lock(mutex);
    caller_sleeps.store(true, std::memory_order_relaxed);
    full_fence();
    finished.wait(lock, ready);
    caller_sleeps.store(false, std::memory_order_relaxed);
  }
  const auto waited = std::chrono::steady_clock::now() - from;
  return waited < kLate || waited < from - begun;
}

void ThreadPool::State::stay_alone(Time begun) noexcept {
  const bool again = begun - alone_until < 4 * alone_for;
  alone_for = again ? std::min<std::chrono::steady_clock::duration>(2 * alone_for, kLastAlone) : kFirstAlone;
  alone_until = std::chrono::steady_clock::now() + alone_for;
  futile = 0;
}

void ThreadPool::State::work_loop() noexcept {
  while (!stop.load(std::memory_order_relaxed)) {
    if (!run_one()) wait_for_work();
  }
}

std::uint32_t ThreadPool::usable_cores() noexcept {
  const std::uint32_t cores = system::usable_cores();
  return cores != 0 ? cores : std::max(std::thread::hardware_concurrency(), 1u);
}

Status ThreadPool::create(std::uint32_t width, ThreadPool* out) noexcept {
  if (out == nullptr || width == 0 || width > kMaxWorkers) return Status::bad_argument;
  ThreadPool pool;
  pool.state_ = new (std::nothrow) State;
  if (pool.state_ == nullptr) return Status::io_error;
  State* const state = pool.state_;
  state->process = system::process_id();
  state->may_spin = usable_cores() > 1;
  state->most_awake = usable_cores() - 1;
  try {
    state->threads.reserve(width - 1);
  } catch (...) {
    return Status::io_error;
  }
  const BlockedSignals blocked;
  try {
    while (state->threads.size() + 1 < width) {
      state->awake.fetch_add(1, std::memory_order_relaxed);
      state->threads.emplace_back([state] { state->work_loop(); });
    }
  } catch (...) {  // the system grants no more: narrower
    state->awake.fetch_sub(1, std::memory_order_relaxed);
  }
  *out = static_cast<ThreadPool&&>(pool);
  return Status::ok;
}

ThreadPool::~ThreadPool() {
  if (state_ == nullptr) return;
  if (system::process_id() != state_->process) return;  // there is nothing to end, and what it held stays
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stop.store(true, std::memory_order_relaxed);
  }
  state_->work.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
  delete state_;
}

ThreadPool::ThreadPool(ThreadPool&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }

ThreadPool& ThreadPool::operator=(ThreadPool&& other) noexcept {
  State* const mine = state_;
  state_ = other.state_;
  other.state_ = mine;
  return *this;
}

std::uint32_t ThreadPool::width() const noexcept {
  return state_ == nullptr ? 1 : static_cast<std::uint32_t>(state_->threads.size()) + 1;
}

Executor ThreadPool::executor() noexcept {
  if (width() == 1) return Executor{};
  const auto run = [](void* self, std::uint32_t jobs, Job job, void* arg) {
    static_cast<State*>(self)->run(jobs, job, arg);
  };
  return Executor{run, state_, width()};
}

}  // namespace minnow
