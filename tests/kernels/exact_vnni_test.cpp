// The VEX encoding of VNNI against the reference, to the bit, on an AVX2 CPU without it: its one instruction is
// emulated (vnni_trap.hpp), everything around it runs as compiled. Where the CPU has the instruction, exact_test.cpp
// runs it.
#include "tests/kernels/vnni_trap.hpp"

#include "kernels/kernels.hpp"

#if MINNOW_VNNI_TRAP && MINNOW_SIMD >= 2

#include <doctest/doctest.h>

#include <string>

#include "base/cpu.hpp"
#include "kernels/tables.hpp"
#include "tests/kernels/exact_matmul.hpp"

namespace minnow::test {
namespace {

// Token counts that need every size of tile; each instruction costs a signal.
constexpr std::uint32_t kTokenCounts[] = {1, 2, 3, 4, 5, 6, 7, 13};

void check_emulated(WeightType type) {
  const CpuFeatures cpu = cpu_features();
  if (!cpu.avx2_fma_f16c || cpu.avx_vnni || kVnniVexKernels.isa != Isa::vnni) return;
  const VnniTrap trap;
  for (const MatmulCase& shape : kMatmulCases) {
    for (const std::uint32_t tokens : kTokenCounts) {
      for (const std::uint32_t slack : kSlacks) {
        CAPTURE(shape.groups);
        CAPTURE(shape.block_begin);
        CAPTURE(shape.block_end);
        CAPTURE(tokens);
        CAPTURE(slack);
        check_matmul(type, kVnniVexKernels, shape, tokens, slack, Values::plain);
      }
    }
  }
  const std::string name = kVnniVexKernels.name;
  MESSAGE("instruction sets tested: [" << name << ", emulated instruction]: vpdpbusd ran " << trap.executed()
                                       << " times");
  CHECK(trap.executed() != 0);
}

}  // namespace

TEST_CASE("exact: matmul q8, VNNI emulated") { check_emulated(WeightType::q8); }
TEST_CASE("exact: matmul q4, VNNI emulated") { check_emulated(WeightType::q4); }

}  // namespace minnow::test

#endif
