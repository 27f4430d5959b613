// `minnow plan`: what a model costs before it is run, or even trained.
#include <cstdio>

#include "model/view.hpp"
#include "session/options.hpp"
#include "tools/commands.hpp"
#include "tools/json.hpp"
#include "tools/load.hpp"
#include "tools/plan_numbers.hpp"

namespace minnow {
namespace {

constexpr const char* kCommand = "plan";

// Of a bare shape. Without a figure: that of nanoGPT's GPTConfig, or what follows from others.
constexpr std::uint32_t kNotGiven = UINT32_MAX;
struct PlanOptions {
  std::string model;
  bool has_model = false;
  std::uint64_t n_layer = 0;
  std::uint64_t n_head = 0;
  std::uint64_t n_kv_head = 0;
  std::uint64_t n_embd = 0;
  std::uint64_t head_size = 0;
  std::uint64_t n_hidden = 0;
  std::uint64_t block_size = 0;
  std::uint64_t vocab_size = 0;
  bool bias = false;
  std::uint32_t type = kNotGiven;
  std::uint64_t tokens = 0;
  bool json = false;
  SessionOptions session;
};

struct Plan {
  Config config;
  ParameterCount parameters;
  AttentionCost attention;
  std::uint64_t tokens = 0;
  KvType kv = KvType::f16;
  std::uint32_t context = 0;
  std::size_t session_bytes = 0;
};

void bind(Options* options, PlanOptions* plan) {
  options->positional("MODEL", &plan->model, &plan->has_model);
  options->number("n-layer", "N", 1, kMaxDimension, &plan->n_layer, "layers (12)");
  options->number("n-head", "N", 1, kMaxDimension, &plan->n_head, "query heads (12)");
  options->number("n-kv-head", "N", 1, kMaxDimension, &plan->n_kv_head, "key and value heads (n-head)");
  options->number("n-embd", "N", 1, kMaxDimension, &plan->n_embd, "width of the residual stream (768)");
  options->number("head-size", "N", 1, kMaxDimension, &plan->head_size, "width of a head (n-embd / n-head)");
  options->number("n-hidden", "N", 1, kMaxDimension, &plan->n_hidden, "width of the MLP (4 n-embd)");
  options->number("block-size", "N", 1, kMaxDimension, &plan->block_size, "positions (1024)");
  options->number("vocab-size", "N", 1, kMaxDimension, &plan->vocab_size, "token ids (50304)");
  options->flag("bias", &plan->bias, "linear layers and norms have biases");
  options->choice("type", "TYPE",
                  {{"q8", static_cast<std::uint32_t>(WeightType::q8)},
                   {"q4", static_cast<std::uint32_t>(WeightType::q4)},
                   {"f16", static_cast<std::uint32_t>(WeightType::f16)},
                   {"f32", static_cast<std::uint32_t>(WeightType::f32)}},
                  &plan->type, "weights as q8, q4, f16 or f32 (q8)");
  options->number("tokens", "N", 1, UINT32_MAX, &plan->tokens,
                  "tokens to count keys, values and scores for (the context)");
  options->flag("json", &plan->json, "one JSON object");
  for (const char* name : {"n-layer", "n-head", "n-kv-head", "n-embd", "block-size", "vocab-size", "n-hidden"}) {
    std::string other = name;
    for (char& c : other) c = c == '-' ? '_' : c;
    options->alias(other.c_str(), name);  // as nanoGPT writes them
  }
  add_session_options(options, &plan->session);
}

bool bare_has(const void* user, Role role, std::uint32_t) {
  switch (role) {
    case Role::ln_1_weight:
    case Role::ln_2_weight:
    case Role::ln_f_weight:
      return true;
    case Role::lm_head_bias:
      return false;
    default:
      return *static_cast<const bool*>(user);  // every other optional tensor is a bias
  }
}

bool file_has(const void* user, Role role, std::uint32_t layer) {
  const ModelView& view = *static_cast<const ModelView*>(user);
  for (std::uint32_t i = 0; i < view.header->tensor_count; ++i) {
    if (view.tensor(i).role == role && view.tensor(i).layer == layer) return true;
  }
  return false;
}

int too_large() { return complain(kCommand, "a figure of this shape does not fit 64 bits; expected smaller numbers"); }

int plan_model(const PlanOptions& options, Plan* out) {
  LoadedModel model;
  LoadedSession session;
  if (const int status = open_model(kCommand, options.model, &model); status != kDone) return status;
  if (const int status = prepare_session(kCommand, model, options.session, &session); status != kDone) return status;
  const ModelView view(model.model);
  out->config = view.config();
  out->context = session.context;
  out->kv = session.kv;
  out->session_bytes = session.bytes;
  return count_parameters(out->config, file_has, &view, &out->parameters) ? kDone : too_large();
}

bool names_a_shape(const PlanOptions& o) {
  const bool figure =
      (o.n_layer | o.n_head | o.n_kv_head | o.n_embd | o.head_size | o.n_hidden | o.block_size | o.vocab_size) != 0;
  return figure || o.bias || o.type != kNotGiven;
}

int plan_shape(PlanOptions options, Plan* out) {
  const auto fill = [](std::uint64_t* figure, std::uint64_t standard) { *figure = *figure != 0 ? *figure : standard; };
  fill(&options.n_layer, 12);
  fill(&options.n_head, 12);
  fill(&options.n_embd, 768);
  fill(&options.block_size, 1024);
  fill(&options.vocab_size, 50304);
  Config& c = out->config;
  c.n_layer = static_cast<std::uint32_t>(options.n_layer);
  c.n_head = static_cast<std::uint32_t>(options.n_head);
  c.n_kv_head = options.n_kv_head != 0 ? static_cast<std::uint32_t>(options.n_kv_head) : c.n_head;
  c.n_embd = static_cast<std::uint32_t>(options.n_embd);
  c.block_size = static_cast<std::uint32_t>(options.block_size);
  c.vocab_size = c.n_tokens = static_cast<std::uint32_t>(options.vocab_size);
  c.weight_type = options.type != kNotGiven ? options.type : static_cast<std::uint32_t>(WeightType::q8);
  if (options.head_size == 0 && c.n_embd % c.n_head != 0) {
    return complain(kCommand,
                    "n-embd " + std::to_string(c.n_embd) + " is no multiple of n-head " + std::to_string(c.n_head) +
                        "; give --head-size",
                    kMisused);
  }
  if (c.n_head % c.n_kv_head != 0) {
    return complain(
        kCommand, "n-head " + std::to_string(c.n_head) + " is no multiple of n-kv-head " + std::to_string(c.n_kv_head),
        kMisused);
  }
  c.head_size = options.head_size != 0 ? static_cast<std::uint32_t>(options.head_size) : c.n_embd / c.n_head;
  const std::uint64_t hidden = options.n_hidden != 0 ? options.n_hidden : 4 * options.n_embd;
  if (hidden > kMaxDimension) return too_large();
  c.n_hidden = static_cast<std::uint32_t>(hidden);
  if (!count_parameters(c, bare_has, &options.bias, &out->parameters)) return too_large();

  SessionConfig config;
  if (const int status = session_config(kCommand, c.block_size, options.session, &config); status != kDone)
    return status;
  config.executor.width = threads_for(options.session, out->parameters.weight_bytes, c.n_layer);
  if (config.executor.width > 1) config.executor.run = [](void*, std::uint32_t, Job, void*) {};  // only counted
  SessionShape shape;
  Status status = session_shape(c, config, &shape);
  if (status == Status::ok) status = session_bytes(c, shape, &out->session_bytes);
  if (status != Status::ok) return complain(kCommand, session_refusal(status, config));
  out->context = shape.context;
  out->kv = shape.kv;
  return kDone;
}

void print_json(const Plan& plan) {
  const Config& c = plan.config;
  JsonObject json;
  json.add("n_layer", std::uint64_t{c.n_layer}).add("n_head", std::uint64_t{c.n_head});
  json.add("n_kv_head", std::uint64_t{c.n_kv_head}).add("n_embd", std::uint64_t{c.n_embd});
  json.add("head_size", std::uint64_t{c.head_size}).add("n_hidden", std::uint64_t{c.n_hidden});
  json.add("block_size", std::uint64_t{c.block_size}).add("vocab_size", std::uint64_t{c.vocab_size});
  json.add("type", to_string(static_cast<WeightType>(c.weight_type)));
  json.add("parameters", plan.parameters.total).add("attention_block_parameters", plan.parameters.attention_block);
  json.add("mlp_parameters", plan.parameters.mlp).add("norm_parameters", plan.parameters.norms);
  json.add("embedding_parameters", plan.parameters.embeddings).add("output_parameters", plan.parameters.output);
  json.add("weight_bytes", plan.parameters.weight_bytes);
  json.add("kv", to_string(plan.kv)).add("kv_bytes_a_token", plan.attention.kv_bytes_a_token);
  json.add("tokens", plan.tokens).add("kv_bytes", plan.attention.kv_bytes);
  json.add("scores_a_head", plan.attention.scores_a_head).add("scores_a_layer", plan.attention.scores_a_layer);
  json.add("score_matrix_f32_bytes", plan.attention.score_matrix_f32_bytes);
  json.add("context", std::uint64_t{plan.context}).add("session_bytes", std::uint64_t{plan.session_bytes});
  std::printf("%s\n", json.str().c_str());
}

void print_line(const char* name, const std::string& text) { std::printf("%-46s %s\n", name, text.c_str()); }

void print_text(const Plan& plan) {
  const Config& c = plan.config;
  const ParameterCount& p = plan.parameters;
  std::printf("%u%s, %u%s of %u (%u for keys and values), %u wide, MLP %u, block size %u, %u%s\n\n", c.n_layer,
              plural(c.n_layer, " layer").c_str(), c.n_head, plural(c.n_head, " head").c_str(), c.head_size,
              c.n_kv_head, c.n_embd, c.n_hidden, c.block_size, c.vocab_size, plural(c.vocab_size, " token id").c_str());
  print_line("parameters", grouped(p.total));
  print_line("  attention block, each layer", grouped(p.attention_block));
  print_line("  MLP, each layer", grouped(p.mlp));
  print_line("  norms, all", grouped(p.norms));
  print_line("  embeddings", grouped(p.embeddings));
  if (p.output != 0) print_line("  output matrix", grouped(p.output));
  const std::string type = to_string(static_cast<WeightType>(c.weight_type));
  print_line(("weights as " + type).c_str(), bytes_text(p.weight_bytes));
  const std::string tokens = grouped(plan.tokens) + plural(plan.tokens, " token");
  print_line((std::string("keys and values as ") + to_string(plan.kv) + ", a token").c_str(),
             bytes_text(plan.attention.kv_bytes_a_token));
  print_line(("  for " + tokens).c_str(), bytes_text(plan.attention.kv_bytes));
  print_line(("attention scores of " + tokens + ", a head").c_str(), grouped(plan.attention.scores_a_head));
  print_line("  a layer", grouped(plan.attention.scores_a_layer));
  print_line("  one float32 matrix (never stored)", bytes_text(plan.attention.score_matrix_f32_bytes));
  print_line(("session, context " + grouped(plan.context)).c_str(), bytes_text(plan.session_bytes));
}

}  // namespace

int plan_command(int argc, char** argv) {
  PlanOptions plan_options;
  Options options(kCommand, "plan (MODEL | --n-layer N --n-head N --n-embd N ..) [options]",
                  "Parameters, keys and values, attention scores and memory, before anything runs.");
  bind(&options, &plan_options);
  int status = kDone;
  if (!options.parse(argc, argv, &status)) return status;
  if (plan_options.has_model && names_a_shape(plan_options)) {
    return complain(kCommand, "found a MODEL and options of a shape, expected one of them", kMisused);
  }
  Plan plan;
  status = plan_options.has_model ? plan_model(plan_options, &plan) : plan_shape(plan_options, &plan);
  if (status != kDone) return status;
  plan.tokens = plan_options.tokens != 0 ? plan_options.tokens : plan.context;
  if (!attention_cost(plan.config, kv_bytes(plan.kv), plan.tokens, &plan.attention)) return too_large();
  plan_options.json ? print_json(plan) : print_text(plan);
  return kDone;
}

}  // namespace minnow
