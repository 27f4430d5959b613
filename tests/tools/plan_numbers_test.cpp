// tools/plan_numbers.hpp: numbers of the literature, worked by hand; a model file's own count; overflow.
#include "tools/plan_numbers.hpp"

#include <doctest/doctest.h>

#include "model/view.hpp"
#include "tests/session/families.hpp"
#include "tests/session/rig.hpp"

namespace minnow {
namespace {

Config gpt(std::uint32_t n_layer, std::uint32_t n_head, std::uint32_t n_embd) {
  Config c;
  c.n_layer = n_layer;
  c.n_head = c.n_kv_head = n_head;
  c.n_embd = n_embd;
  c.head_size = n_embd / n_head;
  c.n_hidden = 4 * n_embd;
  c.block_size = 1024;
  c.vocab_size = c.n_tokens = 50257;
  return c;
}

bool all(const void*, Role role, std::uint32_t) { return role != Role::lm_head_bias; }
bool no_biases(const void*, Role role, std::uint32_t) {
  return role == Role::ln_1_weight || role == Role::ln_2_weight || role == Role::ln_f_weight;
}

}  // namespace

TEST_CASE("plan_numbers: an attention block of width 512 with biases has 4 x 512^2 + 4 x 512 parameters") {
  ParameterCount count;
  REQUIRE(count_parameters(gpt(6, 8, 512), all, nullptr, &count));
  CHECK(count.attention_block == 1050624);
  CHECK(count.mlp == 2 * 4 * 512 * 512 + 5 * 512);
  CHECK(count.norms == (2 * 6 + 1) * 2 * 512);
  CHECK(count.embeddings == (50257 + 1024) * 512);
  CHECK(count.total == 6 * (count.attention_block + count.mlp) + count.norms + count.embeddings);
}

TEST_CASE("plan_numbers: GPT-2's sizes") {
  ParameterCount count;
  REQUIRE(count_parameters(gpt(12, 12, 768), all, nullptr, &count));
  CHECK(count.total == 124439808);
  REQUIRE(count_parameters(gpt(48, 25, 1600), all, nullptr, &count));
  CHECK(count.total == 1557611200);
}

TEST_CASE("plan_numbers: attention's costs") {
  AttentionCost cost;
  REQUIRE(attention_cost(gpt(1, 8, 512), 4, 1000, &cost));
  CHECK(cost.scores_a_head == 1000000);
  CHECK(cost.scores_a_layer == 8000000);
  REQUIRE(attention_cost(gpt(1, 8, 512), 4, 100000, &cost));
  CHECK(cost.scores_a_head == 10000000000);
  REQUIRE(attention_cost(gpt(1, 8, 512), 4, 4096, &cost));
  CHECK(cost.score_matrix_f32_bytes == 67108864);

  Config grouped_query = gpt(32, 32, 4096);
  grouped_query.n_kv_head = 8;
  REQUIRE(attention_cost(grouped_query, 2, 100000, &cost));
  CHECK(cost.kv_bytes_a_token == 131072);
  CHECK(cost.kv_bytes == 13107200000);
  CHECK(bytes_text(cost.kv_bytes) == "13,107,200,000 bytes (12.2 GiB)");
}

TEST_CASE("plan_numbers: what does not fit 64 bits is refused") {
  AttentionCost cost;
  ParameterCount count;
  Config c = gpt(1, 1, 64);
  CHECK(attention_cost(c, 4, 2147483647, &cost));
  CHECK(!attention_cost(c, 4, UINT32_MAX, &cost));  // times 4 bytes
  CHECK(!attention_cost(c, 4, UINT64_MAX, &cost));
  c.n_layer = c.n_kv_head = c.head_size = UINT32_MAX;
  CHECK(!attention_cost(c, 4, 1, &cost));
  CHECK(!count_parameters(c, no_biases, nullptr, &count));
  c = gpt(UINT32_MAX, 1, 1u << 20);
  CHECK(!count_parameters(c, no_biases, nullptr, &count));
}

TEST_CASE("plan_numbers: agrees with a model file, tensor by tensor") {
  for (const bool bias : {false, true}) {
    minnow::test::HandShape shape;
    shape.bias = bias;
    shape.type = 2;
    const minnow::test::AlignedBytes file = minnow::test::hand_built(shape);
    const Model model = minnow::test::open_model(file);
    ParameterCount count;
    const ModelView view(model);
    REQUIRE(count_parameters(view.config(), bias ? all : no_biases, nullptr, &count));
    CHECK(count.total == model.info().n_parameters);
    CHECK(count.weight_bytes >= view.header->data_bytes);
    CHECK(count.weight_bytes < view.header->data_bytes + 64);  // the last tensor needs no gap after it
  }
}

TEST_CASE("plan_numbers: agrees with a model file of every family") {
  const auto has = [](const void* user, Role role, std::uint32_t layer) {
    const ModelView& view = *static_cast<const ModelView*>(user);
    for (std::uint32_t i = 0; i < view.header->tensor_count; ++i) {
      if (view.tensor(i).role == role && view.tensor(i).layer == layer) return true;
    }
    return false;
  };
  for (const minnow::test::Family& family : minnow::test::families()) {
    CAPTURE(family.name);
    const minnow::test::AlignedBytes file = minnow::test::hand_built(family.shape);
    const Model model = minnow::test::open_model(file);
    const ModelView view(model);
    const Config& c = view.config();
    ParameterCount count;
    REQUIRE(count_parameters(c, has, &view, &count));
    CHECK(count.total == model.info().n_parameters);
    CHECK(count.weight_bytes >= view.header->data_bytes);
    CHECK(count.weight_bytes < view.header->data_bytes + 64);
    const bool separate = family.shape.output == 1;
    CHECK((count.output >= std::uint64_t{c.vocab_size} * c.n_embd) == separate);
    const std::uint64_t matrices = family.shape.activation == 4 ? 3 : 2;
    CHECK(count.mlp >= matrices * c.n_hidden * c.n_embd);
    CHECK(count.mlp <= matrices * c.n_hidden * c.n_embd + 2 * c.n_hidden + c.n_embd);
    AttentionCost cost;
    REQUIRE(attention_cost(c, 4, 10, &cost));
    CHECK(cost.kv_bytes_a_token == std::uint64_t{c.n_layer} * c.n_kv_head * c.head_size * 2 * 4);
    CHECK(cost.scores_a_layer == 100 * c.n_head);
  }
  // A llama of one layer, by hand: 4 query and 2 KV heads of 12 on a width of 40, MLP of 70 with a gate, 29 ids.
  minnow::test::HandShape shape = minnow::test::families()[0].shape;
  shape.n_layer = 1;
  const minnow::test::AlignedBytes file = minnow::test::hand_built(shape);
  const Model model = minnow::test::open_model(file);
  CHECK(model.info().n_parameters == 29 * 40 + 3 * 40 + (4 + 2 * 2) * 12 * 40 + 40 * 48 + 3 * 70 * 40);
}

TEST_CASE("plan_numbers: figures for people") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(UINT64_MAX) == "18,446,744,073,709,551,615");
  CHECK(bytes_text(1023) == "1,023 bytes");
  CHECK(bytes_text(1024) == "1,024 bytes (1.0 KiB)");
  CHECK(bytes_text(UINT64_MAX) == "18,446,744,073,709,551,615 bytes (16.0 EiB)");
}

}  // namespace minnow
