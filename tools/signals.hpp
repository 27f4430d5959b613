// Interruption, for all commands: signals are counted, the loops that read, compute and write look.
// signals_posix.cpp and signals_windows.cpp.
#pragma once

namespace minnow {

// Catches SIGINT, SIGTERM and SIGHUP as long as it lives, and starts with none seen; ignored ones stay ignored, as for
// a job in the background. A write beyond the file size limit becomes an error instead of a signal. One at a time.
class SignalGuard {
 public:
  enum class For {
    files,  // blocked calls return, and later signals are noted too, so that a temporary file is always removed
    text,   // blocked writes go on, so that no character is cut; a second signal of a kind ends the process
  };
  explicit SignalGuard(For use = For::files);
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  struct Saved;
  Saved* saved_;
};

bool interrupted();  // a signal arrived since the last guard was made

}  // namespace minnow
