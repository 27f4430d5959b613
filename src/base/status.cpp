// Names of the public enumerations, and the version. Depends on the public headers only.
#include "minnow/minnow.hpp"

namespace minnow {

const char* to_string(Status status) noexcept {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::bad_argument:
      return "bad argument";
    case Status::memory_too_small:
      return "memory too small";
    case Status::misaligned:
      return "misaligned";
    case Status::context_full:
      return "context full";
    case Status::output_too_small:
      return "output too small";
    case Status::cancelled:
      return "cancelled";
    case Status::wrong_state:
      return "wrong state";
    case Status::io_error:
      return "input/output error";
    case Status::not_a_model:
      return "not a model";
    case Status::unsupported:
      return "unsupported";
    case Status::corrupt:
      return "corrupt";
    case Status::numeric:
      return "not a finite number";
  }
  return "unknown status";
}

const char* to_string(Isa isa) noexcept {
  switch (isa) {
    case Isa::best:
      return "best";
    case Isa::reference:
      return "reference";
    case Isa::avx2:
      return "avx2";
    case Isa::vnni:
      return "vnni";
    case Isa::neon:
      return "neon";
    case Isa::dotprod:
      return "dotprod";
    case Isa::armv7:
      return "armv7";
  }
  return "unknown";
}

const char* to_string(WeightType type) noexcept {
  switch (type) {
    case WeightType::f32:
      return "f32";
    case WeightType::f16:
      return "f16";
    case WeightType::q8:
      return "q8";
    case WeightType::q4:
      return "q4";
  }
  return "unknown";
}

const char* to_string(KvType kv) noexcept {
  switch (kv) {
    case KvType::automatic:
      return "automatic";
    case KvType::f32:
      return "f32";
    case KvType::f16:
      return "f16";
    case KvType::q8:
      return "q8";
  }
  return "unknown";
}

const char* to_string(WhenFull when) noexcept {
  switch (when) {
    case WhenFull::half:
      return "half";
    case WhenFull::slide:
      return "slide";
    case WhenFull::ring:
      return "ring";
    case WhenFull::stop:
      return "stop";
  }
  return "unknown";
}

const char* version() noexcept { return "1.0.0"; }

}  // namespace minnow
