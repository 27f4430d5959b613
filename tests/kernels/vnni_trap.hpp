// The VEX-encoded vpdpbusd for a CPU without it: the instruction traps, and a handler of SIGILL does its work on the
// saved registers. So the machine code of kernels_vnni_vex.cpp runs as it is compiled, with that one instruction
// emulated. x86-64 Linux. Encoding: Intel SDM volume 2, VPDPBUSD and chapter 2.3; saved registers: the XSAVE area of
// the signal frame.
#pragma once

#if defined(__x86_64__) && defined(__linux__)
#define MINNOW_VNNI_TRAP 1

#include <signal.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace minnow::test {

// While one exists, vpdpbusd works on ymm registers. One at a time.
class VnniTrap {
 public:
  VnniTrap() {
    struct sigaction action = {};
    action.sa_sigaction = on_illegal;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGILL, &action, &before_);
    executed() = 0;
  }
  ~VnniTrap() { sigaction(SIGILL, &before_, nullptr); }
  VnniTrap(const VnniTrap&) = delete;
  VnniTrap& operator=(const VnniTrap&) = delete;

  static std::uint64_t& executed() {  // instructions emulated
    static std::uint64_t n = 0;
    return n;
  }

 private:
  struct Ymm {
    std::uint8_t bytes[32];
  };

  // The two halves of a ymm register in the signal frame, in the XSAVE area's standard form.
  struct Saved {
    static constexpr std::size_t kLowerHalves = 160, kMagic = 464, kHeader = 512, kUpperHalves = 576;
    static constexpr std::uint64_t kSse = 2, kAvx = 4;

    bool has_ymm() const {
      std::uint32_t magic = 0;
      std::memcpy(&magic, area + kMagic, sizeof magic);
      return magic == 0x46505853u;  // FP_XSTATE_MAGIC1: more than the 512 bytes of fxsave
    }
    unsigned char* low(unsigned reg) const { return area + kLowerHalves + reg * 16; }
    unsigned char* high(unsigned reg) const { return area + kUpperHalves + reg * 16; }
    std::uint64_t present() const {
      std::uint64_t bits = 0;
      std::memcpy(&bits, area + kHeader, sizeof bits);
      return bits;
    }
    Ymm get(unsigned reg) const {
      Ymm y = {};
      if ((present() & kSse) != 0) std::memcpy(y.bytes, low(reg), 16);
      if ((present() & kAvx) != 0) std::memcpy(y.bytes + 16, high(reg), 16);
      return y;
    }
    bool set(unsigned reg, const Ymm& y) const {
      if ((present() & (kSse | kAvx)) != (kSse | kAvx)) return false;  // no kernel gets here with all registers zero
      std::memcpy(low(reg), y.bytes, 16);
      std::memcpy(high(reg), y.bytes + 16, 16);
      return true;
    }

    unsigned char* area;
  };

  // Four products of an unsigned and a signed byte to each 32-bit lane, wrapping.
  static Ymm dot(const Ymm& acc, const Ymm& u, const Ymm& s) {
    Ymm out;
    for (int lane = 0; lane < 32; lane += 4) {
      std::uint32_t sum;
      std::memcpy(&sum, acc.bytes + lane, 4);
      for (int i = lane; i < lane + 4; ++i) {
        const int product = int{u.bytes[i]} * int{static_cast<std::int8_t>(s.bytes[i])};
        sum += static_cast<std::uint32_t>(product);
      }
      std::memcpy(out.bytes + lane, &sum, 4);
    }
    return out;
  }

  static std::uint64_t general(const ucontext_t& context, unsigned reg) {
    static constexpr int kNames[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                       REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return static_cast<std::uint64_t>(context.uc_mcontext.gregs[kNames[reg]]);
  }

  // A memory operand behind its ModRM byte: its address; *length grows by the bytes of SIB and displacement.
  static std::uint64_t address(const ucontext_t& context, const unsigned char* modrm, unsigned x, unsigned b,
                               std::size_t* length) {
    const unsigned mod = *modrm >> 6, rm = *modrm & 7;
    const unsigned char* at = modrm + 1;
    std::uint64_t sum = 0;
    bool wide = mod == 2;
    if (rm == 4) {
      const unsigned scale = *at >> 6, index = (*at >> 3 & 7) | x, base = *at & 7;
      ++at;
      if (index != 4) sum += general(context, index) << scale;
      if (base == 5 && mod == 0) {
        wide = true;
      } else {
        sum += general(context, base | b);
      }
    } else if (rm == 5 && mod == 0) {  // relative to the next instruction, whose address the displacement completes
      sum += reinterpret_cast<std::uintptr_t>(at) + 4;
      wide = true;
    } else {
      sum += general(context, rm | b);
    }
    if (wide) {
      std::int32_t offset;
      std::memcpy(&offset, at, 4);
      sum += static_cast<std::uint64_t>(std::int64_t{offset});
      at += 4;
    } else if (mod == 1) {
      sum += static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(*at++)});
    }
    *length += static_cast<std::size_t>(at - modrm - 1);
    return sum;
  }

  // VEX.256.66.0F38.W0 50 /r: c4, then R X B inverted with map 2, then W, vvvv inverted, L, pp = 1.
  static bool emulate(ucontext_t* context) {
    const auto ip = static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
    const auto* const code = reinterpret_cast<const unsigned char*>(ip);
    if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || (code[2] & 0x87) != 0x05 || code[3] != 0x50) return false;
    const Saved saved = {reinterpret_cast<unsigned char*>(context->uc_mcontext.fpregs)};
    if (!saved.has_ymm()) return false;
    const unsigned char modrm = code[4];
    const unsigned r = (code[1] & 0x80) != 0 ? 0 : 8, x = (code[1] & 0x40) != 0 ? 0 : 8,
                   b = (code[1] & 0x20) != 0 ? 0 : 8;
    const unsigned target = (modrm >> 3 & 7) | r, first = ~(code[2] >> 3) & 15;
    std::size_t length = 5;
    Ymm second;
    if (modrm >> 6 == 3) {
      second = saved.get((modrm & 7) | b);
    } else {
      const std::uint64_t at = address(*context, code + 4, x, b, &length);
      std::memcpy(&second, reinterpret_cast<const void*>(at), sizeof second);
    }
    if (!saved.set(target, dot(saved.get(target), saved.get(first), second))) return false;
    context->uc_mcontext.gregs[REG_RIP] += static_cast<greg_t>(length);
    ++executed();
    return true;
  }

  static void on_illegal(int, siginfo_t*, void* context) {
    if (!emulate(static_cast<ucontext_t*>(context))) signal(SIGILL, SIG_DFL);  // and it traps again
  }

  struct sigaction before_;
};

}  // namespace minnow::test

#endif
