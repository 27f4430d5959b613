// minnow's public vocabulary: status codes, spans, and the enumerations that models and sessions share.
// Depends on nothing but the standard library.
#pragma once

#if defined(_MSC_VER)
#error "minnow needs g++ or clang++, on Windows those of MinGW-w64. Programs of MSVC may use a DLL that these built, by minnow.h"
#endif

#include <cstddef>
#include <cstdint>

#include "minnow/export.h"

MINNOW_EXPORT_BEGIN
namespace minnow {

// A block of session memory starts on this boundary, in bytes.
inline constexpr std::size_t kAlign = 64;

// What every fallible function returns. The values are frozen: they are also the C interface's.
enum class [[nodiscard]] Status : std::int32_t{
    ok = 0,
    bad_argument = 1,      // a null pointer, a value out of range, a token id that the model does not have
    memory_too_small = 2,  // the block is smaller than Session::memory_needed() says
    misaligned = 3,        // session memory not on kAlign, or model bytes not on 16
    context_full = 4,      // WhenFull::stop and no position is left; nothing was fed
    output_too_small = 5,  // the output span is too short; the function says what was written
    cancelled = 6,         // a callback asked to stop
    wrong_state = 7,       // e.g. a Session that was never created
    io_error = 10,         // hosted only: the operating system refused
    not_a_model = 20,      // the bytes are no .minnow file
    unsupported = 21,      // a legal file or option that asks for something this build does not do
    corrupt = 22,          // a .minnow file whose contents contradict each other
    numeric = 30,          // a logit is NaN or infinite
};

// A short English name of the status ("memory too small"); never null.
const char* to_string(Status status) noexcept;

// A pointer and a count, not owning. (C++17 has no std::span.)
template <class T>
class Span {
 public:
  constexpr Span() noexcept = default;
  constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }
  // The first `count` elements; count <= size().
  constexpr Span first(std::size_t count) const noexcept { return Span(data_, count); }
  // Everything from element `from` on; from <= size().
  constexpr Span from(std::size_t from) const noexcept { return Span(data_ + from, size_ - from); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// An index into the vocabulary, 0 .. vocab_size - 1.
using Token = std::int32_t;

// How a weight matrix is stored (models/FORMAT.md gives the bytes).
enum class WeightType : std::uint32_t { f32 = 0, f16 = 1, q8 = 2, q4 = 3 };

// How keys and values are stored. `automatic`: f32 for a model whose weights are f32, else f16.
enum class KvType : std::uint32_t { automatic = 0, f32 = 1, f16 = 2, q8 = 3 };

// Limits and defaults of SessionConfig.
inline constexpr std::uint32_t kDefaultBatch = 32;
inline constexpr std::uint32_t kMaxBatch = 1024;
inline constexpr std::uint32_t kMaxWorkers = 256;  // Executor::width

// Instruction sets with hand-written kernels. All give the same bits. `best`: the fastest that this CPU has.
enum class Isa : std::uint32_t { best = 0, reference = 1, avx2 = 2, vnni = 3, neon = 4, dotprod = 5, armv7 = 6 };
inline constexpr std::size_t kIsaCount = 6;  // without `best`

// What happens when position T = context() is needed.
enum class WhenFull : std::uint32_t {
  half = 0,   // keep the newest floor(T/2) tokens, re-encoded at positions 0.., then go on
  slide = 1,  // keep the newest T-1 tokens, re-encoded: what nanoGPT's generate() computes; slow
  ring = 2,   // overwrite the oldest: not done by this version, and only ever for models with relative positions
  stop = 3,   // feed() returns context_full
};

}  // namespace minnow
MINNOW_EXPORT_END
