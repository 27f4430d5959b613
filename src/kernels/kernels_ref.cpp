// The scalar reference: plain loops that define every result. Slow on purpose; the other instruction sets must agree
// with it to the bit. Depends on base.
#include "kernels/exact_math.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rows_ref.hpp"
#include "kernels/tables.hpp"

namespace minnow {
namespace {

template <class Element>
float to_float(Element value) noexcept {
  if constexpr (sizeof(Element) == sizeof(Half)) {
    return half_to_float(value);
  } else {
    return value;
  }
}

// Weights come as bytes of any alignment.
template <class T>
T load(const void* base, std::size_t index) noexcept {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(base) + index * sizeof(T), sizeof value);
  return value;
}

float with_bias(float acc, const float* bias_or_null, std::size_t row) noexcept {
  return bias_or_null != nullptr ? acc + bias_or_null[row] : acc;
}

// Element: float or Half.
template <class Element>
void matmul_float(const MatmulArgs& args) noexcept {
  const std::size_t columns = std::size_t{args.groups} * kGroupColumns;
  for (std::size_t block = args.block_begin; block < args.block_end; ++block) {
    for (std::size_t t = 0; t < args.tokens; ++t) {
      for (std::size_t r = 0; r < kBlockRows; ++r) {
        float acc = 0;
        for (std::size_t k = 0; k < columns; ++k) {
          const Element w = load<Element>(args.weights, (block * columns + k) * kBlockRows + r);
          acc = fused(to_float(w), args.x[t * columns + k], acc);
        }
        const std::size_t row = block * kBlockRows + r;
        args.out[t * args.out_pitch + row] = with_bias(acc, args.bias_or_null, row);
      }
    }
  }
}

// Weight (row, column) of a group, without its scale.
int quant(const Q8Group& group, std::size_t row, std::size_t k) noexcept { return group.w[k / 4][row][k % 4]; }
int quant(const Q4Group& group, std::size_t row, std::size_t k) noexcept {
  constexpr std::size_t kHalf = kGroupColumns / 2;
  const int pair = group.w[k % kHalf / 4][row][k % 4];
  return (k < kHalf ? pair & 15 : pair >> 4) - 8;
}

template <class Group>
float weight(const Group& group, std::size_t row, std::size_t k) noexcept {
  return half_to_float(group.scale[row]) * static_cast<float>(quant(group, row, k));
}

// Group: Q8Group or Q4Group.
template <class Group>
void matmul_quantised(const MatmulArgs& args) noexcept {
  for (std::size_t block = args.block_begin; block < args.block_end; ++block) {
    for (std::size_t t = 0; t < args.tokens; ++t) {
      float acc[kBlockRows] = {};
      for (std::size_t g = 0; g < args.groups; ++g) {
        const Group group = load<Group>(args.weights, block * args.groups + g);
        const std::int8_t* q = args.q + (t * args.groups + g) * kGroupColumns;
        const float scale = args.scale[t * args.groups + g];
        for (std::size_t r = 0; r < kBlockRows; ++r) {
          std::int32_t dot = 0;
          for (std::size_t k = 0; k < kGroupColumns; ++k) dot += quant(group, r, k) * q[k];
          acc[r] = fused(static_cast<float>(dot), half_to_float(group.scale[r]) * scale, acc[r]);
        }
      }
      for (std::size_t r = 0; r < kBlockRows; ++r) {
        const std::size_t row = block * kBlockRows + r;
        args.out[t * args.out_pitch + row] = with_bias(acc[r], args.bias_or_null, row);
      }
    }
  }
}

void quantise(const float* x, std::uint32_t groups, std::int8_t* q, float* scale, std::int32_t* sum) noexcept {
  for (std::uint32_t g = 0; g < groups; ++g, x += kGroupColumns, q += kGroupColumns) {
    std::uint32_t largest = 0;  // magnitudes compare as integers, and a NaN is above all of them, so it is not lost
    for (std::uint32_t k = 0; k < kGroupColumns; ++k) {
      const std::uint32_t magnitude = bit_cast<std::uint32_t>(x[k]) & 0x7fffffffu;
      if (magnitude > largest) largest = magnitude;
    }
    const float amax = bit_cast<float>(largest);
    const bool zero = amax < kQuantiseMin;
    scale[g] = zero ? 0.0f : amax / 127.0f;
    const float inverse = zero ? 0.0f : 127.0f / amax;
    std::int32_t total = 0;
    for (std::uint32_t k = 0; k < kGroupColumns; ++k) {
      // The low byte of x + 1.5 * 2^23 is the rounded integer; taken from the bits, so that a NaN is defined too.
      const float shifted = x[k] * inverse + kRoundMagic;
      q[k] = static_cast<std::int8_t>(bit_cast<std::uint32_t>(shifted) & 0xffu);
      total += q[k];
    }
    sum[g] = total;
  }
}

template <class Element>
void attention_scores(const float* q, std::uint32_t head_size, const void* keys, std::uint32_t first_slot,
                      std::uint32_t count, float scale, float* out) noexcept {
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t slot = std::size_t{first_slot} + i;
    float acc = 0;
    for (std::size_t dim = 0; dim < head_size; ++dim) {
      const std::size_t at = (slot / kKeyLanes * head_size + dim) * kKeyLanes + slot % kKeyLanes;
      acc = fused(q[dim], to_float(static_cast<const Element*>(keys)[at]), acc);
    }
    out[i] = acc * scale;
  }
}

float softmax_tile(float* s, std::uint32_t count, float* m, float* l) noexcept {
  float largest = *m;
  for (std::uint32_t i = 0; i < count; ++i) largest = s[i] > largest ? s[i] : largest;
  largest += 0.0f;  // one sign of zero, whichever operand a vector maximum returns
  float lane[kLanes] = {};
  for (std::uint32_t i = 0; i < round_up(count, kLanes); ++i) {
    s[i] = i < count ? exp_f32(s[i] - largest) : 0.0f;
    lane[i % kLanes] += s[i];
  }
  const float c = exp_f32(*m - largest);
  *m = largest;
  *l = fused(*l, c, sum_tree(lane));
  return c;
}

template <class Element>
void attention_mix(const float* p, const void* values, std::uint32_t head_size, std::uint32_t first_slot,
                   std::uint32_t count, float c, float* o) noexcept {
  const std::size_t pitch = value_pitch(head_size);
  for (std::size_t dim = 0; dim < pitch; ++dim) {
    float acc = o[dim] * c;
    for (std::size_t i = 0; i < count; ++i) {
      acc = fused(p[i], to_float(static_cast<const Element*>(values)[(first_slot + i) * pitch + dim]), acc);
    }
    o[dim] = acc;
  }
}

}  // namespace

const Kernels kReferenceKernels = {
    Isa::reference,
    "reference",
    {matmul_float<float>, matmul_float<Half>, matmul_quantised<Q8Group>, matmul_quantised<Q4Group>},
    quantise,
    layer_norm,
    add,
    gelu_erf,
    gelu_tanh,
    to_half,
    {attention_scores<float>, attention_scores<Half>},
    softmax_tile,
    {attention_mix<float>, attention_mix<Half>},
    rms_norm,
    relu,
    relu_squared,
    silu_gate,
    softcap,
    {rotate_adjacent, rotate_halves},
};

void gather_row(const std::byte* weights, WeightType type, std::uint32_t columns, std::uint32_t row,
                float* x) noexcept {
  const std::size_t groups = group_count(columns);
  const std::size_t block = row / kBlockRows;
  const std::size_t lane = row % kBlockRows;
  for (std::size_t k = 0; k < columns; ++k) {
    const std::size_t plain = (block * groups * kGroupColumns + k) * kBlockRows + lane;
    if (type == WeightType::f32) {
      x[k] = load<float>(weights, plain);
    } else if (type == WeightType::f16) {
      x[k] = half_to_float(load<Half>(weights, plain));
    } else {  // 11 bits of scale times 8 bits of weight are exact in a float
      const std::size_t group = block * groups + k / kGroupColumns;
      x[k] = type == WeightType::q8 ? weight(load<Q8Group>(weights, group), lane, k % kGroupColumns)
                                    : weight(load<Q4Group>(weights, group), lane, k % kGroupColumns);
    }
  }
}

}  // namespace minnow
