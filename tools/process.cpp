#include "tools/process.hpp"

#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <initializer_list>

namespace minnow {
namespace {

std::chrono::steady_clock::time_point start_time;
volatile std::sig_atomic_t interrupt_seen = 0;

extern "C" void note_interrupt(int) { interrupt_seen = 1; }

}  // namespace

void start_process_clock() { start_time = std::chrono::steady_clock::now(); }

double seconds_since_start() {
  if (start_time == std::chrono::steady_clock::time_point()) return 0;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_time).count();
}

// getrusage also counts what the parent had resident before exec, so Linux is asked for this program's own figure.
std::uint64_t peak_memory() {
  if (std::FILE* const file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    unsigned long long kib = 0;
    while (kib == 0 && std::fgets(line, sizeof line, file) != nullptr) {
      if (std::sscanf(line, "VmHWM: %llu kB", &kib) != 1) kib = 0;
    }
    std::fclose(file);
    if (kib != 0) return std::uint64_t{kib} * 1024;
  }
  struct rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#if defined(__APPLE__)
  return static_cast<std::uint64_t>(usage.ru_maxrss);
#else
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
#endif
}

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = note_interrupt;
  // One warning each: whoever presses Ctrl-C twice wants out. Writes go on, so no character is cut.
  action.sa_flags = static_cast<int>(static_cast<unsigned>(SA_RESTART) | static_cast<unsigned>(SA_RESETHAND));
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction before = {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);  // ignored for a job in the background
  }
}

bool interrupted() { return interrupt_seen != 0; }

}  // namespace minnow
