// The CPU's floating-point mode, held as the same-bits contract needs it: rounding to nearest, denormals kept, no trap.
// A host may have set another, on any of its threads. Depends on nothing.
#pragma once

#include <cstdint>

#if !defined(__SSE__) && !defined(__aarch64__) && !(defined(__arm__) && defined(__ARM_FP)) && !defined(__riscv_flen)
#include <cfenv>
#endif

namespace minnow {

// From construction to destruction the calling thread computes in the contract's mode. Afterwards it has the host's
// mode again, and the host's exception flags. (Intel SDM volume 1, MXCSR; Arm ARM, FPCR, FPSR and FPSCR; RISC-V F,
// fcsr.)
class FloatMode {
 public:
  FloatMode() noexcept : host_(read()) {
    if ((host_ & kMode) != kWanted) write((host_ & ~kMode) | kWanted);
  }
  ~FloatMode() {
    if (read() != host_) write(host_);
  }
  FloatMode(const FloatMode&) = delete;
  FloatMode& operator=(const FloatMode&) = delete;

 private:
  // "memory" keeps the compiler from moving what was computed, and is in memory, to the other side.
#if defined(__SSE__)
  using Word = std::uint32_t;
  static constexpr Word kMode = 0xffc0;    // flush to zero, rounding, masks, denormals are zero
  static constexpr Word kWanted = 0x1f80;  // all exceptions masked
  static Word read() noexcept {
    Word word = 0;
    __asm__ __volatile__("stmxcsr %0" : "=m"(word) : : "memory");
    return word;
  }
  static void write(Word word) noexcept { __asm__ __volatile__("ldmxcsr %0" : : "m"(word) : "memory"); }
#elif defined(__aarch64__)
  using Word = std::uint64_t;  // FPCR above, FPSR below
  static constexpr Word kMode = std::uint64_t{0xffffffff} << 32;
  static constexpr Word kWanted = 0;
  static Word read() noexcept {
    std::uint64_t control = 0;
    std::uint64_t status = 0;
    __asm__ __volatile__("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control), "=r"(status) : : "memory");
    return control << 32 | (status & 0xffffffff);
  }
  static void write(Word word) noexcept {
    const std::uint64_t control = word >> 32;
    const std::uint64_t status = word & 0xffffffff;
    __asm__ __volatile__("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(control), "r"(status) : "memory");
  }
#elif defined(__arm__) && defined(__ARM_FP)
  using Word = std::uint32_t;
  static constexpr Word kMode = 0x07f79f00;  // alternative halves, default NaN, flush, rounding, vectors, traps
  static constexpr Word kWanted = 0;
  static Word read() noexcept {
    Word word = 0;
    __asm__ __volatile__("vmrs %0, fpscr" : "=r"(word) : : "memory");
    return word;
  }
  static void write(Word word) noexcept { __asm__ __volatile__("vmsr fpscr, %0" : : "r"(word) : "memory"); }
#elif defined(__riscv_flen)
  using Word = std::uint32_t;
  static constexpr Word kMode = 0xe0;  // rounding; there is nothing else
  static constexpr Word kWanted = 0;
  static Word read() noexcept {
    Word word = 0;
    __asm__ __volatile__("frcsr %0" : "=r"(word) : : "memory");
    return word;
  }
  static void write(Word word) noexcept { __asm__ __volatile__("fscsr %0" : : "r"(word) : "memory"); }
#else  // rounding alone
  using Word = int;
  static constexpr Word kMode = -1;
  static constexpr Word kWanted = FE_TONEAREST;
  static Word read() noexcept { return std::fegetround(); }
  static void write(Word word) noexcept { static_cast<void>(std::fesetround(word)); }
#endif

  const Word host_;
};

}  // namespace minnow
