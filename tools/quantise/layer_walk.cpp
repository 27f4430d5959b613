// Depends on layer_walk.
#include "tools/quantise/layer_walk.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "kernels/kernels.hpp"
#include "model/tensors.hpp"
#include "session/layers.hpp"
#include "session/steps.hpp"
#include "tools/convert/pack.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/quantise/moments.hpp"
#include "tools/quantise/round_block.hpp"

namespace minnow::quantise {

namespace {

constexpr std::uint32_t kBatch = 64;  // tokens computed together
// Of the mean moment. KL divergence is the same from 0.0001 to 0.01, but at 0.01 the loss is up to 0.003 nats worse.
constexpr double kDamping = 0.0003;
constexpr std::size_t kBlocksAtOnce = 16;  // of rows, between two looks at whether to stop; times the threads

SessionConfig session_config(const Windows& windows, const Workers& workers) {
  SessionConfig out;
  out.context = static_cast<std::uint32_t>(windows.length);
  out.batch = std::min(kBatch, out.context);
  out.executor = workers.executor();
  return out;
}

class LayerWalk {
 public:
  LayerWalk(MemoryModel* model, const Windows& windows, const Workers& workers, const Progress& progress)
      : model_(*model),
        windows_(windows),
        workers_(workers),
        progress_(progress),
        session_(model->model(), session_config(windows, workers)),
        s_(*SessionAccess::state(session_.session)),
        x_(windows.tokens.size() * s_.widths.embd) {}

  PackedTensors run(bool round_output) {
    const bool separate = s_.config->output == Output::separate;
    // A layer is five walks and four roundings, the output a walk a layer, two more, and its rounding.
    all_steps_ = 1 + 9 * s_.config->n_layer + (round_output ? 3 + s_.config->n_layer : 0);
    if (round_output) {
      const Role output = separate ? Role::lm_head_weight : Role::wte;
      Moments moments(s_.config->n_embd, workers_);
      walk([](std::uint32_t) {}, true, true);
      for (std::uint32_t layer = 0; layer < s_.config->n_layer; ++layer) {
        walk([&](std::uint32_t n) { attention_block(s_, layer, n), mlp(s_, layer, n); }, true);
      }
      walk(
          [&](std::uint32_t n) {
            norm(s_, {s_.weights.ln_f_weight, s_.weights.ln_f_bias, false}, 0, n);
            moments.add(s_.h, s_.widths.embd, n);
          },
          false);
      round({output}, kNoLayer, &moments);
    }
    if (!round_output || separate) round_trip(*model_.find(Role::wte, kNoLayer), WeightType::q8);
    if (!round_output && separate) round_trip(*model_.find(Role::lm_head_weight, kNoLayer), WeightType::q8);
    walk([](std::uint32_t) {}, true, true);
    for (std::uint32_t layer = 0; layer < s_.config->n_layer; ++layer) round_layer(layer);
    return std::move(packed_);
  }

 private:
  void round_layer(std::uint32_t layer) {
    const LayerWeights& w = s_.weights.layers[layer];
    const bool gated = s_.config->activation == Activation::silu_gated;
    {
      Moments moments(w.c_attn.columns, workers_);
      walk(
          [&](std::uint32_t n) {
            norm(s_, {w.ln_1_weight, w.ln_1_bias, false}, 0, n);
            moments.add(s_.h, s_.widths.embd, n);
          },
          false);
      round({Role::c_attn_weight}, layer, &moments);
    }
    {
      Moments moments(w.attn_c_proj.columns, workers_);
      walk(
          [&](std::uint32_t n) {
            attention_block(s_, layer, n);
            moments.add(s_.attended, s_.widths.attended, n);
          },
          false);
      round({Role::attn_c_proj_weight}, layer, &moments);
    }
    {
      Moments moments(w.c_fc.columns, workers_);
      walk(
          [&](std::uint32_t n) {
            attention_block(s_, layer, n);
            norm(s_, {w.ln_2_weight, w.ln_2_bias, false}, 0, n);
            moments.add(s_.h, s_.widths.embd, n);
          },
          true);
      if (gated) {
        round({Role::c_gate_weight, Role::c_fc_weight}, layer, &moments);
      } else {
        round({Role::c_fc_weight}, layer, &moments);
      }
    }
    {
      Moments moments(w.mlp_c_proj.columns, workers_);
      walk(
          [&](std::uint32_t n) {
            mlp(s_, layer, n);
            moments.add(s_.hidden, s_.widths.hidden, n);
          },
          false);
      round({Role::mlp_c_proj_weight}, layer, &moments);
    }
    if (layer + 1 < s_.config->n_layer) walk([&](std::uint32_t n) { mlp(s_, layer, n); }, true);
  }

  // Makes a matrix what it is once stored as `type` by itself.
  void round_trip(const TensorEntry& entry, WeightType type) {
    const std::size_t floats = std::size_t{group_count(entry.columns)} * kGroupColumns * kBlockRows;
    auto* const weights = reinterpret_cast<float*>(model_.data(entry));
    workers_.run(block_count(entry.rows), [&](std::size_t block) {
      float* const at = weights + block * floats;
      const std::uint32_t columns = group_count(entry.columns) * kGroupColumns;
      std::vector<float> rows(floats);
      std::vector<std::byte> packed(group_count(columns) * group_bytes(type));
      for (std::size_t i = 0; i < floats; ++i) rows[i % kBlockRows * columns + i / kBlockRows] = at[i];
      static_cast<void>(convert::pack_block(rows.data(), kBlockRows, columns, type, true, packed.data()));
      for (std::uint32_t r = 0; r < kBlockRows; ++r)
        gather_row(packed.data(), type, columns, r, rows.data() + r * columns);
      for (std::size_t i = 0; i < floats; ++i) at[i] = rows[i % kBlockRows * columns + i / kBlockRows];
    });
  }

  // Calls stage(n) for every batch of every window, with the residual stream of its n tokens in s.x, at first embedded;
  // `keep`: what it leaves there is the stream from now on.
  template <class Stage>
  void walk(const Stage& stage, bool keep, bool embedded = false) {
    const std::size_t width = s_.widths.embd;
    for (std::size_t i = 0; i < windows_.count(); ++i) {
      s_.ring.clear();
      while (s_.ring.count < windows_.length) {
        convert::check_interrupted();
        const std::uint32_t first = s_.ring.count;
        const std::uint32_t n = std::min(s_.shape.batch, static_cast<std::uint32_t>(windows_.length) - first);
        float* const x = x_.data() + (i * windows_.length + first) * width;
        embed(s_, windows_.window(i) + first, n);
        if (!embedded) std::copy_n(x, n * width, s_.x);
        stage(n);
        if (keep) std::copy_n(s_.x, n * width, x);
        s_.ring.count += n;
      }
      step(static_cast<double>(i + 1) / static_cast<double>(windows_.count()));
    }
    ++steps_;
  }

  void round(std::initializer_list<Role> roles, std::uint32_t layer, Moments* moments) {
    Square h = moments->take();
    double trace = 0;
    for (std::size_t i = 0; i < h.size(); ++i) trace += h.row(i)[i];
    if (!std::isfinite(trace)) {
      convert::refuse("layer ", layer,
                      " gets numbers beyond counting from the calibration text; expected finite ones; "
                      "convert with --calibrate none");
    }
    const Factor factor = factorise(std::move(h), kDamping, workers_);
    for (const Role role : roles) round_matrix(role, layer, factor);
    ++steps_;
  }

  void round_matrix(Role role, std::uint32_t layer, const Factor& factor) {
    const TensorEntry& entry = *model_.find(role, layer);
    const std::size_t blocks = block_count(entry.rows);
    const std::size_t groups = group_count(entry.columns);
    auto* const weights = reinterpret_cast<float*>(model_.data(entry));
    std::vector<std::byte>& out = packed_[{role, layer}];
    out.resize(blocks * groups * sizeof(Q4Group));
    std::atomic<bool> fits{true};
    const std::size_t at_once = kBlocksAtOnce * std::max(1u, workers_.executor().width);
    for (std::size_t begin = 0; begin < blocks; begin += at_once) {
      convert::check_interrupted();
      workers_.run(std::min(at_once, blocks - begin), [&](std::size_t job) {
        const std::size_t block = begin + job;
        const std::size_t floats = groups * kGroupColumns * kBlockRows;
        if (!round_one(factor, weights + block * floats, groups, out.data() + block * groups * sizeof(Q4Group))) {
          fits = false;
        }
      });
      step(static_cast<double>(begin) / static_cast<double>(blocks));
    }
    if (!fits) {
      convert::refuse(
          "the tensor ", role_name(role), " of layer ", layer,
          " has weights beyond 500 thousand; expected a scale that a half float holds; convert with --type f32");
    }
  }

  // weights[groups][32][8] become what is packed of them. False: a scale is beyond a half.
  static bool round_one(const Factor& factor, float* weights, std::size_t groups, std::byte* out) {
    std::vector<RoundedGroup> rounded(groups);
    const double loss = BlockRounder(factor).round(weights, rounded.data());
    for (const RoundedGroup& group : rounded) {
      for (std::uint32_t r = 0; r < kBlockRows; ++r) {
        int codes[kGroupColumns];
        for (std::size_t c = 0; c < kGroupColumns; ++c) codes[c] = group.code[c][r];
        convert::put_group(WeightType::q4, r, group.scale[r], codes, out);
      }
      out += sizeof(Q4Group);
      for (std::size_t c = 0; c < kGroupColumns; ++c) {
        for (std::size_t r = 0; r < kBlockRows; ++r) {
          *weights++ = half_to_float(group.scale[r]) * static_cast<float>(group.code[c][r]);
        }
      }
    }
    return std::isfinite(loss);
  }

  void step(double part) {
    if (progress_) progress_(std::min(1.0, (steps_ + part) / all_steps_));
  }

  MemoryModel& model_;
  const Windows& windows_;
  const Workers& workers_;
  const Progress& progress_;
  OwnedSession session_;
  SessionState& s_;
  std::vector<float> x_;  // [tokens][widths.embd]: the residual stream between two stages
  PackedTensors packed_;
  double steps_ = 0;
  double all_steps_ = 1;
};

}  // namespace

PackedTensors round_layers(MemoryModel* model, bool round_output, const Windows& windows, const Workers& workers,
                           const Progress& progress) {
  return LayerWalk(model, windows, workers, progress).run(round_output);
}

}  // namespace minnow::quantise
