// What a command asks about its own process: time, peak memory. Needs POSIX.
#pragma once

#include <cstdint>

namespace minnow {

double seconds_now();          // of a clock that never jumps
void start_process_clock();    // first thing in main
double seconds_since_start();  // 0 if the clock was never started
std::uint64_t peak_memory();   // largest resident size so far in bytes; 0 if the system does not say

}  // namespace minnow
