// The tables: which tensors the models of each family have. Depends on family.hpp.
#include "tools/convert/family.hpp"

namespace minnow::convert {

namespace {

template <class T, std::size_t N>
constexpr Span<const T> span_of(const T (&items)[N]) {
  return Span<const T>(items, N);
}

// nanoGPT's, and those of everything that took its names from GPT-2.
constexpr NamePattern kGpt2Names[] = {
    {"wte.weight", Role::wte},
    {"wpe.weight", Role::wpe},
    {"h.#.ln_1.weight", Role::ln_1_weight},
    {"h.#.ln_1.bias", Role::ln_1_bias},
    {"h.#.attn.c_attn.weight", Role::c_attn_weight},
    {"h.#.attn.c_attn.bias", Role::c_attn_bias},
    {"h.#.attn.c_proj.weight", Role::attn_c_proj_weight},
    {"h.#.attn.c_proj.bias", Role::attn_c_proj_bias},
    {"h.#.ln_2.weight", Role::ln_2_weight},
    {"h.#.ln_2.bias", Role::ln_2_bias},
    {"h.#.mlp.c_fc.weight", Role::c_fc_weight},
    {"h.#.mlp.c_fc.bias", Role::c_fc_bias},
    {"h.#.mlp.c_proj.weight", Role::mlp_c_proj_weight},
    {"h.#.mlp.c_proj.bias", Role::mlp_c_proj_bias},
    {"ln_f.weight", Role::ln_f_weight},
    {"ln_f.bias", Role::ln_f_bias},
    {"lm_head.weight", Role::lm_head_weight},
    {"lm_head.bias", Role::lm_head_bias},
    {"h.#.crossattention.c_attn.weight", Role::wte, Part::whole, "cross-attention"},
    {"h.#.attn.q_ln.weight", Role::wte, Part::whole, "a layer norm of the queries"},
};

constexpr SettingName kGpt2Settings[] = {
    {"n_layer", Field::n_layer},       {"n_head", Field::n_head},         {"n_embd", Field::n_embd},
    {"block_size", Field::block_size}, {"vocab_size", Field::vocab_size},
};

constexpr SettingName kNanogptSettings[] = {
    {"n_layer", Field::n_layer},       {"n_head", Field::n_head},         {"n_embd", Field::n_embd},
    {"block_size", Field::block_size}, {"vocab_size", Field::vocab_size}, {"bias", Field::biased},
};

constexpr SettingName kHuggingFaceSettings[] = {
    {"n_layer", Field::n_layer},
    {"n_head", Field::n_head},
    {"n_embd", Field::n_embd},
    {"n_positions", Field::block_size},
    {"vocab_size", Field::vocab_size},
    {"n_inner", Field::n_hidden},
    {"activation_function", Field::activation},
    {"layer_norm_epsilon", Field::norm_eps},
    {"scale_attn_weights", Field::scaled_scores},
    {"tie_word_embeddings", Field::tied_output},
    {"scale_attn_by_inverse_layer_idx", Field::off, "scores that are divided by the number of the layer"},
    {"add_cross_attention", Field::off, "cross-attention"},
};

// minGPT until mid-2022 and the copies of it: q, k and v apart or joined, positions as a parameter or an embedding.
constexpr NamePattern kMingptNames[] = {
    {"tok_emb.weight", Role::wte},
    {"pos_emb", Role::wpe},
    {"pos_emb.weight", Role::wpe},
    {"blocks.#.ln1.weight", Role::ln_1_weight},
    {"blocks.#.ln1.bias", Role::ln_1_bias},
    {"blocks.#.attn.query.weight", Role::c_attn_weight, Part::q},
    {"blocks.#.attn.query.bias", Role::c_attn_bias, Part::q},
    {"blocks.#.attn.key.weight", Role::c_attn_weight, Part::k},
    {"blocks.#.attn.key.bias", Role::c_attn_bias, Part::k},
    {"blocks.#.attn.value.weight", Role::c_attn_weight, Part::v},
    {"blocks.#.attn.value.bias", Role::c_attn_bias, Part::v},
    {"blocks.#.attn.c_attn.weight", Role::c_attn_weight},
    {"blocks.#.attn.c_attn.bias", Role::c_attn_bias},
    {"blocks.#.attn.proj.weight", Role::attn_c_proj_weight},
    {"blocks.#.attn.proj.bias", Role::attn_c_proj_bias},
    {"blocks.#.attn.c_proj.weight", Role::attn_c_proj_weight},
    {"blocks.#.attn.c_proj.bias", Role::attn_c_proj_bias},
    {"blocks.#.ln2.weight", Role::ln_2_weight},
    {"blocks.#.ln2.bias", Role::ln_2_bias},
    {"blocks.#.mlp.0.weight", Role::c_fc_weight},
    {"blocks.#.mlp.0.bias", Role::c_fc_bias},
    {"blocks.#.mlp.2.weight", Role::mlp_c_proj_weight},
    {"blocks.#.mlp.2.bias", Role::mlp_c_proj_bias},
    {"ln_f.weight", Role::ln_f_weight},
    {"ln_f.bias", Role::ln_f_bias},
    {"head.weight", Role::lm_head_weight},
    {"head.bias", Role::lm_head_bias},
};

// The GPT that is written in the video lecture "Let's build GPT": one linear layer a head.
constexpr NamePattern kLectureNames[] = {
    {"token_embedding_table.weight", Role::wte},
    {"position_embedding_table.weight", Role::wpe},
    {"blocks.#.ln1.weight", Role::ln_1_weight},
    {"blocks.#.ln1.bias", Role::ln_1_bias},
    {"blocks.#.sa.heads.@.query.weight", Role::c_attn_weight, Part::q},
    {"blocks.#.sa.heads.@.query.bias", Role::c_attn_bias, Part::q},
    {"blocks.#.sa.heads.@.key.weight", Role::c_attn_weight, Part::k},
    {"blocks.#.sa.heads.@.key.bias", Role::c_attn_bias, Part::k},
    {"blocks.#.sa.heads.@.value.weight", Role::c_attn_weight, Part::v},
    {"blocks.#.sa.heads.@.value.bias", Role::c_attn_bias, Part::v},
    {"blocks.#.sa.proj.weight", Role::attn_c_proj_weight},
    {"blocks.#.sa.proj.bias", Role::attn_c_proj_bias},
    {"blocks.#.ln2.weight", Role::ln_2_weight},
    {"blocks.#.ln2.bias", Role::ln_2_bias},
    {"blocks.#.ffwd.net.0.weight", Role::c_fc_weight},
    {"blocks.#.ffwd.net.0.bias", Role::c_fc_bias},
    {"blocks.#.ffwd.net.2.weight", Role::mlp_c_proj_weight},
    {"blocks.#.ffwd.net.2.bias", Role::mlp_c_proj_bias},
    {"ln_f.weight", Role::ln_f_weight},
    {"ln_f.bias", Role::ln_f_bias},
    {"lm_head.weight", Role::lm_head_weight},
    {"lm_head.bias", Role::lm_head_bias},
};

constexpr NamePattern kLlama2Names[] = {
    {"tok_embeddings.weight", Role::wte},
    {"layers.#.attention_norm.weight", Role::ln_1_weight},
    {"layers.#.attention.wq.weight", Role::c_attn_weight, Part::q},
    {"layers.#.attention.wk.weight", Role::c_attn_weight, Part::k},
    {"layers.#.attention.wv.weight", Role::c_attn_weight, Part::v},
    {"layers.#.attention.wo.weight", Role::attn_c_proj_weight},
    {"layers.#.ffn_norm.weight", Role::ln_2_weight},
    {"layers.#.feed_forward.w1.weight", Role::c_gate_weight},
    {"layers.#.feed_forward.w3.weight", Role::c_fc_weight},
    {"layers.#.feed_forward.w2.weight", Role::mlp_c_proj_weight},
    {"norm.weight", Role::ln_f_weight},
    {"output.weight", Role::lm_head_weight},
};

constexpr SettingName kLlama2Settings[] = {
    {"n_layers", Field::n_layer},      {"n_heads", Field::n_head},
    {"n_kv_heads", Field::n_kv_head},  {"dim", Field::n_embd},
    {"hidden_dim", Field::n_hidden},   {"max_seq_len", Field::block_size},
    {"vocab_size", Field::vocab_size}, {"norm_eps", Field::norm_eps},
};

constexpr NamePattern kNanochatNames[] = {
    {"wte.weight", Role::wte},
    {"h.#.attn.c_q.weight", Role::c_attn_weight, Part::q},
    {"h.#.attn.c_k.weight", Role::c_attn_weight, Part::k},
    {"h.#.attn.c_v.weight", Role::c_attn_weight, Part::v},
    {"h.#.attn.c_proj.weight", Role::attn_c_proj_weight},
    {"h.#.mlp.c_fc.weight", Role::c_fc_weight},
    {"h.#.mlp.c_proj.weight", Role::mlp_c_proj_weight},
    {"lm_head.weight", Role::lm_head_weight},
    // What later versions added. Their soft-caps, rotary bases and windows differ too.
    {"resid_lambdas", Role::wte, Part::whole, "residual scales (resid_lambdas)"},
    {"x0_lambdas", Role::wte, Part::whole, "a second path from the embedding (x0_lambdas)"},
    {"value_embeds.#.weight", Role::wte, Part::whole, "value embeddings (value_embeds)"},
    {"h.#.attn.ve_gate.weight", Role::wte, Part::whole, "value embeddings (ve_gate)"},
    {"h.#.attn.c_proj_scalar", Role::wte, Part::whole, "projection scales (c_proj_scalar)"},
    {"h.#.mlp.c_proj_scalar", Role::wte, Part::whole, "projection scales (c_proj_scalar)"},
    {"h.#.attn_norm.weight", Role::wte, Part::whole, "norms with weights (attn_norm)"},
    {"h.#.mlp_norm.weight", Role::wte, Part::whole, "norms with weights (mlp_norm)"},
    {"smear_gate.weight", Role::wte, Part::whole, "smeared embeddings (smear_gate)"},
    {"smear_lambda", Role::wte, Part::whole, "smeared embeddings (smear_lambda)"},
    {"backout_lambda", Role::wte, Part::whole, "a path back out of the middle (backout_lambda)"},
};

constexpr SettingName kNanochatSettings[] = {
    {"n_layer", Field::n_layer},
    {"n_head", Field::n_head},
    {"n_kv_head", Field::n_kv_head},
    {"n_embd", Field::n_embd},
    {"sequence_len", Field::block_size},
    {"vocab_size", Field::vocab_size},
    {"window_pattern", Field::whole_windows, "attention windows (window_pattern)"},
};

constexpr Config gpt2_config(Activation activation) {
  Config c;
  c.norm_eps = 1e-5f;
  c.activation = activation;
  return c;
}

constexpr Config llama2_config() {
  Config c;
  c.norm = Norm::rms;
  c.norm_eps = 1e-5f;
  c.positions = Positions::rotary;
  c.rotary_pairing = RotaryPairing::adjacent;
  c.rotary_base = 10000;
  c.activation = Activation::silu_gated;
  return c;
}

constexpr Config nanochat_config() {
  Config c;
  c.norm = Norm::rms;
  c.norm_eps = 0x1p-23f;  // PyTorch's for float32, where the code gives none
  c.positions = Positions::rotary;
  c.rotary_pairing = RotaryPairing::halves;
  c.rotary_base = 10000;
  c.activation = Activation::relu_squared;
  c.qk_norm = QkNorm::rms_after_rotary;
  c.embed_norm = EmbedNorm::same_as_norm;
  c.logit_softcap = 15;
  return c;
}

constexpr Family gpt2_family(const char* name, Clue clue, Span<const SettingName> settings, Activation activation) {
  Family f;
  f.name = name;
  f.clue = clue;
  f.patterns = span_of(kGpt2Names);
  f.settings = settings;
  f.config = gpt2_config(activation);
  return f;
}

constexpr Family hugging_face_family() {
  Family f = gpt2_family("Hugging Face GPT-2", Clue::conv1d, span_of(kHuggingFaceSettings), Activation::gelu_tanh);
  f.sidecar = Sidecar::config_json;
  f.gelu_unclear = GeluUnclear::bare;
  return f;
}

// Of GPT-2's names, where nothing but a clue tells what program wrote them.
constexpr Family nanogpt_family(const char* name, Clue clue, Activation activation) {
  Family f = gpt2_family(name, clue, span_of(kNanogptSettings), activation);
  f.gelu_unclear = GeluUnclear::bare_or_masked;
  return f;
}

constexpr Family llmc_family() {
  Family f = gpt2_family("llm.c", Clue::header, span_of(kGpt2Settings), Activation::gelu_tanh);
  f.padded_vocabulary = true;
  return f;
}

constexpr Family mingpt_family() {
  Family f = gpt2_family("minGPT", Clue::none, span_of(kGpt2Settings), Activation::gelu_erf);
  f.patterns = span_of(kMingptNames);
  f.own_output = true;
  return f;
}

constexpr Family lecture_family() {
  Family f = gpt2_family("the video lecture's GPT", Clue::none, span_of(kGpt2Settings), Activation::relu);
  f.patterns = span_of(kLectureNames);
  f.own_output = true;
  f.scale_unclear = true;
  return f;
}

constexpr Family llama2_family() {
  Family f;
  f.name = "llama2.c";
  f.patterns = span_of(kLlama2Names);
  f.settings = span_of(kLlama2Settings);
  f.config = llama2_config();
  return f;
}

constexpr Family nanochat_family() {
  Family f;
  f.name = "nanochat";
  f.patterns = span_of(kNanochatNames);
  f.settings = span_of(kNanochatSettings);
  f.config = nanochat_config();
  f.sidecar = Sidecar::meta_json;
  f.own_output = true;
  f.padded_vocabulary = true;
  f.rotates_back = true;
  return f;
}

constexpr Family kFamilies[] = {
    hugging_face_family(),
    llmc_family(),
    gpt2_family("build-nanogpt", Clue::config_object, span_of(kGpt2Settings), Activation::gelu_tanh),
    nanogpt_family("minGPT since 2022", Clue::untied, Activation::gelu_tanh),
    gpt2_family("nanoGPT of before 2023-01-27", Clue::no_bias_flag, span_of(kGpt2Settings), Activation::gelu_tanh),
    nanogpt_family("nanoGPT", Clue::none, Activation::gelu_erf),
    mingpt_family(),
    lecture_family(),
    llama2_family(),
    nanochat_family(),
};

// As config.json calls them.
constexpr ActivationName kActivations[] = {
    {"gelu", Activation::gelu_erf},       {"gelu_python", Activation::gelu_erf},
    {"gelu_new", Activation::gelu_tanh},  {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_fast", Activation::gelu_tanh}, {"gelu_accurate", Activation::gelu_tanh},
    {"relu", Activation::relu},           {"relu2", Activation::relu_squared},
};

}  // namespace

Span<const Family> families() { return span_of(kFamilies); }
Span<const ActivationName> activation_names() { return span_of(kActivations); }

}  // namespace minnow::convert
