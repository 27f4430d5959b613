// Validates what a model says it is: first that it is legal, then that this runtime does it.
#include <cstddef>

#include "base/bits.hpp"
#include "base/check.hpp"
#include "model/open.hpp"
#include "model/tensors.hpp"

#define CONFIG_FIELD(name) (offsetof(FileHeader, config) + offsetof(Config, name))

namespace minnow {
namespace {

struct Check {
  bool ok;
  const char* what;
  std::uint64_t offset;
  std::uint64_t found;
};

template <std::size_t N>
Status first_failing(const Check (&checks)[N], Status status, Fault* fault) noexcept {
  for (const Check& check : checks) {
    if (!check.ok) return fail(status, fault, check.what, check.offset, check.found);
  }
  return Status::ok;
}

template <class Enum>
std::uint32_t number(Enum value) noexcept {
  return static_cast<std::uint32_t>(value);
}

bool dimension(std::uint32_t n) noexcept { return n != 0 && n <= kMaxDimension; }

Status check_legal(const Config& c, Fault* fault) noexcept {
  const bool rotary = c.positions == Positions::rotary;
  const Check checks[] = {
      {dimension(c.n_layer), "n_layer is 0 or too large", CONFIG_FIELD(n_layer), c.n_layer},
      {dimension(c.n_head), "n_head is 0 or too large", CONFIG_FIELD(n_head), c.n_head},
      {dimension(c.n_kv_head), "n_kv_head is 0 or too large", CONFIG_FIELD(n_kv_head), c.n_kv_head},
      {dimension(c.n_embd), "n_embd is 0 or too large", CONFIG_FIELD(n_embd), c.n_embd},
      {dimension(c.head_size), "head_size is 0 or too large", CONFIG_FIELD(head_size), c.head_size},
      {dimension(c.n_hidden), "n_hidden is 0 or too large", CONFIG_FIELD(n_hidden), c.n_hidden},
      {dimension(c.block_size), "block_size is 0 or too large", CONFIG_FIELD(block_size), c.block_size},
      {dimension(c.vocab_size), "vocab_size is 0 or too large", CONFIG_FIELD(vocab_size), c.vocab_size},
      {c.n_tokens != 0 && c.n_tokens <= c.vocab_size, "n_tokens is 0 or larger than vocab_size", CONFIG_FIELD(n_tokens),
       c.n_tokens},
      {c.n_kv_head != 0 && c.n_head % c.n_kv_head == 0, "n_head is not a multiple of n_kv_head",
       CONFIG_FIELD(n_kv_head), c.n_kv_head},
      {number(c.norm) <= 1, "the kind of norm is unknown", CONFIG_FIELD(norm), number(c.norm)},
      {is_finite(c.norm_eps) && c.norm_eps >= 0, "norm_eps is negative or not a number", CONFIG_FIELD(norm_eps), 0},
      {number(c.positions) <= 3, "the kind of positions is unknown", CONFIG_FIELD(positions), number(c.positions)},
      {number(c.rotary_pairing) <= 1, "the rotary pairing is unknown", CONFIG_FIELD(rotary_pairing),
       number(c.rotary_pairing)},
      {rotary ? c.rotary_dims != 0 && c.rotary_dims <= c.head_size && c.rotary_dims % 2 == 0 : c.rotary_dims == 0,
       "rotary_dims does not fit the positions", CONFIG_FIELD(rotary_dims), c.rotary_dims},
      {is_finite(c.rotary_base) && c.rotary_base >= 0, "rotary_base is negative or not a number",
       CONFIG_FIELD(rotary_base), 0},
      {number(c.activation) <= 4, "the activation is unknown", CONFIG_FIELD(activation), number(c.activation)},
      {is_finite(c.attention_scale) && c.attention_scale >= 0, "attention_scale is negative or not a number",
       CONFIG_FIELD(attention_scale), 0},
      {is_finite(c.logit_softcap) && c.logit_softcap >= 0, "logit_softcap is negative or not a number",
       CONFIG_FIELD(logit_softcap), 0},
      {number(c.qk_norm) <= 2, "the kind of QK norm is unknown", CONFIG_FIELD(qk_norm), number(c.qk_norm)},
      {number(c.embed_norm) <= 1, "the kind of embedding norm is unknown", CONFIG_FIELD(embed_norm),
       number(c.embed_norm)},
      {number(c.output) <= 1, "the kind of output is unknown", CONFIG_FIELD(output), number(c.output)},
      {c.weight_type <= 3, "the weight type is unknown", CONFIG_FIELD(weight_type), c.weight_type},
  };
  return first_failing(checks, Status::corrupt, fault);
}

// Delete a line here when the runtime learns to do it.
Status check_supported(const Config& c, Fault* fault) noexcept {
  const Check checks[] = {
      {c.attention_window == 0, "an attention window is not supported yet", CONFIG_FIELD(attention_window),
       c.attention_window},
  };
  return first_failing(checks, Status::unsupported, fault);
}

}  // namespace

Status check_config(const Config& config, Fault* fault) noexcept {
  MINNOW_TRY(check_legal(config, fault));
  return check_supported(config, fault);
}

}  // namespace minnow
