// tools/convert/recognise.cpp and the tables of families.cpp: names to families, features by name, messages.
#include "tools/convert/recognise.hpp"

#include <doctest/doctest.h>

#include <set>

#include "tests/convert/made_up.hpp"

namespace minnow::convert::test {

namespace {

std::string family_of(const Checkpoint& checkpoint) {
  try {
    return recognise(checkpoint).family->name;
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
}

Shapes with(Shapes shapes, const Shapes& more) {
  shapes.insert(shapes.end(), more.begin(), more.end());
  return shapes;
}

}  // namespace

TEST_CASE("families: no name stands twice in a table, and every table has a whole model") {
  for (const Family& family : families()) {
    std::set<std::string> names;
    for (const NamePattern& pattern : family.patterns) CHECK_MESSAGE(names.insert(pattern.name).second, pattern.name);
    for (const Role role : {Role::wte, Role::c_attn_weight, Role::attn_c_proj_weight, Role::c_fc_weight,
                            Role::mlp_c_proj_weight, Role::lm_head_weight}) {
      CHECK_MESSAGE(!family_name_of(family, {0, role, Part::whole, 0}).empty(), family.name, " ", role_name(role));
    }
    const bool gated = family.config.activation == Activation::silu_gated;
    CHECK(is_needed(family, Role::c_gate_weight) == gated);
    CHECK(is_needed(family, Role::wte));
    CHECK(family.config.norm_eps > 0);
  }
}

TEST_CASE("recognise: a model inside another, by whatever name") {
  for (const char* prefix : {"net.", "lit.gpt._orig_mod.", "a.b.module.c."}) {
    Shapes shapes = gpt2_shapes();
    for (auto& each : shapes) each.first = prefix + each.first;
    CHECK(family_of(made_up(shapes)) == "nanoGPT");
    shapes.push_back({"loss.weight", {2}});
    CHECK(contains(family_of(made_up(shapes)), "no tensor has a name that is known: "));
  }
}

TEST_CASE("recognise: tied tensors that were stored once under the output's name") {
  Shapes shapes = gpt2_shapes();
  shapes[0].first = "lm_head.weight";
  const Checkpoint checkpoint = made_up(shapes);
  const Recognised found = recognise(checkpoint);
  CHECK(found.pieces_of(kNoLayer, Role::wte) == found.pieces_of(kNoLayer, Role::lm_head_weight));
  PlanOptions options;
  options.n_head = 2;
  const Planned p = plan(checkpoint, options);
  CHECK(p.plan.config.output == Output::tied);
  CHECK(p.plan.config.vocab_size == 7);
  shapes = lecture_shapes();
  shapes.erase(shapes.begin());
  CHECK(contains(plan(made_up(shapes)).fault, "\"token_embedding_table.weight\" is missing"));
}

TEST_CASE("recognise: a family's own names") {
  const Checkpoint checkpoint = made_up(lecture_shapes());
  const Recognised lecture = recognise(checkpoint);
  CHECK(family_name_of(*lecture.family, {3, Role::c_attn_weight, Part::v, 2}) == "blocks.3.sa.heads.2.value.weight");
  CHECK(family_name_of(*lecture.family, {3, Role::c_attn_weight, Part::whole, 0}) ==
        "blocks.3.sa.heads.0.query.weight");
  CHECK(family_name_of(*lecture.family, {3, Role::c_gate_weight, Part::whole, 0}) == "");
  // Pieces come in the order of the joined rows, whatever the order in the file.
  const std::vector<const StoredTensor*> pieces = lecture.pieces_of(0, Role::c_attn_weight);
  REQUIRE(pieces.size() == 6);
  CHECK(pieces[0]->name == "blocks.0.sa.heads.0.query.weight");
  CHECK(pieces[1]->name == "blocks.0.sa.heads.1.query.weight");
  CHECK(pieces[2]->name == "blocks.0.sa.heads.0.key.weight");
  CHECK(pieces[5]->name == "blocks.0.sa.heads.1.value.weight");
  CHECK(lecture.pieces_of(0, Role::c_attn_weight, Part::k).size() == 2);
  CHECK(lecture.pieces_of(1, Role::c_attn_weight).empty());
}

TEST_CASE("recognise: what tells families with the same names apart") {
  const Settings sizes = {{"n_layer", whole(2)}, {"n_head", whole(2)}};
  const Shapes untied = with(gpt2_shapes(), {{"lm_head.weight", {7, 8}}});
  const Shapes masked = with(untied, {{"transformer.h.0.attn.bias", {1, 1, 6, 6}}});
  CHECK(family_of(made_up(gpt2_shapes())) == "nanoGPT");
  CHECK(family_of(made_up(gpt2_shapes(true))) == "Hugging Face GPT-2");
  CHECK(family_of(made_up(gpt2_shapes(), sizes, "the header")) == "llm.c");
  CHECK(family_of(made_up(gpt2_shapes(), sizes, "config")) == "build-nanogpt");
  CHECK(family_of(made_up(untied)) == "nanoGPT");
  CHECK(family_of(made_up(masked)) == "minGPT since 2022");
  CHECK(family_of(made_up(masked, sizes)) == "nanoGPT of before 2023-01-27");
  Settings with_bias = sizes;
  with_bias["bias"] = whole(1);
  CHECK(family_of(made_up(masked, with_bias)) == "nanoGPT");
  CHECK(family_of(made_up(gpt2_shapes(), sizes)) == "nanoGPT");
  Settings nanogpt = sizes;
  nanogpt["dropout"] = number_setting(0.1);
  CHECK(family_of(made_up(gpt2_shapes(), nanogpt, "config")) == "nanoGPT");
  CHECK(family_of(made_up(llama2_shapes())) == "llama2.c");
  CHECK(family_of(made_up(nanochat_shapes())) == "nanochat");
}

TEST_CASE("recognise: Conv1D is seen by c_attn, or without it by c_fc, never by square matrices") {
  Shapes shapes = gpt2_shapes(true);
  shapes.erase(shapes.begin() + 3);
  CHECK(family_of(made_up(shapes)) == "Hugging Face GPT-2");
  shapes.erase(shapes.begin() + 5);
  CHECK(shapes[5].first == "transformer.h.0.mlp.c_proj.weight");
  CHECK(family_of(made_up(shapes)) == "nanoGPT");
}

TEST_CASE("recognise: newer features are refused by name") {
  const std::pair<const char*, const char*> features[] = {
      {"resid_lambdas", "residual scales"},
      {"_orig_mod.x0_lambdas", "a second path from the embedding"},
      {"value_embeds.0.weight", "value embeddings"},
      {"transformer.h.0.attn.ve_gate.weight", "value embeddings"},
      {"transformer.h.0.attn_norm.weight", "norms with weights"},
      {"smear_gate.weight", "smeared embeddings"},
  };
  for (const auto& [name, feature] : features) {
    const std::string fault = family_of(made_up(with(nanochat_shapes(), {{name, {1}}, {"unheard_of", {2}}})));
    CHECK_MESSAGE(contains(fault, std::string("the model has ") + feature), fault);
    CHECK(contains(fault, "expected a model of nanochat without it"));
  }
  const std::string fault = family_of(made_up(with(gpt2_shapes(), {{"h.0.crossattention.c_attn.weight", {8, 16}}})));
  CHECK(contains(fault, "the model has cross-attention"));
}

TEST_CASE("recognise: the nearest family, what is left over, and what is missing") {
  Shapes shapes = llama2_shapes();
  shapes[4].first = "layers.0.attention.out.weight";
  CHECK(
      contains(family_of(made_up(shapes)),
               "the names are nearest to those of llama2.c, but \"layers.0.attention.out.weight\" [24, 24] is unknown "
               "and \"layers.0.attention.wo.weight\" is missing; expected the tensors of one family alone; -v lists"));
  shapes = with(llama2_shapes(), {{"a", {1}}, {"b", {2, 3}}, {"c", {}}, {"d", {4}}, {"e", {5}}});
  CHECK(contains(family_of(made_up(shapes)), "but \"a\" [1], \"b\" [2, 3], \"c\" [] and 2 more are unknown; expected"));
  CHECK(
      contains(family_of(made_up({{"a.weight", {2, 3}}})),
               "no tensor has a name that is known: \"a.weight\" [2, 3]; expected the names of Hugging Face GPT-2, "));
  CHECK(contains(family_of(made_up({})), "there are none; expected the names of"));
}

TEST_CASE("recognise: masks and tables of any age are no tensors, and show the context") {
  const auto mask_of = [](const std::string& name, const std::vector<std::uint64_t>& shape) {
    return recognise(made_up(with(gpt2_shapes(), {{name, shape}}))).mask_size;
  };
  CHECK(mask_of("transformer.h.0.attn.bias", {1, 1, 6, 6}) == 6);
  CHECK(mask_of("transformer.h.1.attn.mask", {6, 6}) == 6);
  CHECK(mask_of("transformer.h.0.attn.causal_mask", {1, 5, 5}) == 5);
  CHECK(mask_of("tril", {4, 4}) == 4);
  CHECK(mask_of("transformer.h.0.attn.masked_bias", {}) == std::nullopt);
  const Recognised tables = recognise(made_up(with(llama2_shapes(), {{"freqs_cos", {16, 3}}, {"freqs_sin", {16, 3}}})));
  CHECK(tables.mask_size == 16);
  CHECK(tables.rotary_pairs == 3);
  for (const auto& each : Shapes{{"transformer.h.0.attn.bias", {8}}, {"tril", {4, 5}}, {"x.masked_bias", {2}}}) {
    CHECK(contains(family_of(made_up(with(gpt2_shapes(), {each}))), "is unknown"));
  }
  Checkpoint repeated = made_up(with(gpt2_shapes(), {{"tril", {4, 4}}}));
  repeated.tensors.back().storage_elements = 15;
  CHECK(recognise(repeated).mask_size == std::nullopt);
}

}  // namespace minnow::convert::test
