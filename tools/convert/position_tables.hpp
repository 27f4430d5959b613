// Tables of positions that programs compute instead of saving them: the same bits on every machine. Depends on
// kernels/exact_math.hpp.
#pragma once

#include <cstdint>
#include <vector>

namespace minnow::convert {

// [dims / 2]: 1 / base^(2 i / dims) (Su et al., arXiv:2104.09864), negative where the rotation goes backwards.
std::vector<float> rotary_frequencies(std::uint32_t dims, double base, bool backwards);

// [block_size][n_embd]: of position p in dim 2 i, sin(p / 10000^(2 i / n_embd)), in dim 2 i + 1 the cosine (Vaswani
// et al., arXiv:1706.03762).
std::vector<float> sinusoidal_table(std::uint32_t block_size, std::uint32_t n_embd);

}  // namespace minnow::convert
