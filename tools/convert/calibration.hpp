// The text that a model is calibrated on: a file of text or ids, or what the model writes itself. Depends on
// tools/quantise, file and refusal.
#pragma once

#include "tools/convert/refusal.hpp"
#include "tools/quantise/sample_text.hpp"

namespace minnow::convert {

struct CalibrationOptions {
  std::string file;          // empty: the model's own text
  std::uint64_t tokens = 0;  // how many the moments are taken of; 0: kSampledTokens, or kFileTokens
};

inline constexpr std::uint64_t kSampledTokens = 8192;
inline constexpr std::uint64_t kFileTokens = 24576;

struct Calibration {
  quantise::Windows windows;
  quantise::Windows held_out;           // the loss is of these; none where there is one window only
  std::string source;                   // for people: "self", "train.bin (ids)"
  std::vector<std::string> provenance;  // "key=value"
};

// Tokens of a window, for a model of this config.
std::size_t calibration_window(const Config& config);

// Windows out of a file, spread evenly over it: ids of 16 bits where the name ends in .bin or .u16 or the content has
// zero bytes, else text, which the model's tokenizer encodes. Of a longer text the first kMostText bytes are used.
// `tokens` is as many as the residual stream has room for. `progress`: of the file's hash. Throws Refusal, with the
// path, and Interrupted.
inline constexpr std::uint64_t kMostText = std::uint64_t{4} << 20;
Calibration read_calibration(const CalibrationOptions& options, const Model& model, const quantise::Progress& progress);

// Windows that the model writes.
Calibration sample_calibration(const CalibrationOptions& options, const Model& model, const quantise::Workers& workers,
                               const quantise::Progress& progress);

}  // namespace minnow::convert
