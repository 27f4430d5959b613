// Handlers that set a flag; only what a handler may do is done in them. Needs POSIX.
#if !defined(_WIN32)

#include "tools/signals.hpp"

#include <signal.h>

#include <atomic>
#include <cstddef>

namespace minnow {
namespace {

constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP};
constexpr std::size_t kEndings = sizeof kEnding / sizeof kEnding[0];
std::atomic<int> seen{0};  // threads look at it too
static_assert(std::atomic<int>::is_always_lock_free, "a handler may only touch what takes no lock");

extern "C" void note_signal(int) { seen = 1; }

}  // namespace

struct SignalGuard::Saved {
  struct sigaction ending[kEndings];
  struct sigaction size_limit;
};

SignalGuard::SignalGuard(For use) : saved_(new Saved()) {
  seen = 0;
  struct sigaction note = {};
  note.sa_handler = note_signal;
  if (use == For::text) {
    note.sa_flags = static_cast<int>(static_cast<unsigned>(SA_RESTART) | static_cast<unsigned>(SA_RESETHAND));
  }
  sigemptyset(&note.sa_mask);
  for (std::size_t i = 0; i < kEndings; ++i) {
    sigaction(kEnding[i], nullptr, &saved_->ending[i]);
    if (saved_->ending[i].sa_handler != SIG_IGN) sigaction(kEnding[i], &note, nullptr);
  }
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGXFSZ, &ignore, &saved_->size_limit);
}

SignalGuard::~SignalGuard() {
  for (std::size_t i = 0; i < kEndings; ++i) sigaction(kEnding[i], &saved_->ending[i], nullptr);
  sigaction(SIGXFSZ, &saved_->size_limit, nullptr);
  delete saved_;
}

bool interrupted() { return seen != 0; }

}  // namespace minnow

#endif
