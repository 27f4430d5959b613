// Keeps signals off threads that are made meanwhile. Needs POSIX threads; Windows has no signals to keep off.
#pragma once

#if defined(_WIN32)

namespace minnow {

class BlockedSignals {
 public:
  BlockedSignals() noexcept {}
  ~BlockedSignals() {}
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
};

}  // namespace minnow

#else

#include <pthread.h>
#include <signal.h>

namespace minnow {

// Threads inherit the signal mask of their creator: signals go on to interrupt what the other threads wait for.
class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace minnow

#endif
