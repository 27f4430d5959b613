// Work over independent outputs, on threads: what a job computes never depends on how many there are. Depends on the
// pool of hosted.hpp.
#pragma once

#include <cstddef>

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

  // body(i) for each i below `jobs`, in any order and several at once. It must not throw.
  template <class Body>
  void run(std::size_t jobs, const Body& body) const {
    if (executor_.run == nullptr || jobs < 2) {
      for (std::size_t i = 0; i < jobs; ++i) body(i);
      return;
    }
    const Job job = [](void* arg, std::uint32_t i) { (*static_cast<const Body*>(arg))(i); };
    executor_.run(executor_.self, static_cast<std::uint32_t>(jobs), job, const_cast<Body*>(&body));
  }

 private:
  ThreadPool pool_;
  Executor executor_;
};

}  // namespace minnow::quantise
