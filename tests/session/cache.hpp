// A key-value cache of one head, filled from plain rows, for tests of attention.
#pragma once

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
    std::vector<float> scratch(attend_scratch(head_size_));
    AttendArgs args;
    args.q = q.data();
    args.head_size = head_size_;
    args.keys = keys();
    args.values = values();
    args.kv = half_ ? 1 : 0;
    args.ring = ring_;
    args.count = count;
    args.scale = scale;
    args.scratch = scratch.data();
    args.out = result.out.data();
    args.probabilities_or_null = result.probabilities.data();
    minnow::attend(kernels, args);
    result.probabilities.resize(count);
    return result;
  }

 private:
  std::uint32_t head_size_;
  bool half_;
  Ring ring_;
  std::vector<float> key_floats_, value_floats_;
  std::vector<Half> key_halves_, value_halves_;
};

}  // namespace minnow::test
