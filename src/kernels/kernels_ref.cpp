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
void attention_scores(const ScoreArgs& a) noexcept {
  const auto* const keys = static_cast<const Element*>(a.keys);
  for (std::size_t j = 0; j < a.queries; ++j) {
    for (std::size_t i = 0; i < a.count; ++i) {
      const std::size_t slot = a.first_slot + i;
      float acc = 0;
      for (std::size_t dim = 0; dim < a.head_size; ++dim) {
        const std::size_t at = (slot / kKeyLanes * a.head_size + dim) * kKeyLanes + slot % kKeyLanes;
        acc = fused(a.q[j * a.q_pitch + dim], to_float(keys[at]), acc);
      }
      a.out[j * a.out_pitch + i] = acc * a.scale;
    }
  }
}

float softmax_tile(float* s, std::uint32_t count, float* m, float* l) noexcept {
  float largest = *m;
  for (std::uint32_t i = 0; i < count; ++i) largest = s[i] > largest ? s[i] : largest;
  largest += 0.0f;  // one sign of zero, whichever operand a vector maximum returns
  float lane[kLanes] = {};
  for (std::uint32_t i = 0; i < round_up(count, kLanes); ++i) {
    s[i] = i < count ? exp_once(s[i] - largest) : 0.0f;
    lane[i % kLanes] += s[i];
  }
  const float c = exp_once(*m - largest);
  *m = largest;
  *l = fused(*l, c, sum_tree(lane));
  return c;
}

template <class Element>
void attention_mix(const MixArgs& a) noexcept {
  const auto* const values = static_cast<const Element*>(a.values);
  const std::size_t pitch = value_pitch(a.head_size);
  for (std::size_t j = 0; j < a.queries; ++j) {
    for (std::size_t dim = 0; dim < pitch; ++dim) {
      float& o = a.o[j * a.o_pitch + dim];
      o *= a.c[j];
      for (std::size_t i = 0; i < a.count; ++i) {
        o = fused(a.p[j * a.p_pitch + i], to_float(values[(a.first_slot + i) * pitch + dim]), o);
      }
    }
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

namespace {

// The first n weights of a row of one group: 11 bits of scale times 8 of weight are exact in a float.
template <class Group>
void gather_group(const Group& group, std::size_t row, std::size_t n, float* x) noexcept {
  const float scale = half_to_float(group.scale[row]);
  for (std::size_t k = 0; k < n; ++k) x[k] = scale * static_cast<float>(quant(group, row, k));
}

}  // namespace

void gather_row(const std::byte* weights, WeightType type, std::uint32_t columns, std::uint32_t row,
                float* x) noexcept {
  const std::size_t groups = group_count(columns);
  const std::size_t lane = row % kBlockRows;
  const std::byte* group = weights + row / kBlockRows * groups * group_bytes(type);
  for (std::uint32_t begin = 0; begin < columns; begin += kGroupColumns, group += group_bytes(type)) {
    const std::uint32_t n = columns - begin < kGroupColumns ? columns - begin : kGroupColumns;
    if (type == WeightType::f32) {
      for (std::size_t k = 0; k < n; ++k) x[begin + k] = load<float>(group, k * kBlockRows + lane);
    } else if (type == WeightType::f16) {
      for (std::size_t k = 0; k < n; ++k) x[begin + k] = half_to_float(load<Half>(group, k * kBlockRows + lane));
    } else if (type == WeightType::q8) {
      gather_group(load<Q8Group>(group, 0), lane, n, x + begin);
    } else {
      gather_group(load<Q4Group>(group, 0), lane, n, x + begin);
    }
  }
}

}  // namespace minnow
