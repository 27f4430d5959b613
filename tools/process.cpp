#include "tools/process.hpp"

#include <sys/resource.h>

#include <chrono>
#include <cstdio>

namespace minnow {
namespace {

double start_time = 0;

}  // namespace

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void start_process_clock() { start_time = seconds_now(); }

double seconds_since_start() { return start_time > 0 ? seconds_now() - start_time : 0; }

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

}  // namespace minnow
