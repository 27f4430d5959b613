// The command `minnow convert`: a checkpoint in, a model file out. Depends on everything in tools/convert.
#include <algorithm>
#include <cstdio>
#include <new>

#include "base/bits.hpp"
#include "minnow/hosted.hpp"
#include "model/open.hpp"
#include "tools/commands.hpp"
#include "tools/convert/arguments.hpp"
#include "tools/convert/file_hashes.hpp"
#include "tools/convert/progress.hpp"
#include "tools/convert/provenance.hpp"
#include "tools/convert/quantised.hpp"
#include "tools/convert/recognise.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/sidecar.hpp"
#include "tools/convert/vocabulary.hpp"
#include "tools/id_stream.hpp"
#include "tools/options.hpp"
#include "tools/signals.hpp"

namespace minnow {

namespace {

using namespace convert;

constexpr const char* kCommand = "convert";
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

Role output_role(const Config& c) { return c.output == Output::separate ? Role::lm_head_weight : Role::wte; }

// What of a q4 file is in q8 unless the user says otherwise, which may be much of it.
std::string outer_share(const ModelPlan& plan, std::uint64_t file_bytes) {
  std::uint64_t outer = 0;
  bool could_be_less = false;
  for (const PlannedTensor& tensor : plan.tensors) {
    if (tensor.role != Role::wte && tensor.role != Role::lm_head_weight) continue;
    std::uint64_t bytes = 0;
    static_cast<void>(tensor_bytes(tensor.spec, tensor.type, &bytes));  // the plan holds no size that overflows
    outer += bytes;
    if (tensor.role == output_role(plan.config)) could_be_less = tensor.type != WeightType::q4;
  }
  const std::uint64_t percent = (100 * outer + file_bytes / 2) / file_bytes;
  return concat(", embedding and output ", percent, " % of the file",
                could_be_less && percent >= 10 ? " (less with --output-type q4)" : "");
}

std::string make_summary(const OutputFile& out, const ModelPlan& plan, const Vocabulary& vocabulary,
                         const std::string& note) {
  const Config& c = plan.config;
  const bool has_text = !vocabulary.pieces.empty();
  std::string symbols = concat(c.n_tokens, has_text ? " symbols" : " ids");
  if (c.n_tokens != c.vocab_size) symbols += concat(" in ", c.vocab_size, " rows", has_text ? "" : ",");
  if (!has_text) symbols += " without text";
  const std::string heads = c.n_kv_head == c.n_head ? concat(c.n_head) : concat(c.n_head, ", n_kv_head ", c.n_kv_head);
  std::string choices = vocabulary.note.empty() ? "" : ", " + vocabulary.note;
  for (const std::string& choice : plan.choices) choices += concat(", ", choice);
  if (static_cast<WeightType>(c.weight_type) == WeightType::q4) choices += outer_share(plan, out.size());
  if (!note.empty()) choices += ", " + note;
  return concat("minnow ", kCommand, ": wrote ", printable(out.target()), ": ", plan.family, ", n_layer ", c.n_layer,
                ", n_head ", heads, ", n_embd ", c.n_embd, ", block_size ", c.block_size, ", ",
                to_string(static_cast<WeightType>(c.weight_type)), ", ", out.size(), " bytes, ", symbols, choices,
                "\n");
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

// --calibrate as a path; empty: the model's own text.
std::string calibration_file(const Checkpoint& checkpoint, const Arguments& arguments) {
  if (arguments.calibrate == "self") return {};
  if (arguments.calibrate != "auto") return arguments.calibrate;
  const std::string found = find_in_dataset(arguments.checkpoint, checkpoint.dataset, "train.bin");
  if (found.empty()) {
    refuse("there is no train.bin beside the checkpoint, nor data/",
           checkpoint.dataset.empty() ? "<dataset>" : printable(checkpoint.dataset),
           "/train.bin in its folder, one above it or the current one; expected nanoGPT's ids; name them with "
           "--calibrate FILE, or leave it out");
  }
  return found;
}

void refuse_same_file(const std::string& calibration, const std::string& model) {
  if (is_same_file(calibration, model)) {
    throw Refusal("is read for --calibrate; expected another name for the model; give one with -o", model);
  }
}

class Conversion {
 public:
  explicit Conversion(const Arguments& arguments) : arguments_(arguments) {}

  void run() {
    read();
    OutputFile out(arguments_.model);
    const bool calibrated =
        static_cast<WeightType>(arguments_.type) == WeightType::q4 && arguments_.calibrate != "none";
    if (calibrated) {
      write_calibrated(&out);
    } else {
      const bool plain = static_cast<WeightType>(arguments_.type) == WeightType::q4;
      write({}, plain ? std::vector<std::string>{"calibration=none"} : std::vector<std::string>{}, &out);
    }
    for (const auto& each : checkpoint_.files) each->require_unchanged();
    const std::string summary = make_summary(out, plan_, vocabulary_, note_);
    out.commit();  // nothing that could fail comes after it
    progress_.clear();
    std::fputs(summary.c_str(), stderr);
  }

 private:
  void read() {
    const auto file = std::make_shared<const InputFile>(arguments_.checkpoint);
    hashes_.start({file});
    ReadOptions read_options;
    read_options.check_crcs = !arguments_.ignore_crc;
    read_options.progress = [&](std::uint64_t done, std::uint64_t total) { progress_.show("checking", done, total); };
    checkpoint_ = read_checkpoint(file, read_options);
    progress_.clear();
    plan_ = plan_file(arguments_, &checkpoint_);
    require_other_name(checkpoint_, arguments_.model);
    vocabulary_ = find_vocabulary(checkpoint_, arguments_, &plan_);
    Fault fault;
    if (check_config(plan_.config, &fault) != Status::ok) {
      refuse(fault.what, "; expected a model that minnow runs; this checkpoint cannot be converted yet");
    }
    if (static_cast<WeightType>(arguments_.type) == WeightType::q4) choose_output_type();
    if (arguments_.verbose) list_tensors(plan_);
    if (!vocabulary_.pieces.empty()) tokenizer_ = make_tokenizer_section(vocabulary_);
    auto others = hashed_files(checkpoint_);
    others.erase(others.begin());
    hashes_.start(others);
  }

  void choose_output_type() {
    const auto type = static_cast<WeightType>(arguments_.output_type);
    for (PlannedTensor& tensor : plan_.tensors) {
      if (tensor.role == output_role(plan_.config)) tensor.type = type;
    }
    plan_.choices.push_back(concat("output_type=", to_string(type)));
  }

  void write_calibrated(OutputFile* out) {
    QuantiseOptions options;
    options.calibration.file = calibration_file(checkpoint_, arguments_);
    options.calibration.tokens = arguments_.calibrate_tokens;
    options.threads = arguments_.threads != 0 ? static_cast<std::uint32_t>(arguments_.threads)
                                              : std::min(ThreadPool::usable_cores(), kMaxWorkers);
    options.progress = [&](const char* what, double done) {
      progress_.show(what, static_cast<std::uint64_t>(done * 1000), 1000);
    };
    if (!options.calibration.file.empty()) refuse_same_file(options.calibration.file, arguments_.model);
    const CalibratedTensors quantised = quantise_model(checkpoint_, plan_, tokenizer_, options);
    quantise::MemoryModel model;
    write(
        [&](Role role, std::uint32_t layer) {
          const auto found = quantised.tensors.find({role, layer});
          return found == quantised.tensors.end() ? nullptr : &found->second;
        },
        quantised.calibration.provenance, &model);
    model.open();
    note_ = concat("calibrated on ", quantised.calibration.windows.tokens.size(), " tokens of ",
                   quantised.calibration.source);
    if (!quantised.calibration.held_out.tokens.empty() && quantised.calibration.held_out.length > 1) {
      char loss[64];
      std::snprintf(loss, sizeof loss, ": loss %.4f before, %.4f after, on ", quantised.loss_before,
                    loss_after(model, quantised, options));
      note_ += concat(loss, quantised.calibration.held_out.tokens.size(), " held out");
    }
    const Span<const std::byte> bytes = model.model().file();
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
      out->append(bytes.data() + at, bytes.size() - at < kPiece ? bytes.size() - at : kPiece);
    }
  }

  void write(decltype(WriteOptions::packed) packed, const std::vector<std::string>& calibration, ByteSink* out) {
    const auto provenance = [&](const std::vector<std::string>& hashes) {
      return make_provenance(checkpoint_, hashes, vocabulary_, plan_, calibration);
    };
    WriteOptions write_options;
    write_options.final_provenance = [&] {
      return provenance(
          hashes_.finish([&](std::uint64_t done, std::uint64_t total) { progress_.show("hashing", done, total); }));
    };
    write_options.allow_nonfinite = arguments_.allow_nonfinite;
    write_options.progress = [&](std::uint64_t done, std::uint64_t total) { progress_.show("writing", done, total); };
    write_options.packed = std::move(packed);
    write_model(checkpoint_, plan_, tokenizer_, provenance({}), write_options, out);
  }

  const Arguments& arguments_;
  Progress progress_{kCommand};
  Checkpoint checkpoint_;
  ModelPlan plan_;
  Vocabulary vocabulary_;
  std::string tokenizer_;
  std::string note_;  // of the calibration, for the summary
  FileHashes hashes_{arguments_.threads != 1};
};

}  // namespace

int convert_command(int argc, char** argv) {
  Arguments arguments;
  int status = kDone;
  if (!parse_arguments(argc, argv, kCommand, &arguments, &status)) return status;
  if (!host_is_little_endian()) {
    return complain(kCommand, "this machine is big-endian; expected a little-endian one; convert on another machine");
  }
  const SignalGuard signals;
  try {
    Conversion(arguments).run();
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
