// tools/convert/llm_c.cpp: llm.c's tensors under nanoGPT's names, and headers that contradict the file.
#include <doctest/doctest.h>

#include "tests/convert/checkpoint_rig.hpp"

namespace minnow::convert::test {

namespace {

constexpr std::uint32_t kTime = 3, kVocab = 5, kLayers = 2, kHeads = 2, kChannels = 4, kPadded = 8;

// A header of 256 numbers.
std::string header(std::vector<std::uint32_t> fields) {
  fields.resize(256);
  return raw(fields);
}

std::string header(std::uint32_t version) {
  return header({20240326, version, kTime, kVocab, kLayers, kHeads, kChannels, version == 1 ? 0u : kPadded});
}

std::size_t elements(std::uint64_t rows) {
  const std::uint64_t c = kChannels;
  return static_cast<std::size_t>(rows * c + kTime * c + kLayers * (12 * c * c + 13 * c) + 2 * c);
}

// Numbers that count up, exact in every type.
std::string counting_f32(std::uint64_t rows = kPadded) {
  std::vector<float> values(elements(rows));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 128);
  return raw(values);
}

}  // namespace

TEST_CASE("llm.c: names, shapes and places") {
  const std::string all = show_bytes(header(3) + counting_f32());
  std::size_t at = 0;
  // The first element of each tensor, in llm.c's order.
  const auto expect = [&](const std::string& name, std::uint64_t rows, std::uint64_t columns) {
    const std::string shape = rows == 0 ? "[" + std::to_string(columns) + "]"
                                        : "[" + std::to_string(rows) + ", " + std::to_string(columns) + "]";
    const std::string text = "transformer." + name + " float32 " + shape + " = " + std::to_string(at % 128) + " ";
    CHECK_MESSAGE(contains(all, text), text);
    at += (rows == 0 ? 1 : rows) * columns;
  };
  const auto expect_layers = [&](const std::string& name, std::uint64_t rows, std::uint64_t columns) {
    for (std::uint64_t i = 0; i < kLayers; ++i) expect("h." + std::to_string(i) + "." + name, rows, columns);
  };
  const std::uint64_t c = kChannels;
  expect("wte.weight", kPadded, c);
  expect("wpe.weight", kTime, c);
  expect_layers("ln_1.weight", 0, c);
  expect_layers("ln_1.bias", 0, c);
  expect_layers("attn.c_attn.weight", 3 * c, c);
  expect_layers("attn.c_attn.bias", 0, 3 * c);
  expect_layers("attn.c_proj.weight", c, c);
  expect_layers("attn.c_proj.bias", 0, c);
  expect_layers("ln_2.weight", 0, c);
  expect_layers("ln_2.bias", 0, c);
  expect_layers("mlp.c_fc.weight", 4 * c, c);
  expect_layers("mlp.c_fc.bias", 0, 4 * c);
  expect_layers("mlp.c_proj.weight", c, 4 * c);
  expect_layers("mlp.c_proj.bias", 0, c);
  expect("ln_f.weight", 0, c);
  expect("ln_f.bias", 0, c);
  CHECK(at == elements(kPadded));
  CHECK(contains(all, "; block_size=3; gelu=tanh; n_embd=4; n_head=2; n_layer=2; vocab_size=5; by the header"));
}

TEST_CASE("llm.c: the three versions") {
  CHECK(contains(show_bytes(header(5) + std::string(2 * elements(kPadded), '\0')), "wte.weight bfloat16 [8, 4]"));
  CHECK(contains(show_bytes(header(1) + counting_f32(kVocab)), "wte.weight float32 [5, 4]"));
  CHECK(contains(show_bytes(header(2) + counting_f32()), "of version 2"));
  CHECK(contains(show_bytes(header(3) + counting_f32() + "x"), "; expected 3184 for the sizes in its header"));
}

TEST_CASE("llm.c: other machines and models") {
  std::string swapped = header(3);
  std::swap(swapped[0], swapped[3]);
  std::swap(swapped[1], swapped[2]);
  CHECK(contains(show_bytes(swapped), "big-endian"));
  CHECK(contains(show_bytes(header({20240803, 3})), "Llama 3"));
}

TEST_CASE("llm.c: headers that contradict themselves or the file") {
  const std::uint32_t huge = 0x7fffffff, large = 1u << 28;
  CHECK(is_refusal(show_bytes(header({20240326, 3, 0, 5, 2, 2, 4, 8}))));
  CHECK(is_refusal(show_bytes(header({20240326, 3, 3, 9, 2, 2, 4, 8}) + counting_f32())));  // more ids than rows
  CHECK(is_refusal(show_bytes(header({20240326, 3, 3, 5, 2, 3, 4, 8}) + counting_f32())));
  CHECK(is_refusal(show_bytes(header({20240326, 3, huge, huge, huge, huge, huge, huge}))));
  CHECK(is_refusal(show_bytes(header({20240326, 3, large, large, 2, 2, large, large}))));
  CHECK(is_refusal(show_bytes(header({20240326, 3, 3, 5, 5000, 2, 4, 8}) + counting_f32())));
}

TEST_CASE("llm.c: cut and damaged everywhere") { check_cut_and_damaged(header(3) + counting_f32(), 8 * 4 + 4); }

}  // namespace minnow::convert::test
