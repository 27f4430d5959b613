// Interruption: a signal sets a flag, the loops that read and write look at it. Depends on file.hpp.
#include <signal.h>

#include "tools/convert/file.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

namespace {

constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP};
volatile sig_atomic_t interrupted = 0;

void note_interruption(int) { interrupted = 1; }

}  // namespace

struct SignalGuard::Saved {
  struct sigaction ending[3];
  struct sigaction size_limit;
};

SignalGuard::SignalGuard() : saved_(new Saved()) {
  interrupted = 0;
  struct sigaction note = {};
  note.sa_handler = note_interruption;  // no SA_RESTART: blocked calls return
  sigemptyset(&note.sa_mask);
  for (std::size_t i = 0; i < 3; ++i) {
    sigaction(kEnding[i], nullptr, &saved_->ending[i]);
    if (saved_->ending[i].sa_handler != SIG_IGN) sigaction(kEnding[i], &note, nullptr);
  }
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGXFSZ, &ignore, &saved_->size_limit);
}

SignalGuard::~SignalGuard() {
  for (std::size_t i = 0; i < 3; ++i) sigaction(kEnding[i], &saved_->ending[i], nullptr);
  sigaction(SIGXFSZ, &saved_->size_limit, nullptr);
  delete saved_;
}

void check_interrupted() {
  if (interrupted != 0) throw Interrupted();
}

}  // namespace minnow::convert
