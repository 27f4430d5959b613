// `minnow info`: what a model file holds, what a session over it needs, and what would run it.
#include <cstdio>

#include "kernels/kernels.hpp"
#include "model/check_tokenizer.hpp"
#include "model/view.hpp"
#include "session/state.hpp"
#include "tools/commands.hpp"
#include "tools/json.hpp"
#include "tools/load.hpp"
#include "tools/plan_numbers.hpp"

namespace minnow {
namespace {

constexpr const char* kCommand = "info";

const char* name_of(Norm norm) { return norm == Norm::layer ? "layer" : "rms"; }

const char* name_of(Positions positions) {
  switch (positions) {
    case Positions::learned:
      return "learned";
    case Positions::sinusoidal:
      return "sinusoidal";
    case Positions::rotary:
      return "rotary";
    case Positions::none:
      return "none";
  }
  return "unknown";
}

const char* name_of(Activation activation) {
  switch (activation) {
    case Activation::gelu_erf:
      return "gelu_erf";
    case Activation::gelu_tanh:
      return "gelu_tanh";
    case Activation::relu:
      return "relu";
    case Activation::relu_squared:
      return "relu_squared";
    case Activation::silu_gated:
      return "silu_gated";
  }
  return "unknown";
}

const char* name_of(QkNorm norm) {
  switch (norm) {
    case QkNorm::none:
      return "none";
    case QkNorm::rms_before_rotary:
      return "rms_before_rotary";
    case QkNorm::rms_after_rotary:
      return "rms_after_rotary";
  }
  return "unknown";
}

bool has_biases(const ModelView& view) {
  for (std::uint32_t i = 0; i < view.header->tensor_count; ++i) {
    const std::string_view name = role_name(view.tensor(i).role);
    if (name.size() > 5 && name.substr(name.size() - 5) == ".bias") return true;
  }
  return false;
}

// What the model is beside its shape, in words.
std::string family_text(const ModelView& view) {
  const Config& c = view.config();
  std::string text = std::string(name_of(c.norm)) + " norm, " + name_of(c.positions) + " positions";
  if (c.positions == Positions::rotary) {
    text += " (" + std::string(c.rotary_pairing == RotaryPairing::adjacent ? "adjacent pairs" : "halves") + ", " +
            std::to_string(c.rotary_dims) + " of " + std::to_string(c.head_size) + " dims)";
  }
  text += std::string(", ") + name_of(c.activation) + ", " + (has_biases(view) ? "biases" : "no biases") + ", " +
          (c.output == Output::tied ? "tied output" : "separate output");
  if (c.embed_norm != EmbedNorm::none) text += ", normed embedding";
  if (c.qk_norm != QkNorm::none) text += std::string(", QK norm ") + name_of(c.qk_norm);
  if (c.attention_scale != 0) text += ", attention scale " + json_number(static_cast<double>(c.attention_scale));
  if (c.logit_softcap != 0) text += ", logits capped at " + json_number(static_cast<double>(c.logit_softcap));
  return text;
}

// Rows that are no ids are padding of the embedding.
std::string vocabulary_text(const ModelInfo& m) {
  const std::string rows = grouped(m.vocab_size);
  if (m.has_text) return rows + plural(m.vocab_size, " id") + ", " + grouped(m.n_tokens) + " with text";
  if (m.n_tokens == m.vocab_size) return rows + plural(m.vocab_size, " id") + ", no text in the file";
  return grouped(m.n_tokens) + plural(m.n_tokens, " id") + " in " + rows + " rows, without text";
}

// Of the matrices; the embedding and the output matrix of a q4 model may be of another type than the layers.
std::string types_text(const ModelView& view) {
  const auto type = static_cast<WeightType>(view.config().weight_type);
  const bool tied = view.config().output == Output::tied;
  std::string text = to_string(type);
  for (std::uint32_t i = 0; i < view.header->tensor_count; ++i) {
    const TensorEntry& entry = view.tensor(i);
    const auto other = static_cast<WeightType>(entry.type);
    if (other == type || (entry.role != Role::wte && entry.role != Role::lm_head_weight)) continue;
    text += entry.role == Role::wte ? (tied ? ", embedding and output" : ", embedding") : ", output";
    text += std::string(" as ") + to_string(other);
  }
  return text;
}

const char* name_of(TokenizerKind kind) {
  switch (kind) {
    case TokenizerKind::characters:
      return "characters";
    case TokenizerKind::bytes:
      return "bytes";
    case TokenizerKind::byte_level_bpe:
      return "byte_level_bpe";
    case TokenizerKind::scored_bpe:
      return "scored_bpe";
  }
  return "unknown";
}

// Null without a tokenizer.
const TokenizerHeader* tokenizer_of(const ModelView& view) {
  return view.tokenizer().empty() ? nullptr : view_tokenizer(view.tokenizer().data()).header;
}

std::string tokenizer_text(const TokenizerHeader& t) {
  std::string text = name_of(t.kind);
  if (t.split == TokenizerSplit::gpt2) text += ", GPT-2's split";
  if (t.n_merges != 0) text += ", " + grouped(t.n_merges) + plural(t.n_merges, " merge");
  if (t.n_special != 0) text += ", " + grouped(t.n_special) + plural(t.n_special, " special token");
  if (t.begin != 0) text += ", texts begin with id " + std::to_string(t.begin - 1);
  if (t.space_prefix != 0) text += t.begin != 0 ? " and a space" : ", texts begin with a space";
  return text + ", longest " + grouped(t.max_piece_bytes) + plural(t.max_piece_bytes, " byte");
}

std::string tokenizer_json(const TokenizerHeader& t) {
  JsonObject json;
  json.add("kind", name_of(t.kind)).add("split", t.split == TokenizerSplit::gpt2 ? "gpt2" : "none");
  json.add("n_merges", std::uint64_t{t.n_merges}).add("n_special", std::uint64_t{t.n_special});
  json.raw("begin", t.begin == 0 ? "null" : std::to_string(t.begin - 1)).add("space_prefix", t.space_prefix != 0);
  return json.add("max_piece_bytes", std::uint64_t{t.max_piece_bytes}).str();
}

struct Kernelset {
  const Kernels* tables[kMaxKernels];
  std::size_t count;

  Kernelset() : count(available_kernels(tables)) {}
};

// Everything that both forms print.
struct Info {
  const LoadedModel* model = nullptr;
  ModelView view;
  Isa isa = Isa::reference;
  KvType kv = KvType::f16;
  std::uint32_t context = 0;
  std::uint32_t threads = 1;
  std::uint64_t session_bytes = 0;
  AttentionCost attention;
  bool checked = false;
  bool verified = false;
  Kernelset kernels;

  explicit Info(const LoadedModel& loaded) : model(&loaded), view(loaded.model) {}
};

// "key=value" lines as pairs, in the order of the file.
template <class Each>
void for_each_provenance(std::string_view text, const Each& each) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) each(std::string(line.substr(0, equals)), line.substr(equals + 1));
  }
}

void print_json(const Info& info) {
  const ModelInfo& m = info.model->info;
  const Config& c = info.view.config();
  JsonObject json;
  json.add("file_bytes", m.file_bytes).add("session_bytes", info.session_bytes);
  json.add("n_layer", std::uint64_t{m.n_layer}).add("n_head", std::uint64_t{m.n_head});
  json.add("n_kv_head", std::uint64_t{m.n_kv_head}).add("n_embd", std::uint64_t{m.n_embd});
  json.add("head_size", std::uint64_t{m.head_size}).add("n_hidden", std::uint64_t{m.n_hidden});
  json.add("block_size", std::uint64_t{m.block_size}).add("vocab_size", std::uint64_t{m.vocab_size});
  json.add("n_tokens", std::uint64_t{m.n_tokens}).add("n_parameters", m.n_parameters);
  json.add("type", to_string(m.type)).add("has_text", m.has_text).add("bias", has_biases(info.view));
  json.add("norm", name_of(c.norm)).add("positions", name_of(c.positions)).add("activation", name_of(c.activation));
  json.add("tied", c.output == Output::tied).add("rotary_dims", std::uint64_t{c.rotary_dims});
  json.add("qk_norm", name_of(c.qk_norm)).add("embed_norm", c.embed_norm != EmbedNorm::none);
  json.add("attention_scale", static_cast<double>(c.attention_scale));  // 0: 1 / sqrt(head_size)
  json.add("logit_softcap", static_cast<double>(c.logit_softcap));      // 0: none
  const TokenizerHeader* const tokenizer = tokenizer_of(info.view);
  json.raw("tokenizer", tokenizer == nullptr ? "null" : tokenizer_json(*tokenizer));
  json.add("kv", to_string(info.kv)).add("kv_bytes_a_token", info.attention.kv_bytes_a_token);
  json.add("context", std::uint64_t{info.context}).add("threads", std::uint64_t{info.threads});
  json.add("isa", to_string(info.isa)).add("kernels", kernels_name(info.isa).c_str());
  Isa isas[kIsaCount];
  const std::size_t count = available_isas({isas, kIsaCount});
  json.raw("available", json_array(count, [&](std::size_t i) { return json_string(to_string(isas[i])); }));
  if (info.checked) json.add("verified", info.verified);
  JsonObject provenance;
  for_each_provenance(m.provenance,
                      [&](const std::string& key, std::string_view value) { provenance.add(key.c_str(), value); });
  json.raw("provenance", provenance.str());
  std::printf("%s\n", json.str().c_str());
}

void print_line(const char* name, const std::string& text) { std::printf("%-12s %s\n", name, text.c_str()); }

void print_text(const Info& info) {
  const ModelInfo& m = info.model->info;
  const auto number = [](std::uint64_t n) { return grouped(n); };
  print_line("shape", number(m.n_layer) + plural(m.n_layer, " layer") + ", " + number(m.n_head) +
                          plural(m.n_head, " head") + " of " + number(m.head_size) + " (" + number(m.n_kv_head) +
                          " for keys and values), " + number(m.n_embd) + " wide, MLP " + number(m.n_hidden) +
                          ", block size " + number(m.block_size));
  print_line("family", family_text(info.view));
  print_line("vocabulary", vocabulary_text(m));
  if (const TokenizerHeader* const tokenizer = tokenizer_of(info.view)) {
    print_line("tokenizer", tokenizer_text(*tokenizer));
  }
  print_line("parameters", number(m.n_parameters) + " as " + types_text(info.view));
  print_line("file", bytes_text(m.file_bytes));
  print_line("session", bytes_text(info.session_bytes) + ", context " + number(info.context) + ", " +
                            number(info.threads) + plural(info.threads, " thread"));
  print_line("cache",
             bytes_text(info.attention.kv_bytes_a_token) + " a token, keys and values as " + to_string(info.kv));
  std::string available;
  for (std::size_t i = 0; i < info.kernels.count; ++i) {
    available += (i == 0 ? "" : ", ") + std::string(info.kernels.tables[i]->name);
  }
  print_line("isa", kernels_name(info.isa) + " in use; available: " + available);
  for_each_provenance(m.provenance, [](const std::string& key, std::string_view value) {
    print_line(printable(key).c_str(), printable(value));
  });
  if (info.verified) print_line("verified", "checksums hold, every weight is finite");
}

int verify(const LoadedModel& model) {
  Fault fault;
  const Status status = model.model.verify(&fault);
  if (status != Status::ok) {
    return complain(kCommand, printable(model.path) + ": " + to_string(status) + ": " + fault.what + " (at byte " +
                                  std::to_string(fault.offset) + ", found " + std::to_string(fault.found) + ")");
  }
  return kDone;
}

}  // namespace

int info_command(int argc, char** argv) {
  std::string path;
  bool json = false;
  bool check = false;
  SessionOptions session_options;
  Options options(kCommand, "info MODEL [--json] [--verify] [session options]",
                  "What is in a model file, the exact memory of a session, the instruction set in use.");
  options.positional("MODEL", &path, nullptr);
  options.flag("json", &json, "one JSON object");
  options.flag("verify", &check, "read every byte: checksums, and whether weights are finite");
  add_session_options(&options, &session_options);
  int status = kDone;
  if (!options.parse(argc, argv, &status)) return status;

  LoadedModel model;
  if ((status = open_model(kCommand, path, &model)) != kDone) return status;
  LoadedSession session;
  if ((status = prepare_session(kCommand, model, session_options, &session)) != kDone) return status;
  Info info(model);
  info.isa = resolved_isa(session.config.isa);
  info.kv = session.kv;
  info.context = session.context;
  info.threads = session.pool.width();
  info.session_bytes = session.bytes;
  if (!attention_cost(info.view.config(), kv_bytes(info.kv), info.context, &info.attention)) {
    return complain(kCommand, "the cache of one token does not fit 64 bits");
  }
  info.checked = check;
  if (check) status = verify(model);
  info.verified = check && status == kDone;
  json ? print_json(info) : print_text(info);
  return status;
}

}  // namespace minnow
