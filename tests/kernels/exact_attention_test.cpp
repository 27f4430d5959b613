// Every instruction set's attention kernels against the reference, to the bit, as in exact_test.cpp.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "kernels/tables.hpp"
#include "tests/kernels/cases.hpp"
#include "tests/kernels/exact.hpp"

namespace minnow::test {

// With the maximum at 0 a tile's scores are exp's arguments as they are.
TEST_CASE("exact: exp over a sweep of all arguments that softmax has") {
  std::vector<float> sweep = {0.0f, -0.0f, -88.0f, -1000.0f, -1e30f};
  for (std::uint32_t bits = bit_cast<std::uint32_t>(0x1p-30f); bits < bit_cast<std::uint32_t>(88.0f); bits += 2503) {
    sweep.push_back(-bit_cast<float>(bits));
  }
  sweep.resize(sweep.size() / kAttentionTile * kAttentionTile);
  for_each_set([&](const Kernels& table) {
    std::vector<float> want = sweep, got = sweep;
    for (std::size_t i = 0; i < sweep.size(); i += kAttentionTile) {
      float m = 0, l = 0;
      kReferenceKernels.softmax_tile(&want[i], kAttentionTile, &m, &l);
      table.softmax_tile(&got[i], kAttentionTile, &m, &l);
    }
    CHECK(std::memcmp(want.data(), got.data(), sweep.size() * sizeof(float)) == 0);
  });
}

TEST_CASE("exact: softmax_tile") {
  for_each_set([](const Kernels& table) {
    for (std::uint32_t count = 1; count <= kAttentionTile; ++count) {
      for (const std::uint32_t slack : kSlacks) {
        for (const Values values : kValues) {
          for (const float before : {-std::numeric_limits<float>::infinity(), -3.0f, 0.0f, 200.0f}) {
            CAPTURE(count);
            CAPTURE(slack);
            CAPTURE(static_cast<int>(values));
            CAPTURE(before);
            Random random(count);
            Guarded<float> want(round_up(count, 8u), slack), got(round_up(count, 8u), slack);
            fill(want.data(), want.size(), values, random);
            copy(want, got);
            float m[2] = {before, before};
            float l[2] = {before < 0 ? 0.0f : 1.5f, before < 0 ? 0.0f : 1.5f};
            const float c[2] = {kReferenceKernels.softmax_tile(want.data(), count, &m[0], &l[0]),
                                table.softmax_tile(got.data(), count, &m[1], &l[1])};
            CHECK(got.same_as(want));
            CHECK(bit_cast<std::uint32_t>(c[0]) == bit_cast<std::uint32_t>(c[1]));
            CHECK(bit_cast<std::uint32_t>(m[0]) == bit_cast<std::uint32_t>(m[1]));
            CHECK(bit_cast<std::uint32_t>(l[0]) == bit_cast<std::uint32_t>(l[1]));
          }
        }
      }
    }
  });
}

namespace {

// A cache of floats or halves with nothing readable behind it.
template <class Element>
void fill_cache(const Guarded<Element>& cache, Random& random) {
  for (std::size_t i = 0; i < cache.size(); ++i) {
    if constexpr (sizeof(Element) == sizeof(Half)) {
      cache[i] = any_half(random);
    } else {
      cache[i] = one_value(Values::plain, random, i);
    }
  }
}

template <class Element>
void check_attention(std::uint32_t head_size, std::uint32_t first_slot, std::uint32_t count, std::uint32_t slack) {
  constexpr int kIndex = sizeof(Element) == sizeof(Half) ? 1 : 0;
  constexpr std::uint32_t kMargin = kKeyLanes - 1;  // scores may be written this far before and after
  const std::uint32_t slots = first_slot + count;
  const std::uint32_t pitch = value_pitch(head_size);
  Random random(head_size * 1000 + count);
  Guarded<float> q(head_size, slack), p(round_up(count, 8u), slack), o_start(pitch, slack);
  fill(q.data(), q.size(), Values::plain, random);
  fill(o_start.data(), o_start.size(), Values::plain, random);
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = random.uniform(0, 1);
  Guarded<Element> keys(std::size_t{round_up(slots, kKeyLanes)} * head_size, slack),
      values(std::size_t{slots} * pitch, slack);
  fill_cache(keys, random);
  fill_cache(values, random);
  Guarded<float> scores_want(count, slack), o_want(pitch, slack);
  kReferenceKernels.attention_scores[kIndex](q.data(), head_size, keys.data(), first_slot, count, 0.3f,
                                             scores_want.data());
  copy(o_start, o_want);
  kReferenceKernels.attention_mix[kIndex](p.data(), values.data(), head_size, first_slot, count, 0.7f, o_want.data());
  for_each_set([&](const Kernels& table) {
    Guarded<float> scores(count + 2 * kMargin, slack), o(pitch, slack);
    table.attention_scores[kIndex](q.data(), head_size, keys.data(), first_slot, count, 0.3f, scores.data() + kMargin);
    CHECK(std::memcmp(scores.data() + kMargin, scores_want.data(), scores_want.bytes()) == 0);
    CHECK(scores.intact());
    copy(o_start, o);
    table.attention_mix[kIndex](p.data(), values.data(), head_size, first_slot, count, 0.7f, o.data());
    CHECK(o.same_as(o_want));
  });
}

}  // namespace

TEST_CASE("exact: attention scores and mix") {
  std::uint32_t turn = 0;
  for (const std::uint32_t head_size : kHeadSizes) {
    for (const std::uint32_t first_slot : kFirstSlots) {
      for (std::uint32_t count = 1; count <= kAttentionTile; count += head_size < 40 ? 1 : 3) {
        CAPTURE(head_size);
        CAPTURE(first_slot);
        CAPTURE(count);
        const std::uint32_t slack = ++turn % 2;
        check_attention<float>(head_size, first_slot, count, slack);
        check_attention<Half>(head_size, first_slot, count, slack);
      }
    }
  }
}

}  // namespace minnow::test
