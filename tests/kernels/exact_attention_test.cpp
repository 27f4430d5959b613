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

// What the attention kernels are given and what they write, for `queries` queries.
template <class Element>
struct AttentionCase {
  static constexpr int kIndex = sizeof(Element) == sizeof(Half) ? 1 : 0;
  static constexpr std::uint32_t kMargin = kKeyLanes - 1;  // scores may be written this far before and after

  AttentionCase(std::uint32_t head_size, std::uint32_t first_slot, std::uint32_t count, std::uint32_t queries,
                std::uint32_t slack)
      : pitch(value_pitch(head_size)),
        score_pitch(count + 2 * kMargin),
        q(std::size_t{queries - 1} * (head_size + 3) + head_size, slack),
        p(std::size_t{queries - 1} * (count + 9) + count, slack),
        c(queries, slack),
        keys(std::size_t{round_up(first_slot + count, kKeyLanes)} * head_size, slack),
        values((std::size_t{first_slot} + count) * pitch, slack),
        scores(std::size_t{queries} * score_pitch, slack),
        o_start(std::size_t{queries} * pitch, slack),
        o(std::size_t{queries} * pitch, slack) {
    Random random(head_size * 1000 + count);
    fill(q.data(), q.size(), Values::plain, random);
    fill(o_start.data(), o_start.size(), Values::plain, random);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = random.uniform(0, 1);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = random.uniform(0, 1);
    fill_cache(keys, random);
    fill_cache(values, random);
    score.q = q.data();
    score.q_pitch = head_size + 3;
    score.keys = keys.data();
    score.scale = 0.3f;
    score.out = scores.data() + kMargin;
    score.out_pitch = score_pitch;
    mix.p = p.data();
    mix.p_pitch = count + 9;
    mix.c = c.data();
    mix.values = values.data();
    mix.o = o.data();
    mix.o_pitch = pitch;
    score.queries = mix.queries = queries;
    score.head_size = mix.head_size = head_size;
    score.first_slot = mix.first_slot = first_slot;
    score.count = mix.count = count;
  }

  // The scores that count, then the sums.
  std::vector<float> run(const Kernels& table) {
    table.attention_scores[kIndex](score);
    copy(o_start, o);
    table.attention_mix[kIndex](mix);
    CHECK(scores.intact());
    CHECK(o.intact());
    std::vector<float> out;
    for (std::uint32_t j = 0; j < score.queries; ++j) {
      for (std::uint32_t i = 0; i < score.count; ++i) out.push_back(score.out[j * score_pitch + i]);
    }
    for (std::size_t i = 0; i < o.size(); ++i) out.push_back(o[i]);
    return out;
  }

  std::uint32_t pitch;
  std::uint32_t score_pitch;
  Guarded<float> q, p, c;
  Guarded<Element> keys, values;
  Guarded<float> scores, o_start, o;
  ScoreArgs score;
  MixArgs mix;
};

template <class Element>
void check_attention(std::uint32_t head_size, std::uint32_t first_slot, std::uint32_t count, std::uint32_t queries,
                     std::uint32_t slack) {
  AttentionCase<Element> attention(head_size, first_slot, count, queries, slack);
  const std::vector<float> want = attention.run(kReferenceKernels);
  for_each_set([&](const Kernels& table) {
    const std::vector<float> got = attention.run(table);
    CHECK(std::memcmp(got.data(), want.data(), want.size() * sizeof(float)) == 0);
  });
}

}  // namespace

TEST_CASE("exact: attention scores and mix") {
  std::uint32_t turn = 0;
  for (const std::uint32_t head_size : kHeadSizes) {
    for (const std::uint32_t first_slot : kFirstSlots) {
      for (std::uint32_t count = 1; count <= kAttentionTile; count += head_size < 40 ? 1 : 7) {
        CAPTURE(head_size);
        CAPTURE(first_slot);
        CAPTURE(count);
        const std::uint32_t slack = ++turn % 2;
        const std::uint32_t queries = turn % 3 == 0 ? 1 + turn / 3 % 9 : 1;
        CAPTURE(queries);
        check_attention<float>(head_size, first_slot, count, queries, slack);
        check_attention<Half>(head_size, first_slot, count, queries, slack);
      }
    }
  }
}

}  // namespace minnow::test
