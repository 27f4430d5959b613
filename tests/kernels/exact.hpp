// What the tests of equal bits share: the tables that run here, and buffers to compare.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "kernels/kernels.hpp"
#include "tests/kernels/guarded.hpp"

namespace minnow::test {

inline std::vector<const Kernels*> tables() {
  const Kernels* all[kMaxKernels];
  const std::size_t n = available_kernels(all);
  return std::vector<const Kernels*>(all, all + n);
}

// Calls body(table) for each table that runs here but the reference.
template <class Body>
void for_each_set(const Body& body) {
  for (const Kernels* table : tables()) {
    if (table->isa == Isa::reference) continue;
    CAPTURE(table->name);
    body(*table);
  }
}

template <class T>
void copy(const Guarded<T>& from, const Guarded<T>& to) {
  std::memcpy(to.data(), from.data(), from.bytes());
}

}  // namespace minnow::test
