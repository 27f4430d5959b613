// tools/convert/llama2_c.cpp: the three layouts of llama2.c, and headers that contradict the file.
#include <doctest/doctest.h>

#include "tests/convert/checkpoint_rig.hpp"

namespace minnow::convert::test {

namespace {

constexpr std::uint32_t kDim = 8, kHidden = 12, kLayers = 2, kHeads = 4, kKvHeads = 2, kVocab = 6, kTime = 5;
constexpr std::uint32_t kKvDim = kDim / kHeads * kKvHeads;
constexpr std::uint32_t kMagic = 0x616b3432;

std::string fields(std::int32_t vocab = kVocab) {
  return raw(
      std::vector<std::uint32_t>{kDim, kHidden, kLayers, kHeads, kKvHeads, static_cast<std::uint32_t>(vocab), kTime});
}

std::string header(std::uint32_t version, bool shared, std::uint32_t group = 0) {
  std::string out = raw(std::vector<std::uint32_t>{kMagic, version}) + fields() + number(shared ? 1 : 0, 1);
  if (version == 2) out += number(group, 4);
  out.resize(256);
  return out;
}

// Writes tensors whose elements all have one value each, and the text that show() makes of the first of them.
struct Weights {
  std::string bytes;
  std::uint32_t group = 0;
  int tensors = 0;
  void add(std::uint32_t elements, bool quantised = true) {
    const int value = ++tensors;
    if (group == 0 || !quantised) {
      bytes += raw(std::vector<float>(elements, static_cast<float>(value)));
    } else {
      bytes += std::string(elements, static_cast<char>(value));
      bytes += raw(std::vector<float>(elements / group, 0.5f));
    }
  }
  void add_layers(std::uint32_t elements, bool quantised = true) {
    for (std::uint32_t i = 0; i < kLayers; ++i) add(elements, quantised);
  }
};

Weights legacy_weights(bool separate) {
  Weights w;
  w.add(kVocab * kDim);
  w.add_layers(kDim);
  for (const std::uint32_t rows : {kDim, kKvDim, kKvDim, kDim}) w.add_layers(rows * kDim);
  w.add_layers(kDim);
  for (int i = 0; i < 3; ++i) w.add_layers(kHidden * kDim);
  w.add(kDim);
  w.bytes += std::string(kTime * (kDim / kHeads / 2) * 2 * 4, '\x7f');  // tables of the positions
  if (separate) w.add(kVocab * kDim);
  return w;
}

Weights weights(bool separate, std::uint32_t group = 0) {
  Weights w;
  w.group = group;
  w.add_layers(kDim, false);
  w.add_layers(kDim, false);
  w.add(kDim, false);
  w.add(kVocab * kDim);
  for (const std::uint32_t rows : {kDim, kKvDim, kKvDim, kDim}) w.add_layers(rows * kDim);
  for (int i = 0; i < 3; ++i) w.add_layers(kHidden * kDim);
  if (separate) w.add(kVocab * kDim);
  return w;
}

const char* const kSettings =
    "dim=8; hidden_dim=12; max_seq_len=5; n_heads=4; n_kv_heads=2; n_layers=2; vocab_size=6; by the header";

}  // namespace

TEST_CASE("llama2.c: the legacy layout, known by its length") {
  const std::string all = show_bytes(fields() + legacy_weights(false).bytes);
  for (const char* part :
       {"tok_embeddings.weight float32 [6, 8] = 1 1 ", "layers.0.attention_norm.weight float32 [8] = 2 ",
        "layers.1.attention_norm.weight float32 [8] = 3 ", "layers.0.attention.wq.weight float32 [8, 8] = 4 ",
        "layers.0.attention.wk.weight float32 [4, 8] = 6 ", "layers.0.attention.wv.weight float32 [4, 8] = 8 ",
        "layers.1.attention.wo.weight float32 [8, 8] = 11 ", "layers.0.ffn_norm.weight float32 [8] = 12 ",
        "layers.0.feed_forward.w1.weight float32 [12, 8] = 14 ",
        "layers.0.feed_forward.w2.weight float32 [8, 12] = 16 ",
        "layers.0.feed_forward.w3.weight float32 [12, 8] = 18 ", "; norm.weight float32 [8] = 20 ", kSettings}) {
    CHECK_MESSAGE(contains(all, part), part);
  }
  CHECK_FALSE(contains(all, "output"));
  const std::string separate = show_bytes(fields(-static_cast<std::int32_t>(kVocab)) + legacy_weights(true).bytes);
  CHECK(contains(separate, "; output.weight float32 [6, 8] = 21 "));
  CHECK(contains(separate, kSettings));
  // One float more or less, and the seven numbers mean nothing.
  CHECK(contains(show_bytes(fields() + legacy_weights(false).bytes + std::string(4, '\0')), "expected a checkpoint"));
  CHECK(contains(show_bytes(fields() + legacy_weights(true).bytes), "expected a checkpoint"));
}

TEST_CASE("llama2.c: version 1") {
  const std::string all = show_bytes(header(1, true) + weights(false).bytes);
  for (const char* part :
       {"layers.0.attention_norm.weight float32 [8] = 1 ", "layers.0.ffn_norm.weight float32 [8] = 3 ",
        "; norm.weight float32 [8] = 5 ", "tok_embeddings.weight float32 [6, 8] = 6 ",
        "layers.0.attention.wq.weight float32 [8, 8] = 7 ", "layers.0.attention.wk.weight float32 [4, 8] = 9 ",
        "layers.0.attention.wv.weight float32 [4, 8] = 11 ", "layers.1.attention.wo.weight float32 [8, 8] = 14 ",
        "layers.0.feed_forward.w1.weight float32 [12, 8] = 15 ",
        "layers.0.feed_forward.w2.weight float32 [8, 12] = 17 ",
        "layers.1.feed_forward.w3.weight float32 [12, 8] = 20 ", kSettings}) {
    CHECK_MESSAGE(contains(all, part), part);
  }
  CHECK(contains(show_bytes(header(1, false) + weights(true).bytes), "; output.weight float32 [6, 8] = 21 "));
  CHECK(contains(show_bytes(header(1, false) + weights(false).bytes), "for the sizes in its header"));
  CHECK(contains(show_bytes(header(3, true) + weights(false).bytes), "of version 3"));
}

TEST_CASE("llama2.c: version 2, int8 numbers in groups") {
  const std::string bytes = header(2, true, 4) + weights(false, 4).bytes;
  const std::string all = show_bytes(bytes);
  for (const char* part : {"layers.0.attention_norm.weight float32 [8] = 1 ", "; norm.weight float32 [8] = 5 ",
                           "tok_embeddings.weight int8 in groups [6, 8] = 3 3 ",
                           "layers.0.attention.wq.weight int8 in groups [8, 8] = 3.5 ",
                           "layers.1.feed_forward.w3.weight int8 in groups [12, 8] = 10 ", kSettings}) {
    CHECK_MESSAGE(contains(all, part), part);
  }
  CHECK(contains(show_bytes(header(2, true, 0) + weights(false, 4).bytes), "contradict"));
  CHECK(contains(show_bytes(header(2, true, 5) + weights(false, 4).bytes), "is not made of groups of 5"));
  CHECK(contains(show_bytes(header(2, true, 8) + weights(false, 4).bytes), "for the sizes in its header"));
  std::string wrong = bytes;
  wrong[256 + 4 * 5 * kDim + kVocab * kDim + 3] = '\xc0';  // the sign of the first scale
  CHECK(contains(show_bytes(wrong), "a scale that is negative"));
}

TEST_CASE("llama2.c: headers that contradict themselves") {
  CHECK(contains(show_bytes(raw(std::vector<std::uint32_t>{0x32346b61, 1}) + std::string(300, '\0')), "big-endian"));
  const auto with = [](std::size_t field, std::uint32_t value) {
    std::string bytes = header(1, true) + weights(false).bytes;
    bytes.replace(8 + 4 * field, 4, number(value, 4));
    return show_bytes(bytes);
  };
  for (std::size_t field = 0; field < 7; ++field) {
    for (const std::uint32_t value : {0u, 0x7fffffffu, 0xffffffffu, 1u << 28}) {
      if (field == 6 && value == 1u << 28) continue;  // max_seq_len takes no room here
      CHECK_MESSAGE(is_refusal(with(field, value)), field, " ", value);
    }
  }
  CHECK(is_refusal(with(3, 3)));
  CHECK(is_refusal(with(4, 3)));
}

TEST_CASE("llama2.c: cut and damaged everywhere") {
  check_cut_and_damaged(header(1, true) + weights(false).bytes, 256);
  check_cut_and_damaged(header(2, false, 4) + weights(true, 4).bytes, 256);
  check_cut_and_damaged(fields() + legacy_weights(false).bytes, 28);
}

}  // namespace minnow::convert::test
