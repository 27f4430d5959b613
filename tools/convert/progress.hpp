// How far a command is, on a terminal. Depends on tools/process.hpp and tools/system.hpp.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "tools/process.hpp"
#include "tools/system.hpp"

namespace minnow::convert {

// One line with a bar, once something takes longer than a second; nothing where stderr is no terminal.
class Progress {
 public:
  explicit Progress(const char* command) : command_(command) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const char* what, std::uint64_t done, std::uint64_t total) {
    if (!terminal_ || total == 0) return;
    const double now = seconds_now();
    if (now - start_ < 1.0 || now - last_ < 0.1) return;
    last_ = now;
    const double part = done < total ? static_cast<double>(done) / static_cast<double>(total) : 1;
    const auto full = static_cast<std::size_t>(part * kBar);
    const std::string bar = std::string(full, '#') + std::string(kBar - full, '.');
    std::fprintf(stderr, "\rminnow %s: %-9s [%s] %3.0f %%", command_, what, bar.c_str(), 100 * part);
    shown_ = true;
  }
  void clear() {
    if (shown_) std::fprintf(stderr, "\r%70s\r", "");
    shown_ = false;
  }

 private:
  static constexpr std::size_t kBar = 30;
  const char* command_;
  bool terminal_ = system::stderr_is_terminal();
  bool shown_ = false;
  double start_ = seconds_now();
  double last_ = 0;
};

}  // namespace minnow::convert
