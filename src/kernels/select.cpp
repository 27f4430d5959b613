// Which tables this build has and this CPU can run. The only place that knows both.
#include "base/cpu.hpp"
#include "kernels/kernels.hpp"
#include "kernels/tables.hpp"

namespace minnow {

std::size_t available_kernels(const Kernels** out) noexcept {
  std::size_t n = 0;
  out[n++] = &kReferenceKernels;
#if MINNOW_SIMD >= 1 && defined(__x86_64__)
  const CpuFeatures cpu = cpu_features();
  if (!cpu.avx2_fma_f16c) return n;
  out[n++] = &kAvx2Kernels;
#if MINNOW_SIMD >= 2
  if (cpu.avx_vnni && kVnniVexKernels.isa == Isa::vnni) out[n++] = &kVnniVexKernels;
  if (cpu.avx512_vnni_vl) out[n++] = &kVnniEvexKernels;
#endif
#elif MINNOW_SIMD >= 1 && defined(__aarch64__)
  out[n++] = &kNeonKernels;
#if MINNOW_SIMD >= 2
  if (cpu_features().dotprod) out[n++] = &kDotprodKernels;
#endif
#elif MINNOW_SIMD >= 1 && defined(__arm__)
  if (cpu_features().neon_vfpv4 && kArmv7Kernels.isa == Isa::armv7) out[n++] = &kArmv7Kernels;
#endif
  return n;
}

const Kernels* select_kernels(Isa isa) noexcept {
  const Kernels* tables[kMaxKernels];
  const std::size_t n = available_kernels(tables);
  for (std::size_t i = n; i-- > 0;) {
    if (isa == Isa::best || tables[i]->isa == isa) return tables[i];
  }
  return nullptr;
}

std::size_t available_isas(Span<Isa> out) noexcept {
  const Kernels* tables[kMaxKernels];
  const std::size_t n = available_kernels(tables);
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (count != 0 && out[count - 1] == tables[i]->isa) continue;
    if (count == out.size()) break;
    out[count++] = tables[i]->isa;
  }
  return count;
}

}  // namespace minnow
