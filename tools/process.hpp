// What a command asks about its own process: time since the start, peak memory, interrupts. Needs POSIX.
#pragma once

#include <cstdint>

namespace minnow {

void start_process_clock();    // first thing in main
double seconds_since_start();  // 0 if the clock was never started
std::uint64_t peak_memory();   // largest resident size so far in bytes; 0 if the system does not say

// After this, SIGINT and SIGTERM only set a flag, once: a second one ends the process. Ignored ones stay ignored.
void catch_interrupts();
bool interrupted();

}  // namespace minnow
