// Doubles side by side, by the compilers' vectors: what an instruction set does not have becomes several instructions
// with the same results. Depends on nothing.
#pragma once

#include <cstddef>
#include <cstring>

namespace minnow::quantise {

using Pair = double __attribute__((vector_size(16)));

inline Pair load_pair(const double* from) {
  Pair out;
  std::memcpy(&out, from, sizeof out);
  return out;
}
inline void store_pair(Pair value, double* to) { std::memcpy(to, &value, sizeof value); }
inline Pair both(double value) { return Pair{value, value}; }

}  // namespace minnow::quantise
