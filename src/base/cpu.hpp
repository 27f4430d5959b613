// What this CPU and its operating system can run. Asked once at Session::create; nothing is cached.
#pragma once

namespace minnow {

struct CpuFeatures {
  bool avx2_fma_f16c = false;   // x86-64: all three, with the OS saving the registers
  bool avx_vnni = false;        // x86-64: VNNI in its VEX encoding
  bool avx512_vnni_vl = false;  // x86-64: AVX-512 F, VL and VNNI, with the OS saving the registers
  bool dotprod = false;         // aarch64: sdot
  bool neon_vfpv4 = false;      // 32-bit Arm: NEON with fused multiply-add and half floats
};

CpuFeatures cpu_features() noexcept;

}  // namespace minnow
