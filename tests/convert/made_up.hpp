// Checkpoints of names and shapes alone, for the tests of what becomes of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/convert/support.hpp"
#include "tools/convert/model_plan.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert::test {

using Shapes = std::vector<std::pair<std::string, std::vector<std::uint64_t>>>;

inline Setting whole(std::int64_t value) {
  Setting out;
  out.kind = Setting::Kind::integer;
  out.integer = value;
  out.real = static_cast<double>(value);
  return out;
}

inline Setting truth(bool value) {
  Setting out = whole(value);
  out.kind = Setting::Kind::boolean;
  return out;
}

inline Setting number_setting(double value) {
  Setting out;
  out.kind = Setting::Kind::real;
  out.real = value;
  return out;
}

inline Setting word(const std::string& value) {
  Setting out;
  out.kind = Setting::Kind::text;
  out.text = value;
  return out;
}

// Each tensor has a storage of its own, one behind the other in a file that counts up.
inline Checkpoint made_up(const Shapes& shapes, const Settings& settings = {},
                          const std::string& source = "model_args") {
  Checkpoint out;
  out.settings = settings;
  if (!settings.empty()) {
    out.settings_source = source;
    if (contains(source, ".json")) out.sidecar = source;
  }
  std::uint64_t at = 0;
  for (const auto& [name, shape] : shapes) {
    StoredTensor tensor;
    tensor.name = name;
    tensor.rank = shape.size();
    std::uint64_t elements = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      tensor.shape[i] = shape[i];
      tensor.stride[i] = elements;
      elements *= shape[i];
    }
    tensor.storage = name;
    tensor.storage_offset = at;
    tensor.storage_elements = elements;
    at += elements * sizeof(float);
    out.tensors.push_back(tensor);
  }
  std::vector<float> numbers(static_cast<std::size_t>(at / sizeof(float)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const TemporaryFolder folder;
  write_file(folder / "numbers", raw(numbers));
  out.files.push_back(std::make_shared<const InputFile>(folder / "numbers"));  // stays open without its name
  return out;
}

struct Planned {
  ModelPlan plan;
  std::string fault;
};

inline Planned plan(const Checkpoint& checkpoint, const PlanOptions& options = {}) {
  Planned out;
  try {
    out.plan = plan_model(checkpoint, options);
  } catch (const Refusal& refusal) {
    out.fault = refusal.what();
  }
  return out;
}

// Two layers, 8 wide, block 6, 7 symbols.
inline Shapes gpt2_shapes(bool conv1d = false) {
  const auto linear = [&](std::uint64_t in, std::uint64_t out) {
    return conv1d ? std::vector<std::uint64_t>{in, out} : std::vector<std::uint64_t>{out, in};
  };
  Shapes out = {{"transformer.wte.weight", {7, 8}}, {"transformer.wpe.weight", {6, 8}}};
  for (const std::string h : {"transformer.h.0.", "transformer.h.1."}) {
    for (const auto& each : Shapes{{"ln_1.weight", {8}},
                                   {"attn.c_attn.weight", linear(8, 24)},
                                   {"attn.c_proj.weight", {8, 8}},
                                   {"ln_2.weight", {8}},
                                   {"mlp.c_fc.weight", linear(8, 32)},
                                   {"mlp.c_proj.weight", linear(32, 8)}}) {
      out.emplace_back(h + each.first, each.second);
    }
  }
  out.emplace_back("transformer.ln_f.weight", std::vector<std::uint64_t>{8});
  return out;
}

// One layer, 4 heads of 6, 2 of keys, 40 hidden, 9 symbols.
inline Shapes llama2_shapes() {
  return {{"tok_embeddings.weight", {9, 24}},
          {"layers.0.attention.wq.weight", {24, 24}},
          {"layers.0.attention.wk.weight", {12, 24}},
          {"layers.0.attention.wv.weight", {12, 24}},
          {"layers.0.attention.wo.weight", {24, 24}},
          {"layers.0.feed_forward.w1.weight", {40, 24}},
          {"layers.0.feed_forward.w2.weight", {24, 40}},
          {"layers.0.feed_forward.w3.weight", {40, 24}},
          {"layers.0.attention_norm.weight", {24}},
          {"layers.0.ffn_norm.weight", {24}},
          {"norm.weight", {24}}};
}
inline Settings llama2_settings() {
  return {{"n_layers", whole(1)},   {"n_heads", whole(4)},      {"n_kv_heads", whole(2)}, {"dim", whole(24)},
          {"vocab_size", whole(9)}, {"max_seq_len", whole(16)}, {"dropout", whole(0)}};
}

// One layer, 2 heads of 3, block 5, 7 symbols.
inline Shapes lecture_shapes() {
  Shapes out = {{"token_embedding_table.weight", {7, 6}}, {"position_embedding_table.weight", {5, 6}}};
  for (const std::string head : {"0", "1"}) {
    for (const std::string part : {"key", "query", "value"}) {
      out.emplace_back("blocks.0.sa.heads." + head + "." + part + ".weight", std::vector<std::uint64_t>{3, 6});
    }
  }
  for (const auto& each : Shapes{{"sa.proj.weight", {6, 6}},
                                 {"sa.proj.bias", {6}},
                                 {"ffwd.net.0.weight", {24, 6}},
                                 {"ffwd.net.2.weight", {6, 24}},
                                 {"ln1.weight", {6}},
                                 {"ln2.weight", {6}}}) {
    out.emplace_back("blocks.0." + each.first, each.second);
  }
  out.emplace_back("ln_f.weight", std::vector<std::uint64_t>{6});
  out.emplace_back("lm_head.weight", std::vector<std::uint64_t>{7, 6});
  return out;
}

// One layer, 4 heads of 4, 2 of keys, 10 symbols.
inline Shapes nanochat_shapes() {
  return {{"transformer.wte.weight", {10, 16}},
          {"transformer.h.0.attn.c_q.weight", {16, 16}},
          {"transformer.h.0.attn.c_k.weight", {8, 16}},
          {"transformer.h.0.attn.c_v.weight", {8, 16}},
          {"transformer.h.0.attn.c_proj.weight", {16, 16}},
          {"transformer.h.0.mlp.c_fc.weight", {64, 16}},
          {"transformer.h.0.mlp.c_proj.weight", {16, 64}},
          {"lm_head.weight", {10, 16}}};
}
inline Settings nanochat_settings() {
  return {{"n_layer", whole(1)}, {"n_head", whole(4)},      {"n_kv_head", whole(2)},
          {"n_embd", whole(16)}, {"vocab_size", whole(10)}, {"sequence_len", whole(12)}};
}

}  // namespace minnow::convert::test
