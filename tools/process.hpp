// The time of a command.
#pragma once

namespace minnow {

double seconds_now();          // of a clock that never jumps
void start_process_clock();    // first thing in main
double seconds_since_start();  // 0 if the clock was never started

}  // namespace minnow
