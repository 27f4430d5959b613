// A key-value cache of one head, filled from plain rows, for tests of attention.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/kernels.hpp"
#include "session/attention.hpp"

namespace minnow::test {

using Rows = std::vector<std::vector<float>>;  // [positions][head_size]

// Position i lies in ring slot (oldest + i) mod slots; every other number in the cache is `rest`.
class Cache {
 public:
  Cache(const Rows& keys, const Rows& values, bool half, std::uint32_t slots, std::uint32_t oldest,
        float rest = std::numeric_limits<float>::quiet_NaN())
      : head_size_(static_cast<std::uint32_t>(keys[0].size())), half_(half) {
    ring_.slots = slots;
    ring_.oldest = oldest;
    ring_.count = static_cast<std::uint32_t>(keys.size());
    const std::uint32_t pitch = value_pitch(head_size_);
    key_floats_.assign(std::size_t{round_up(slots, kKeyLanes)} * head_size_, rest);
    value_floats_.assign(std::size_t{slots} * pitch, rest);
    for (std::uint32_t i = 0; i < ring_.count; ++i) {
      const std::size_t slot = ring_.slot(i);
      for (std::size_t dim = 0; dim < pitch; ++dim) value_floats_[slot * pitch + dim] = 0;
      for (std::size_t dim = 0; dim < head_size_; ++dim) {
        key_floats_[(slot / kKeyLanes * head_size_ + dim) * kKeyLanes + slot % kKeyLanes] = keys[i][dim];
        value_floats_[slot * pitch + dim] = values[i][dim];
      }
    }
    for (const float x : key_floats_) key_halves_.push_back(float_to_half(x));
    for (const float x : value_floats_) value_halves_.push_back(float_to_half(x));
  }

  const void* keys() const { return half_ ? static_cast<const void*>(key_halves_.data()) : key_floats_.data(); }
  const void* values() const { return half_ ? static_cast<const void*>(value_halves_.data()) : value_floats_.data(); }

  struct Result {
    std::vector<float> out;            // [head_size]
    std::vector<float> probabilities;  // [count]
  };
  // Attention of q over positions 0 .. count - 1.
  Result attend(const Kernels& kernels, const std::vector<float>& q, std::uint32_t count, float scale) const {
    Result result;
    result.out.resize(head_size_);
    result.probabilities.resize(round_up(count, 8u));
    AttendArgs args = arguments(count, scale);
    std::vector<float> scratch(attend_scratch(head_size_, 1));
    args.q = q.data();
    args.queries = 1;
    args.scratch = scratch.data();
    args.out = result.out.data();
    args.probabilities_or_null = result.probabilities.data();
    minnow::attend(kernels, args);
    result.probabilities.resize(count);
    return result;
  }

  // Of several queries together, query j over positions 0 .. count + j - 1; their outputs one after the other.
  std::vector<float> attend(const Kernels& kernels, const Rows& queries, std::uint32_t count, float scale) const {
    const std::size_t q_pitch = head_size_ + 3;
    const std::size_t out_pitch = head_size_ + 5;
    const std::size_t n = queries.size();
    std::vector<float> q(n * q_pitch), out(n * out_pitch, -7.0f);
    for (std::size_t j = 0; j < n; ++j)
      std::copy(queries[j].begin(), queries[j].end(), q.begin() + static_cast<std::ptrdiff_t>(j * q_pitch));
    AttendArgs args = arguments(count, scale);
    args.queries = static_cast<std::uint32_t>(n);
    std::vector<float> scratch(attend_scratch(head_size_, args.queries));
    args.q = q.data();
    args.q_pitch = q_pitch;
    args.scratch = scratch.data();
    args.out = out.data();
    args.out_pitch = out_pitch;
    minnow::attend(kernels, args);
    std::vector<float> rows;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i % out_pitch < head_size_) {
        rows.push_back(out[i]);
      } else if (out[i] != -7.0f) {
        return {};  // written between the rows
      }
    }
    return rows;
  }

 private:
  AttendArgs arguments(std::uint32_t count, float scale) const {
    AttendArgs args;
    args.head_size = head_size_;
    args.keys = keys();
    args.values = values();
    args.kv = half_ ? 1 : 0;
    args.ring = ring_;
    args.count = count;
    args.scale = scale;
    return args;
  }

  std::uint32_t head_size_;
  bool half_;
  Ring ring_;
  std::vector<float> key_floats_, value_floats_;
  std::vector<Half> key_halves_, value_halves_;
};

}  // namespace minnow::test
