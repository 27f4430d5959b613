// What `minnow convert` may be told. Depends on tools/options.hpp.
#include "tools/convert/arguments.hpp"

#include "model/format.hpp"
#include "tools/convert/file.hpp"
#include "tools/convert/model_plan.hpp"
#include "tools/options.hpp"

namespace minnow::convert {

namespace {

// Which texts were given, be they empty.
struct Given {
  bool model = false;
  bool meta = false;
  bool vocab = false;
  bool calibrate = false;
};

template <class Enum>
std::uint32_t number(Enum value) {
  return static_cast<std::uint32_t>(value);
}

// The checkpoint's name with .minnow for its ending.
std::string default_model_name(const std::string& checkpoint) {
  const std::string name = file_name_of(checkpoint);
  const std::size_t dot = name.rfind('.');
  const std::size_t ending = dot == std::string::npos || dot == 0 ? 0 : name.size() - dot;
  return checkpoint.substr(0, checkpoint.size() - ending) + ".minnow";
}

// What does not go together, or is empty; empty if all is well.
std::string misuse_in(const Arguments& a, const Given& given) {
  std::string misuse;
  if (given.model && a.model.empty()) misuse = "-o: found \"\", expected the name of the file to write";
  if (a.model == "-") misuse = "-o: found -, expected a file's name: a model is not written to stdout";
  if (given.meta && a.meta.empty()) misuse = "--meta: found \"\", expected the name of a meta.pkl";
  if (given.vocab && a.vocab.empty()) misuse = "--vocab: found \"\", expected the name of a vocabulary file";
  if (given.vocab && a.no_text) misuse = "found both --vocab and --no-text, expected at most one of them";
  if (given.vocab && given.meta) misuse = "found both --vocab and --meta, expected at most one of them";
  if (given.meta && a.no_text) misuse = "found both --meta and --no-text, expected at most one of them";
  const bool q4 = a.type == number(WeightType::q4);
  if (given.calibrate && a.calibrate.empty()) misuse = "--calibrate: found \"\", expected a file, auto, self or none";
  if (given.calibrate && !q4 && a.calibrate != "none") misuse = "found --calibrate, expected --type q4 with it";
  if (a.calibrate_tokens != 0 && (!q4 || a.calibrate == "none")) {
    misuse = "found --calibrate-tokens, expected --type q4 and a calibration with it";
  }
  if (a.allow_nonfinite && q4 && a.calibrate != "none") {
    misuse =
        "found --allow-nonfinite with a calibration, which computes with every weight; expected --calibrate none "
        "with it, or another --type";
  }
  if (a.output_type == number(WeightType::q4) && !q4) misuse = "found --output-type q4, expected --type q4 with it";
  return misuse;
}

}  // namespace

bool parse_arguments(int argc, char** argv, const char* command, Arguments* out, int* status) {
  Options options(
      command, "convert CHECKPOINT [-o MODEL] [options]",
      "Makes a model file from a checkpoint of nanoGPT, build-nanogpt, minGPT, llm.c, llama2.c, nanochat,\n"
      "Hugging Face's GPT-2 or the video lecture's GPT, known by its content. Settings are also taken from\n"
      "GPT-2's config.json or nanochat's meta_<step>.json beside it. Nothing in the checkpoint is executed.");
  Given given;
  options.positional("CHECKPOINT", &out->checkpoint, nullptr);
  options.text("o", "MODEL", &out->model, &given.model, "the file to write (the checkpoint's name with .minnow)");
  options.choice("type", "q8|q4|f16|f32",
                 {{"q8", number(WeightType::q8)},
                  {"q4", number(WeightType::q4)},
                  {"f16", number(WeightType::f16)},
                  {"f32", number(WeightType::f32)}},
                 &out->type, "how weights are stored (q8)");
  options.text("meta", "META.PKL", &out->meta, &given.meta,
               "the symbols (beside the checkpoint, or data/<dataset>/meta.pkl)");
  options.text("vocab", "FILE", &out->vocab, &given.vocab,
               "any vocabulary file, its folder, or bytes (looked for beside the checkpoint)");
  options.text("calibrate", "FILE|auto|self|none", &out->calibrate, &given.calibrate,
               "of q4: a text or ids like nanoGPT's train.bin; auto: data/<dataset>/train.bin; self: what the model "
               "writes; none: plain rounding (self)");
  options.number("calibrate-tokens", "N", 1, 1u << 28, &out->calibrate_tokens, "of it (8192 of self, 24576 of a file)");
  options.choice("output-type", "q8|q4", {{"q8", number(WeightType::q8)}, {"q4", number(WeightType::q4)}},
                 &out->output_type, "of q4: how the output matrix, tied with the embedding or not, is stored (q8)");
  options.number("threads", "N", 1, kMaxWorkers, &out->threads, "they never change the file (one a core)");
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
  const std::string misuse = misuse_in(*out, given);
  if (!misuse.empty()) {
    *status = complain(command, misuse, kMisused);
    return false;
  }
  if (!given.model) out->model = default_model_name(out->checkpoint);
  return true;
}

}  // namespace minnow::convert
