// The arguments of `minnow convert`. Depends on types.hpp.
#pragma once

#include <cstdint>
#include <string>

#include "minnow/types.hpp"

namespace minnow::convert {

inline constexpr std::uint32_t kNotGiven = 0xffffffffu;  // of a choice

struct Arguments {
  std::string checkpoint;
  std::string model;
  std::string meta;   // empty: not given
  std::string vocab;  // empty: not given
  std::uint32_t type = static_cast<std::uint32_t>(WeightType::q8);
  // What the checkpoint may not say.
  std::uint64_t n_head = 0;      // 0: not given
  std::uint64_t block_size = 0;  // 0: not given
  std::uint32_t gelu = kNotGiven;
  std::uint32_t attention_scale = kNotGiven;
  std::uint32_t positions = kNotGiven;
  std::string calibrate = "self";  // or none, auto, a file
  std::uint32_t output_type = static_cast<std::uint32_t>(WeightType::q8);
  std::uint64_t calibrate_tokens = 0;  // 0: the default
  std::uint64_t threads = 0;           // 0: one a core
  bool no_text = false;
  bool allow_nonfinite = false;
  bool ignore_crc = false;
  bool verbose = false;
};

// False if they ask for help or are misused, which has been told then; *status is the program's.
bool parse_arguments(int argc, char** argv, const char* command, Arguments* out, int* status);

}  // namespace minnow::convert
