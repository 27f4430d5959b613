// CPU detection: cpuid and xgetbv on x86-64 (Intel SDM volume 2, CPUID), the kernel's HWCAP on Arm Linux, its sysctl on
// Apple's systems.
#include "base/cpu.hpp"

#if defined(__x86_64__)

#include <cpuid.h>

#include <cstdint>

namespace minnow {
namespace {

// Which register states the operating system saves.
std::uint64_t xcr0() noexcept {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

bool bit(std::uint32_t word, int n) noexcept { return (word >> n & 1u) != 0; }

}  // namespace

CpuFeatures cpu_features() noexcept {
  CpuFeatures cpu;
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !bit(c, 27)) return cpu;  // no OSXSAVE
  const bool fma = bit(c, 12);
  const bool f16c = bit(c, 29);
  const std::uint64_t saved = xcr0();
  if ((saved & 0x6) != 0x6) return cpu;  // xmm and ymm
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return cpu;
  cpu.avx2_fma_f16c = bit(b, 5) && fma && f16c;
  const bool zmm = (saved & 0xe6) == 0xe6;  // opmask and both halves of zmm, too
  cpu.avx512_vnni_vl = cpu.avx2_fma_f16c && zmm && bit(b, 16) && bit(b, 31) && bit(c, 11);
  std::uint32_t a1 = 0, b1 = 0, c1 = 0, d1 = 0;
  if (a >= 1 && __get_cpuid_count(7, 1, &a1, &b1, &c1, &d1) != 0) cpu.avx_vnni = cpu.avx2_fma_f16c && bit(a1, 4);
  return cpu;
}

}  // namespace minnow

#elif defined(__aarch64__) && defined(__linux__)

#include <asm/hwcap.h>
#include <sys/auxv.h>

namespace minnow {
// HWCAP, since the registers of the core that asks need not be those of the core that runs (big.LITTLE).
CpuFeatures cpu_features() noexcept {
  CpuFeatures cpu;
  cpu.dotprod = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
  return cpu;
}
}  // namespace minnow

#elif defined(__aarch64__) && defined(__APPLE__)

#include <sys/sysctl.h>

#include <cstddef>

namespace minnow {
// The name is not there on systems before macOS 11, which no such CPU runs.
CpuFeatures cpu_features() noexcept {
  CpuFeatures cpu;
  int found = 0;
  std::size_t bytes = sizeof found;
  cpu.dotprod = sysctlbyname("hw.optional.arm.FEAT_DotProd", &found, &bytes, nullptr, 0) == 0 && found != 0;
  return cpu;
}
}  // namespace minnow

#elif defined(__arm__) && defined(__linux__)

#include <asm/hwcap.h>
#include <sys/auxv.h>

namespace minnow {
// Cortex-A7, A15 and later, A8 and A9 not: they have NEON, but no fused multiply-add. A 64-bit CPU that runs 32-bit
// programs has both.
CpuFeatures cpu_features() noexcept {
  CpuFeatures cpu;
  constexpr unsigned long kNeeded = HWCAP_NEON | HWCAP_VFPv4;
  cpu.neon_vfpv4 = (getauxval(AT_HWCAP) & kNeeded) == kNeeded;
  return cpu;
}
}  // namespace minnow

#else

namespace minnow {
CpuFeatures cpu_features() noexcept { return {}; }
}  // namespace minnow

#endif
