// The command `minnow convert`: a checkpoint in, a model file out. Depends on everything in tools/convert.
#include <cstdio>
#include <locale>
#include <new>
#include <sstream>

#include "minnow/minnow.hpp"
#include "model/open.hpp"
#include "tools/commands.hpp"
#include "tools/convert/recognise.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/sha256.hpp"
#include "tools/convert/sidecar.hpp"
#include "tools/convert/vocabulary.hpp"
#include "tools/convert/write_model.hpp"
#include "tools/options.hpp"
#include "tools/process.hpp"
#include "tools/signals.hpp"

namespace minnow {

namespace {

using namespace convert;

constexpr const char* kCommand = "convert";
constexpr std::uint32_t kNotGiven = 0xffffffffu;  // of a choice

struct Arguments {
  std::string checkpoint;
  std::string model;
  std::string meta;
  std::string vocab;
  std::uint32_t type = static_cast<std::uint32_t>(WeightType::q8);
  // What the checkpoint may not say.
  std::uint64_t n_head = 0;      // 0: not given
  std::uint64_t block_size = 0;  // 0: not given
  std::uint32_t gelu = kNotGiven;
  std::uint32_t attention_scale = kNotGiven;
  std::uint32_t positions = kNotGiven;
  bool no_text = false;
  bool allow_nonfinite = false;
  bool ignore_crc = false;
  bool verbose = false;
};

// The checkpoint's name with .minnow for its ending.
std::string default_model_name(const std::string& checkpoint) {
  const std::string name = file_name_of(checkpoint);
  const std::size_t dot = name.rfind('.');
  const std::size_t ending = dot == std::string::npos || dot == 0 ? 0 : name.size() - dot;
  return checkpoint.substr(0, checkpoint.size() - ending) + ".minnow";
}

bool parse_arguments(int argc, char** argv, Arguments* out, int* status) {
  Options options(
      kCommand, "convert CHECKPOINT [-o MODEL] [options]",
      "Makes a model file from a checkpoint of nanoGPT, build-nanogpt, minGPT, llm.c, llama2.c, nanochat,\n"
      "Hugging Face's GPT-2 or the video lecture's GPT, known by its content. Settings are also taken from\n"
      "GPT-2's config.json or nanochat's meta_<step>.json beside it. Nothing in the checkpoint is executed.");
  bool model_given = false;
  bool meta_given = false;
  bool vocab_given = false;
  options.positional("CHECKPOINT", &out->checkpoint, nullptr);
  options.text("o", "MODEL", &out->model, &model_given, "the file to write (the checkpoint's name with .minnow)");
  const auto number = [](auto value) { return static_cast<std::uint32_t>(value); };
  options.choice("type", "q8|q4|f16|f32",
                 {{"q8", number(WeightType::q8)},
                  {"q4", number(WeightType::q4)},
                  {"f16", number(WeightType::f16)},
                  {"f32", number(WeightType::f32)}},
                 &out->type, "how weights are stored (q8)");
  options.text("meta", "META.PKL", &out->meta, &meta_given,
               "the symbols (beside the checkpoint, or data/<dataset>/meta.pkl)");
  options.text("vocab", "FILE", &out->vocab, &vocab_given,
               "any vocabulary file, its folder, or bytes (looked for beside the checkpoint)");
  options.flag("no-text", &out->no_text, "write a model without a vocabulary, for token ids only");
  options.flag("allow-nonfinite", &out->allow_nonfinite, "accept NaN and infinite weights");
  options.flag("ignore-crc", &out->ignore_crc, "accept wrong checksums in the checkpoint");
  options.flag("v", &out->verbose, "list the tensors");
  options.heading("what a checkpoint may not say:");
  options.number("n-head", "N", 1, 1u << 28, &out->n_head, "number of heads");
  options.choice("gelu", "erf|tanh", {{"erf", number(Activation::gelu_erf)}, {"tanh", number(Activation::gelu_tanh)}},
                 &out->gelu, "the form of GELU (the family's; nanoGPT of February to mid-2023: tanh)");
  options.choice("attn-scale", "head|embd",
                 {{"head", number(AttentionScale::head)}, {"embd", number(AttentionScale::embd)}},
                 &out->attention_scale, "scores times head_size^-0.5, or n_embd^-0.5 (head)");
  options.choice("positions", "sinusoidal|none",
                 {{"sinusoidal", number(Positions::sinusoidal)}, {"none", number(Positions::none)}}, &out->positions,
                 "of a model without a table of positions");
  options.number("block-size", "N", 1, 1u << 28, &out->block_size, "the longest context, of such a model");
  if (!options.parse(argc, argv, status)) return false;
  std::string misuse;
  if (model_given && out->model.empty()) misuse = "-o: found \"\", expected the name of the file to write";
  if (out->model == "-") misuse = "-o: found -, expected a file's name: a model is not written to stdout";
  if (meta_given && out->meta.empty()) misuse = "--meta: found \"\", expected the name of a meta.pkl";
  if (vocab_given && out->vocab.empty()) misuse = "--vocab: found \"\", expected the name of a vocabulary file";
  if (vocab_given && out->no_text) misuse = "found both --vocab and --no-text, expected at most one of them";
  if (vocab_given && meta_given) misuse = "found both --vocab and --meta, expected at most one of them";
  if (meta_given && out->no_text) misuse = "found both --meta and --no-text, expected at most one of them";
  if (!misuse.empty()) {
    *status = complain(kCommand, misuse, kMisused);
    return false;
  }
  if (!model_given) out->model = default_model_name(out->checkpoint);
  return true;
}

// One line on a terminal, once something takes longer than a second.
class Progress {
 public:
  void show(const char* what, std::uint64_t done, std::uint64_t total) {
    if (!terminal_ || total == 0) return;
    const double now = seconds_now();
    if (now - start_ < 1.0 || now - last_ < 0.1) return;
    last_ = now;
    const double percent = 100.0 * static_cast<double>(done) / static_cast<double>(total);
    std::fprintf(stderr, "\rminnow %s: %-8s %3.0f %%", kCommand, what, percent);
    shown_ = true;
  }
  void clear() {
    if (shown_) std::fprintf(stderr, "\r%40s\r", "");
    shown_ = false;
  }
  ~Progress() { clear(); }

 private:
  bool terminal_ = stderr_is_terminal();
  bool shown_ = false;
  double start_ = seconds_now();
  double last_ = 0;
};

std::string hash_file(const InputFile& file, Progress* progress) {
  Sha256 hash;
  std::string buffer(std::size_t{1} << 16, '\0');
  for (std::uint64_t at = 0; at < file.size();) {
    const std::uint64_t left = file.size() - at;
    const std::size_t bytes = left < buffer.size() ? static_cast<std::size_t>(left) : buffer.size();
    file.read_at(at, &buffer[0], bytes);
    hash.update(buffer.data(), bytes);
    at += bytes;
    progress->show("reading", at, file.size());
  }
  return hash.finish();
}

std::string make_provenance(const Checkpoint& checkpoint, const Vocabulary& vocabulary, const ModelPlan& plan,
                            Progress* progress) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  std::size_t number = 0;
  for (const auto& file : checkpoint.files) {
    if (number != 0 && file->path() == checkpoint.files[0]->path()) continue;  // the same, unpacked
    const std::string key = ++number == 1 ? "source" : concat("source_", number);
    out << key << '=' << printable(file_name_of(file->path())) << '\n';
    out << key << "_sha256=" << hash_file(*file, progress) << '\n';
  }
  number = 0;
  for (const Vocabulary::Source& source : vocabulary.sources) {
    const std::string key = ++number == 1 ? "vocabulary" : concat("vocabulary_", number);
    out << key << '=' << printable(source.name) << '\n' << key << "_sha256=" << source.sha256 << '\n';
  }
  out << "converter=minnow " << version() << '\n';
  if (checkpoint.iter_num) out << "iter_num=" << *checkpoint.iter_num << '\n';
  if (checkpoint.best_val_loss) out << "best_val_loss=" << *checkpoint.best_val_loss << '\n';
  out << "type=" << to_string(static_cast<WeightType>(plan.config.weight_type)) << '\n';
  out << "family=" << plan.family << '\n';
  for (const std::string& choice : plan.choices) out << choice << '\n';
  return out.str();
}

void list_tensors(const Checkpoint& checkpoint) {
  for (const StoredTensor& tensor : checkpoint.tensors) {
    std::fprintf(stderr, "%-44s %-14s %s\n", quoted(tensor.name).c_str(), shape_text(tensor).c_str(),
                 dtype_name(tensor.dtype));
  }
}

void list_tensors(const ModelPlan& plan) {
  for (const PlannedTensor& tensor : plan.tensors) {
    for (const StoredTensor& source : tensor.sources) {
      std::fprintf(stderr, "%-44s %-14s %s -> %s\n", quoted(source.name).c_str(), shape_text(source).c_str(),
                   dtype_name(source.dtype), to_string(tensor.type));
    }
    if (tensor.sources.empty()) std::fprintf(stderr, "%-44s computed -> f32\n", tensor.spec.name);
  }
}

void print_summary(const OutputFile& out, const ModelPlan& plan, const Vocabulary& vocabulary) {
  const Config& c = plan.config;
  const bool has_text = !vocabulary.pieces.empty();
  std::string symbols = concat(c.n_tokens, has_text ? " symbols" : " ids");
  if (c.n_tokens != c.vocab_size) symbols += concat(" in ", c.vocab_size, " rows", has_text ? "" : ",");
  if (!has_text) symbols += " without text";
  const std::string heads = c.n_kv_head == c.n_head ? concat(c.n_head) : concat(c.n_head, ", n_kv_head ", c.n_kv_head);
  std::string choices = vocabulary.note.empty() ? "" : ", " + vocabulary.note;
  for (const std::string& choice : plan.choices) choices += concat(", ", choice);
  const std::string line =
      concat("minnow ", kCommand, ": wrote ", printable(out.target()), ": ", plan.family, ", n_layer ", c.n_layer,
             ", n_head ", heads, ", n_embd ", c.n_embd, ", block_size ", c.block_size, ", ",
             to_string(static_cast<WeightType>(c.weight_type)), ", ", out.size(), " bytes, ", symbols, choices, "\n");
  std::fputs(line.c_str(), stderr);
}

PlanOptions plan_options(const Arguments& arguments) {
  PlanOptions out;
  out.type = static_cast<WeightType>(arguments.type);
  if (arguments.n_head != 0) out.n_head = arguments.n_head;
  if (arguments.block_size != 0) out.block_size = arguments.block_size;
  if (arguments.gelu != kNotGiven) out.gelu = static_cast<Activation>(arguments.gelu);
  if (arguments.positions != kNotGiven) out.positions = static_cast<Positions>(arguments.positions);
  if (arguments.attention_scale != kNotGiven) {
    out.attention_scale = static_cast<AttentionScale>(arguments.attention_scale);
  }
  return out;
}

// With -v a model that is refused has its tensors listed first.
ModelPlan plan_file(const Arguments& arguments, Checkpoint* checkpoint) {
  try {
    read_sidecar(*recognise(*checkpoint).family, checkpoint);
    return plan_model(*checkpoint, plan_options(arguments));
  } catch (const Refusal&) {
    if (arguments.verbose) list_tensors(*checkpoint);
    throw;
  }
}

Vocabulary find_vocabulary(const Checkpoint& checkpoint, const Arguments& arguments, ModelPlan* plan) {
  VocabularyOptions options;
  options.checkpoint = arguments.checkpoint;
  options.model = arguments.model;
  options.dataset = checkpoint.dataset;
  options.meta = arguments.meta;
  options.vocab = arguments.vocab;
  options.no_text = arguments.no_text;
  options.counted = plan->counted;
  return convert::find_vocabulary(options, &plan->config);
}

void require_other_name(const Checkpoint& checkpoint, const std::string& model) {
  for (const auto& each : checkpoint.files) {
    if (!each->is_same_file(model)) continue;
    const bool named = each == checkpoint.files[0];
    throw Refusal(concat(named ? "is the checkpoint itself" : "is read with the checkpoint",
                         "; expected another name for the model; give one with -o"),
                  model);
  }
}

void convert_file(const Arguments& arguments) {
  const auto file = std::make_shared<const InputFile>(arguments.checkpoint);
  Progress progress;
  ReadOptions read_options;
  read_options.check_crcs = !arguments.ignore_crc;
  read_options.progress = [&](std::uint64_t done, std::uint64_t total) { progress.show("checking", done, total); };
  Checkpoint checkpoint = read_checkpoint(file, read_options);
  progress.clear();
  ModelPlan plan = plan_file(arguments, &checkpoint);
  require_other_name(checkpoint, arguments.model);
  const Vocabulary vocabulary = find_vocabulary(checkpoint, arguments, &plan);
  Fault fault;
  if (check_config(plan.config, &fault) != Status::ok) {
    refuse(fault.what, "; expected a model that minnow runs; this checkpoint cannot be converted yet");
  }
  if (arguments.verbose) list_tensors(plan);

  OutputFile out(arguments.model);
  const std::string provenance = make_provenance(checkpoint, vocabulary, plan, &progress);
  WriteOptions write_options;
  write_options.allow_nonfinite = arguments.allow_nonfinite;
  write_options.progress = [&](std::uint64_t done, std::uint64_t total) { progress.show("writing", done, total); };
  const std::string tokenizer = vocabulary.pieces.empty() ? std::string() : make_tokenizer_section(vocabulary);
  write_model(checkpoint, plan, tokenizer, provenance, write_options, &out);
  for (const auto& each : checkpoint.files) each->require_unchanged();
  out.commit();
  progress.clear();
  print_summary(out, plan, vocabulary);
}

}  // namespace

int convert_command(int argc, char** argv) {
  Arguments arguments;
  int status = kDone;
  if (!parse_arguments(argc, argv, &arguments, &status)) return status;
  const SignalGuard signals;
  try {
    convert_file(arguments);
    return kDone;
  } catch (const Interrupted&) {
    return complain(kCommand, printable(arguments.checkpoint) + ": interrupted; nothing was left behind", kInterrupted);
  } catch (const Refusal& refusal) {
    const std::string& path = refusal.path().empty() ? arguments.checkpoint : refusal.path();
    return complain(kCommand, printable(path) + ": " + refusal.what());
  } catch (const std::bad_alloc&) {
    return complain(kCommand,
                    printable(arguments.checkpoint) + ": out of memory; nothing was left behind; close other programs");
  }
}

}  // namespace minnow
