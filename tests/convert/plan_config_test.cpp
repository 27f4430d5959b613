// tools/convert/plan_config.cpp: shapes, settings and options agree, or the contradiction is named.
#include "tools/convert/plan_config.hpp"

#include <doctest/doctest.h>

#include "tests/convert/made_up.hpp"

namespace minnow::convert::test {

namespace {

Settings hugging_face() {
  return {{"n_layer", whole(2)},        {"n_head", whole(2)},
          {"n_embd", whole(8)},         {"n_positions", whole(6)},
          {"vocab_size", whole(7)},     {"n_inner", Setting()},
          {"model_type", word("gpt2")}, {"activation_function", word("gelu_new")}};
}

Planned hugging_face_with(const std::string& name, const Setting& value, const PlanOptions& options = {}) {
  Settings settings = hugging_face();
  settings[name] = value;
  return plan(made_up(gpt2_shapes(true), settings, "config.json"), options);
}

Planned llama2_with(const std::string& name, const Setting& value) {
  Settings settings = llama2_settings();
  settings[name] = value;
  return plan(made_up(llama2_shapes(), settings));
}

Shapes without(Shapes shapes, const std::string& name) {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].first == name) return shapes.erase(shapes.begin() + static_cast<std::ptrdiff_t>(i)), shapes;
  }
  FAIL("no tensor " << name);
  return shapes;
}

Shapes with(Shapes shapes, const Shapes& more) {
  shapes.insert(shapes.end(), more.begin(), more.end());
  return shapes;
}

PlanOptions heads(std::uint64_t n) {
  PlanOptions out;
  out.n_head = n;
  return out;
}

}  // namespace

TEST_CASE("plan_config: llama2.c") {
  const Planned p = plan(made_up(llama2_shapes(), llama2_settings()));
  REQUIRE(p.fault == "");
  const Config& c = p.plan.config;
  CHECK(c.n_layer == 1);
  CHECK(c.n_head == 4);
  CHECK(c.n_kv_head == 2);
  CHECK(c.head_size == 6);
  CHECK(c.n_hidden == 40);
  CHECK(c.block_size == 16);
  CHECK(c.norm == Norm::rms);
  CHECK(c.norm_eps == 1e-5f);
  CHECK(c.positions == Positions::rotary);
  CHECK(c.rotary_pairing == RotaryPairing::adjacent);
  CHECK(c.rotary_dims == 6);
  CHECK(c.activation == Activation::silu_gated);
  CHECK(c.output == Output::tied);
  CHECK(llama2_with("norm_eps", number_setting(1e-6)).plan.config.norm_eps == 1e-6f);
  CHECK(llama2_with("n_kv_heads", Setting()).plan.config.n_kv_head == 2);
  for (const char* name : {"n_layers", "n_kv_heads", "dim", "hidden_dim", "vocab_size"}) {
    CHECK(contains(llama2_with(name, whole(3)).fault, std::string("model_args['") + name + "'] is 3 but the tensors"));
    CHECK(
        contains(llama2_with(name, number_setting(4)).fault, "is a decimal number; expected a positive whole number"));
    CHECK(contains(llama2_with(name, word("4")).fault, "is a text, \"4\"; expected a positive whole number"));
    CHECK(contains(llama2_with(name, truth(true)).fault, "is true; expected a positive whole number"));
    CHECK(contains(llama2_with(name, whole(0)).fault, "is 0; expected a positive whole number"));
  }
  CHECK(contains(llama2_with("n_heads", whole(8)).fault, "model_args['n_kv_heads'] is 2 but the tensors say 4"));
  Settings odd = llama2_settings();
  odd["n_heads"] = whole(8);
  odd.erase("n_kv_heads");
  CHECK(contains(plan(made_up(llama2_shapes(), odd)).fault, "a head has 3 numbers; expected an even count"));
  CHECK(contains(llama2_with("n_heads", whole(1)).fault, "the keys have 12 rows, which are no whole heads of 24"));
  CHECK(contains(llama2_with("norm_eps", number_setting(-1)).fault, "is below 0 or not finite; expected a number"));
  CHECK(contains(llama2_with("norm_eps", word("1e-5")).fault, "is a text, \"1e-5\"; expected a number from 0 on"));
  CHECK(contains(llama2_with("norm_eps", number_setting(1e300)).fault, "is above 1"));
}

TEST_CASE("plan_config: heads are asked for, unless tensors show them") {
  Settings settings = llama2_settings();
  settings.erase("n_heads");
  CHECK(contains(plan(made_up(llama2_shapes(), settings)).fault, "give it with --n-head"));
  CHECK(plan(made_up(llama2_shapes(), settings), heads(4)).plan.config.n_kv_head == 2);
  Shapes shapes = llama2_shapes();
  shapes.push_back({"freqs_cos", {16, 3}});
  CHECK(plan(made_up(shapes)).plan.config.n_head == 4);
  CHECK(plan(made_up(shapes)).plan.config.block_size == 16);
  CHECK(contains(plan(made_up(shapes), heads(2)).fault, "n_head of the tensors is 4 but --n-head says 2"));
  settings["n_heads"] = whole(2);
  CHECK(contains(plan(made_up(shapes, settings)).fault, "model_args['n_heads'] is 2 but the tensors say 4"));

  const Planned lecture = plan(made_up(lecture_shapes()));
  CHECK(lecture.plan.config.n_head == 2);
  CHECK(lecture.plan.config.n_kv_head == 2);
  CHECK(lecture.plan.config.head_size == 3);
  CHECK(lecture.plan.config.activation == Activation::relu);
  CHECK(contains(plan(made_up(lecture_shapes()), heads(3)).fault, "n_head of the tensors is 2 but --n-head says 3"));
  CHECK(contains(plan(made_up(lecture_shapes(), {{"n_head", whole(6)}})).fault, "is 6 but the tensors say 2"));
}

TEST_CASE("plan_config: the lecture's scale is said, recorded, and may be chosen") {
  PlanOptions options;
  CHECK(plan(made_up(lecture_shapes())).plan.choices == std::vector<std::string>{"attn_scale=head"});
  CHECK(plan(made_up(lecture_shapes())).plan.config.attention_scale == 0);
  options.attention_scale = AttentionScale::embd;
  const Planned p = plan(made_up(lecture_shapes()), options);
  CHECK(p.plan.choices == std::vector<std::string>{"attn_scale=embd"});
  CHECK(p.plan.config.attention_scale == 0.408248290463863f);
  CHECK(contains(hugging_face_with("scale_attn_weights", truth(false), options).fault, "leave it out"));
}

TEST_CASE("plan_config: nanochat") {
  Settings settings = nanochat_settings();
  const Planned p = plan(made_up(nanochat_shapes(), settings, "meta_000001.json"));
  REQUIRE(p.fault == "");
  const Config& c = p.plan.config;
  CHECK(c.n_kv_head == 2);
  CHECK(c.head_size == 4);
  CHECK(c.block_size == 12);
  CHECK(c.rotary_pairing == RotaryPairing::halves);
  CHECK(c.qk_norm == QkNorm::rms_after_rotary);
  CHECK(c.embed_norm == EmbedNorm::same_as_norm);
  CHECK(c.logit_softcap == 15);
  CHECK(c.activation == Activation::relu_squared);
  CHECK(c.output == Output::separate);
  for (const PlannedTensor& tensor : p.plan.tensors) {
    if (tensor.role == Role::rotary_frequencies) CHECK(tensor.values == std::vector<float>{-1.0f, -0.01f});
  }
  settings["vocab_size"] = whole(9);  // rows may be padded
  CHECK(plan(made_up(nanochat_shapes(), settings)).plan.config.vocab_size == 10);
  CHECK(plan(made_up(nanochat_shapes(), settings)).plan.config.n_tokens == 9);
  settings["vocab_size"] = whole(11);
  CHECK(contains(plan(made_up(nanochat_shapes(), settings)).fault, "is 11 but the tensors say 10"));
  settings["vocab_size"] = whole(10);
  settings["window_pattern"] = word("L");
  CHECK(plan(made_up(nanochat_shapes(), settings)).fault == "");
  settings["window_pattern"] = word("SSSL");
  CHECK(contains(plan(made_up(nanochat_shapes(), settings, "meta_000001.json")).fault,
                 "the model has attention windows (window_pattern), says meta_000001.json['window_pattern']"));
}

TEST_CASE("plan_config: Hugging Face's settings") {
  const Planned p = hugging_face_with("reorder_and_upcast_attn", truth(true));
  REQUIRE(p.fault == "");
  CHECK(p.plan.config.n_hidden == 32);
  CHECK(p.plan.config.activation == Activation::gelu_tanh);
  CHECK(p.plan.tensors[3].sources[0].shape[0] == 24);  // c_attn, turned
  CHECK(hugging_face_with("activation_function", word("gelu")).plan.config.activation == Activation::gelu_erf);
  CHECK(hugging_face_with("activation_function", word("relu")).plan.config.activation == Activation::relu);
  CHECK(hugging_face_with("layer_norm_epsilon", number_setting(1e-6)).plan.config.norm_eps == 1e-6f);
  CHECK(hugging_face_with("scale_attn_weights", truth(false)).plan.config.attention_scale == 1);
  CHECK(hugging_face_with("scale_attn_weights", truth(true)).plan.config.attention_scale == 0);
  CHECK(hugging_face_with("n_inner", whole(32)).fault == "");
  CHECK(hugging_face_with("tie_word_embeddings", truth(true)).fault == "");
  CHECK(contains(hugging_face_with("n_inner", whole(16)).fault, "config.json['n_inner'] is 16 but the tensors say 32"));
  CHECK(contains(hugging_face_with("activation_function", word("mish")).fault, "is \"mish\"; expected one of gelu, "));
  CHECK(contains(hugging_face_with("activation_function", whole(1)).fault, "is no name; expected one of"));
  CHECK(contains(hugging_face_with("scale_attn_by_inverse_layer_idx", truth(true)).fault, "number of the layer, says"));
  CHECK(contains(hugging_face_with("add_cross_attention", truth(true)).fault, "the model has cross-attention, says"));
  CHECK(contains(hugging_face_with("tie_word_embeddings", truth(false)).fault, "\"lm_head.weight\" is missing"));
  CHECK(contains(hugging_face_with("scale_attn_weights", word("yes")).fault,
                 "is a text, \"yes\"; expected true or false"));
  Shapes untied = gpt2_shapes(true);
  untied.push_back({"lm_head.weight", {7, 8}});
  Settings settings = hugging_face();
  CHECK(contains(plan(made_up(untied, settings, "config.json")).fault,
                 "config.json['tie_word_embeddings'] is absent, so true, but \"lm_head.weight\" differs"));
  CHECK(plan(made_up(untied), heads(2)).plan.config.output == Output::separate);
  CHECK(plan(made_up(untied, settings, "args")).plan.config.output == Output::separate);
  settings["tie_word_embeddings"] = truth(false);
  CHECK(plan(made_up(untied, settings, "config.json")).plan.config.output == Output::separate);
  settings["tie_word_embeddings"] = truth(true);
  CHECK(contains(plan(made_up(untied, settings, "config.json")).fault,
                 "is true but \"lm_head.weight\" differs from the embedding"));
}

TEST_CASE("plan_config: nanoGPT's bias setting is what its tensors show") {
  const Shapes plain = gpt2_shapes();
  const Shapes biased = with(plain, {{"transformer.h.1.ln_1.bias", {8}}});
  Settings settings = {{"n_layer", whole(2)}, {"n_head", whole(2)}};
  CHECK(plan(made_up(biased, settings)).fault == "");
  settings["bias"] = truth(false);
  CHECK(plan(made_up(plain, settings)).fault == "");
  CHECK(contains(plan(made_up(biased, settings)).fault,
                 "model_args['bias'] is false but \"transformer.h.1.ln_1.bias\" is there; expected the same"));
  // A mask is none.
  CHECK(plan(made_up(with(plain, {{"transformer.h.0.attn.bias", {1, 1, 6, 6}}}), settings)).fault == "");
  settings["bias"] = truth(true);
  CHECK(plan(made_up(biased, settings)).fault == "");
  CHECK(contains(plan(made_up(plain, settings)).fault, "model_args['bias'] is true but no tensor is a bias; expected"));
}

TEST_CASE("plan_config: what is not known is also in the file that was not found") {
  const std::string hugging = plan(made_up(gpt2_shapes(true))).fault;
  CHECK(contains(hugging, "give it with --n-head, or put the model's config.json beside the checkpoint"));
  const std::string nanochat = plan(made_up(nanochat_shapes())).fault;
  CHECK(contains(nanochat, "give it with --n-head, or put the model's meta_<step>.json beside the checkpoint"));
  CHECK(contains(plan(made_up(nanochat_shapes()), heads(4)).fault,
                 "give it with --block-size, or put the model's meta_<step>.json beside the checkpoint"));
  CHECK_FALSE(contains(plan(made_up(gpt2_shapes())).fault, ".json"));
  const Settings without_heads = {{"n_layer", whole(2)}};
  CHECK_FALSE(contains(plan(made_up(gpt2_shapes(true), without_heads, "config.json")).fault, "beside"));
}

TEST_CASE("plan_config: a form of GELU that is assumed is said") {
  using Choices = std::vector<std::string>;
  const Shapes plain = gpt2_shapes();
  const Shapes masked = with(plain, {{"transformer.h.0.attn.bias", {1, 1, 6, 6}}});
  const Shapes untied = with(masked, {{"lm_head.weight", {7, 8}}});
  Settings sizes = {{"n_layer", whole(2)}, {"n_head", whole(2)}};
  CHECK(plan(made_up(plain), heads(2)).plan.choices == Choices{"gelu=erf (assumed)"});
  CHECK(plan(made_up(plain, {{"lr", whole(1)}}, "args"), heads(2)).plan.choices == Choices{"gelu=erf (assumed)"});
  CHECK(plan(made_up(masked), heads(2)).plan.choices == Choices{"gelu=erf (assumed)"});
  CHECK(plan(made_up(untied), heads(2)).plan.choices == Choices{"gelu=tanh (assumed)"});
  CHECK(plan(made_up(gpt2_shapes(true)), heads(2)).plan.choices == Choices{"gelu=tanh (assumed)"});
  // Settings, or what the family always has.
  CHECK(plan(made_up(plain, sizes)).plan.choices.empty());
  CHECK(plan(made_up(masked, sizes)).plan.choices.empty());  // of before 2023-01-27
  CHECK(plan(made_up(plain, sizes, "the header")).plan.choices.empty());
  CHECK(plan(made_up(plain, sizes, "config")).plan.choices.empty());
  CHECK(plan(made_up(gpt2_shapes(true), hugging_face(), "config.json")).plan.choices ==
        Choices{"settings=config.json"});
  sizes["bias"] = truth(false);
  CHECK(plan(made_up(plain, sizes)).plan.choices.empty());
  CHECK(plan(made_up(masked, sizes)).plan.choices == Choices{"gelu=erf (assumed)"});
}

TEST_CASE("plan_config: GELU's form can be chosen where there is one, and not against the settings") {
  PlanOptions options = heads(2);
  options.gelu = Activation::gelu_tanh;
  const Planned p = plan(made_up(gpt2_shapes()), options);
  CHECK(p.plan.config.activation == Activation::gelu_tanh);
  CHECK(p.plan.choices == std::vector<std::string>{"gelu=tanh"});
  CHECK(contains(plan(made_up(lecture_shapes()), options).fault, "the model does not use GELU"));
  options.gelu = Activation::gelu_erf;
  CHECK(contains(hugging_face_with("n_head", whole(2), options).fault, "is not what --gelu says"));
}

TEST_CASE("plan_config: models without a table of positions") {
  const Shapes shapes = without(gpt2_shapes(), "transformer.wpe.weight");
  PlanOptions options = heads(2);
  CHECK(contains(plan(made_up(shapes), options).fault, "say how with --positions sinusoidal or none"));
  options.positions = Positions::none;
  CHECK(contains(plan(made_up(shapes), options).fault, "give it with --block-size"));
  CHECK(plan(made_up(shapes, {{"block_size", whole(9)}}), options).plan.config.block_size == 9);
  Shapes masked = shapes;
  masked.push_back({"transformer.h.0.attn.bias", {1, 1, 11, 11}});
  CHECK(plan(made_up(masked), options).plan.config.block_size == 11);
  options.block_size = 5;
  CHECK(plan(made_up(masked), options).plan.config.block_size == 5);
  options.positions = Positions::sinusoidal;
  const Planned p = plan(made_up(shapes), options);
  REQUIRE(p.fault == "");
  CHECK(p.plan.choices == std::vector<std::string>{"gelu=erf (assumed)", "positions=sinusoidal"});
  CHECK(p.plan.tensors[1].role == Role::wpe);
  CHECK(p.plan.tensors[1].values.size() == 5 * 8);
  options.block_size = 1u << 24;
  CHECK(contains(plan(made_up(shapes), options).fault, "give a smaller --block-size"));
}

TEST_CASE("plan_config: options that the model contradicts") {
  PlanOptions options = heads(2);
  options.positions = Positions::none;
  CHECK(contains(plan(made_up(gpt2_shapes()), options).fault, "the model has a table of positions"));
  CHECK(contains(plan(made_up(llama2_shapes(), llama2_settings()), options).fault, "but --n-head says 2"));
  options.n_head.reset();
  CHECK(contains(plan(made_up(llama2_shapes(), llama2_settings()), options).fault, "the model has rotary positions"));
  options = heads(2);
  options.block_size = 6;
  CHECK(plan(made_up(gpt2_shapes()), options).fault == "");
  options.block_size = 7;
  CHECK(contains(plan(made_up(gpt2_shapes()), options).fault, "has 6 rows but --block-size says 7"));
}

TEST_CASE("plan_config: parts are there all, each once, and of their size") {
  const auto lecture_without = [](const std::string& name) {
    return plan(made_up(without(lecture_shapes(), name))).fault;
  };
  CHECK(contains(lecture_without("blocks.0.sa.heads.1.key.weight"), "\"blocks.0.sa.heads.1.key.weight\" is missing"));
  CHECK(contains(lecture_without("blocks.0.sa.heads.0.value.weight"), "heads.0.value.weight\" is missing"));
  CHECK(contains(lecture_without("lm_head.weight"), "\"lm_head.weight\" is missing"));
  const auto lecture_with = [](const std::string& name, const std::vector<std::uint64_t>& shape) {
    Shapes shapes = lecture_shapes();
    shapes.push_back({name, shape});
    return plan(made_up(shapes)).fault;
  };
  CHECK(contains(lecture_with("blocks.0.sa.heads.1.query.bias", {3}), "\"blocks.0.sa.heads.0.query.bias\" is missing"));
  CHECK(contains(lecture_with("blocks.0.sa.heads.7.value.weight", {3, 6}), "layer 0 has 7 pieces of"));
  Shapes shapes = llama2_shapes();
  shapes[3].second = {24, 24};
  CHECK(contains(plan(made_up(shapes, llama2_settings())).fault,
                 "\"layers.0.attention.wv.weight\" has the shape [24, 24]; expected [12, 24]"));
  shapes = gpt2_shapes(true);
  shapes[5].second = {4, 8};
  CHECK(plan(made_up(shapes), heads(2)).fault != "");
  shapes = gpt2_shapes(true);
  shapes[9].second = {8, 23};  // in the file's own order of dimensions
  CHECK(contains(plan(made_up(shapes), heads(2)).fault, "has the shape [8, 23]; expected [8, 24]"));
}

}  // namespace minnow::convert::test
