// Matrix products of a table against the reference, to the bit, over the cases of cases.hpp, with an unreadable page
// directly behind each buffer.
#pragma once

#include <doctest/doctest.h>

#include <cstring>

#include "kernels/tables.hpp"
#include "tests/kernels/cases.hpp"
#include "tests/kernels/guarded.hpp"

namespace minnow::test {

struct MatmulBuffers {
  MatmulBuffers(WeightType type, const MatmulCase& shape, std::uint32_t tokens, std::uint32_t slack, Values values)
      : weights(std::size_t{shape.block_end} * shape.groups * group_bytes(type), 2 * slack),
        bias(std::size_t{shape.block_end} * kBlockRows, slack),
        x(std::size_t{tokens} * shape.groups * kGroupColumns, slack),
        q(x.size(), slack),
        scale(std::size_t{tokens} * shape.groups, slack),
        sum(scale.size(), slack) {
    Random random(shape.groups * 1000 + shape.block_end * 100 + tokens);
    fill(bias.data(), bias.size(), Values::plain, random);
    fill(x.data(), x.size(), values, random);
    for (std::size_t i = 0; i < q.size(); ++i)
      q[i] = static_cast<std::int8_t>(static_cast<int>(random.below(255)) - 127);
    for (std::size_t g = 0; g < scale.size(); ++g) {
      const std::uint32_t kind = random.below(5);
      scale[g] = kind == 0 ? 0.0f : std::ldexp(random.uniform(1, 2), static_cast<int>(random.below(40)) - 36);
      sum[g] = 0;
      for (std::size_t k = g * kGroupColumns; k < (g + 1) * kGroupColumns; ++k) {
        if (kind == 0) q[k] = 0;
        if (kind == 1) q[k] = random.below(2) != 0 ? 127 : -127;
        sum[g] += q[k];
      }
    }
    if (is_quantised(type)) {
      fill_quantised(type, weights.data(), weights.bytes(), random);
    } else if (type == WeightType::f16) {
      for (std::size_t i = 0; i < weights.bytes(); i += sizeof(Half)) {
        const Half h = any_half(random);
        std::memcpy(weights.data() + i, &h, sizeof h);
      }
    } else {
      for (std::size_t i = 0; i < weights.bytes(); i += sizeof(float)) {
        const float w = one_value(Values::plain, random, i);
        std::memcpy(weights.data() + i, &w, sizeof w);
      }
    }
  }

  Guarded<std::byte> weights;
  Guarded<float> bias;
  Guarded<float> x;
  Guarded<std::int8_t> q;
  Guarded<float> scale;
  Guarded<std::int32_t> sum;
};

inline void check_matmul(WeightType type, const Kernels& table, const MatmulCase& shape, std::uint32_t tokens,
                         std::uint32_t slack, Values values) {
  const MatmulBuffers in(type, shape, tokens, slack, values);
  const std::size_t pitch = std::size_t{shape.block_end} * kBlockRows + slack;
  MatmulArgs args;
  args.weights = in.weights.data();
  args.bias_or_null = tokens % 2 != 0 ? in.bias.data() : nullptr;
  args.groups = shape.groups;
  args.block_begin = shape.block_begin;
  args.block_end = shape.block_end;
  args.tokens = tokens;
  args.x = in.x.data();
  args.q = in.q.data();
  args.scale = in.scale.data();
  args.sum = in.sum.data();
  args.out_pitch = pitch;
  Guarded<float> want(tokens * pitch - slack, slack), got(tokens * pitch - slack, slack);
  args.out = want.data();
  kReferenceKernels.matmul[static_cast<int>(type)](args);
  args.out = got.data();
  table.matmul[static_cast<int>(type)](args);
  CHECK(got.same_as(want));
}

inline void check_matmuls(WeightType type, const Kernels& table) {
  for (const MatmulCase& shape : kMatmulCases) {
    for (std::uint32_t tokens = 1; tokens <= kMostTokens; ++tokens) {
      for (const std::uint32_t slack : kSlacks) {
        CAPTURE(shape.groups);
        CAPTURE(shape.block_begin);
        CAPTURE(shape.block_end);
        CAPTURE(tokens);
        CAPTURE(slack);
        check_matmul(type, table, shape, tokens, slack, tokens % 3 == 2 ? Values::mixed : Values::plain);
      }
    }
  }
}

}  // namespace minnow::test
