// Work over independent outputs, on threads: what a job computes never depends on how many there are. Depends on the
// pool of hosted.hpp.
#pragma once

#include <cstddef>
#include <exception>
#include <mutex>

#include "minnow/hosted.hpp"

namespace minnow::quantise {

class Workers {
 public:
  explicit Workers(std::uint32_t threads) {
    if (threads > 1 && ThreadPool::create(threads, &pool_) == Status::ok) executor_ = pool_.executor();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  Executor executor() const { return executor_; }

  // body(i) for each i below `jobs`, in any order and several at once. If some throw, one of what they threw is thrown
  // once all have ended.
  template <class Body>
  void run(std::size_t jobs, const Body& body) const {
    if (executor_.run == nullptr || jobs < 2) {
      for (std::size_t i = 0; i < jobs; ++i) body(i);
      return;
    }
    Run<Body> run{body, {}, nullptr};
    const Job job = [](void* arg, std::uint32_t i) { static_cast<Run<Body>*>(arg)->one(i); };
    executor_.run(executor_.self, static_cast<std::uint32_t>(jobs), job, &run);
    if (run.thrown != nullptr) std::rethrow_exception(run.thrown);
  }

 private:
  template <class Body>
  struct Run {
    const Body& body;
    std::mutex mutex;
    std::exception_ptr thrown;

    void one(std::size_t i) noexcept {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        thrown = std::current_exception();
      }
    }
  };

  ThreadPool pool_;
  Executor executor_;
};

}  // namespace minnow::quantise
