// For the tests of the readers of checkpoints: a file's content as a text that tests can compare, and files that are
// cut and damaged everywhere.
#pragma once

#include <string>

#include "tests/convert/support.hpp"
#include "tools/convert/checkpoint.hpp"

namespace minnow::convert::test {

// "name f32 [2, 3] = 1 2 .. 6; ", and so on, then the settings; the first and last rows of each tensor are read.
std::string show(const Checkpoint& checkpoint);

// The same of what read_checkpoint makes of a file, or the refusal's text.
std::string show_file(const std::string& path);
std::string show_bytes(const std::string& bytes);

// Whether a text is a refusal's: found; expected; what to do.
inline bool is_refusal(const std::string& text) { return contains(text, "; expected "); }

// Checks that `bytes` is refused when it is cut anywhere, and that after a change of any one byte below
// `metadata_bytes` it is refused or read without harm.
void check_cut_and_damaged(const std::string& bytes, std::size_t metadata_bytes);

// A safetensors file: header and data, and the header's length before them.
std::string safetensors_bytes(const std::string& header, const std::string& data);

}  // namespace minnow::convert::test
