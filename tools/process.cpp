#include "tools/process.hpp"

#include <chrono>

namespace minnow {
namespace {

double start_time = 0;

}  // namespace

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void start_process_clock() { start_time = seconds_now(); }

double seconds_since_start() { return start_time > 0 ? seconds_now() - start_time : 0; }

}  // namespace minnow
