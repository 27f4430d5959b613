// Options of a session: defaults, ranges, and what they cost.
#include "session/options.hpp"

#include "base/check.hpp"
#include "model/tensors.hpp"

namespace minnow {
namespace {

Status resolve_kv(const Config& config, KvType asked, KvType* out) noexcept {
  switch (asked) {
    case KvType::automatic:
      *out = config.weight_type == static_cast<std::uint32_t>(WeightType::f32) ? KvType::f32 : KvType::f16;
      return Status::ok;
    case KvType::f32:
    case KvType::f16:
      *out = asked;
      return Status::ok;
    case KvType::q8:
      return Status::unsupported;
  }
  return Status::bad_argument;
}

Status check_when_full(WhenFull when) noexcept {
  switch (when) {
    case WhenFull::half:
    case WhenFull::slide:
    case WhenFull::stop:
      return Status::ok;
    case WhenFull::ring:
      return Status::unsupported;  // with learned positions, measured, it ruins the text; with relative ones, not done
                                   // yet
  }
  return Status::bad_argument;
}

}  // namespace

Status session_shape(const Config& config, const SessionConfig& options, SessionShape* out) noexcept {
  SessionShape shape;
  shape.context = options.context != 0 ? options.context : config.block_size;
  if (shape.context > config.block_size) return Status::bad_argument;
  shape.batch = options.batch != 0 ? options.batch : kDefaultBatch;
  if (shape.batch > kMaxBatch) return Status::bad_argument;
  if (shape.batch > shape.context) shape.batch = shape.context;
  shape.workers = options.executor.run != nullptr ? options.executor.width : 1;
  if (shape.workers == 0 || shape.workers > kMaxWorkers) return Status::bad_argument;
  MINNOW_TRY(resolve_kv(config, options.kv, &shape.kv));
  MINNOW_TRY(check_when_full(options.when_full));
  if (static_cast<std::uint32_t>(options.isa) > static_cast<std::uint32_t>(Isa::armv7)) return Status::bad_argument;
  if (select_kernels(options.isa) == nullptr) return Status::unsupported;
  *out = shape;
  return Status::ok;
}

Status session_bytes(const Config& c, const SessionShape& shape, std::size_t* bytes) noexcept {
  // Rows of activations are counted in 32 bits.
  const std::uint64_t qkv = (std::uint64_t{c.n_head} + 2 * std::uint64_t{c.n_kv_head}) * c.head_size;
  if (qkv > kMaxDimension * 4ull) return Status::memory_too_small;
  Arena counting;
  SessionState ignored;
  lay_out(counting, c, shape, &ignored);
  if (counting.overflowed()) return Status::memory_too_small;
  *bytes = static_cast<std::size_t>(counting.used());
  return Status::ok;
}

}  // namespace minnow
