// Depends on quantised.
#include "tools/convert/quantised.hpp"

namespace minnow::convert {

namespace {

quantise::Progress named(const QuantiseOptions& options, const char* what) {
  if (!options.progress) return {};
  return [&options, what](double done) { options.progress(what, done); };
}

// The model in another type, opened.
quantise::MemoryModel in_memory(const Checkpoint& checkpoint, const ModelPlan& plan, WeightType type,
                                std::string_view tokenizer, const quantise::Progress& progress) {
  ModelPlan other = plan;
  other.config.weight_type = static_cast<std::uint32_t>(type);
  for (PlannedTensor& tensor : other.tensors) {
    if (tensor.spec.matrix) tensor.type = type;
  }
  WriteOptions options;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    if (progress) progress(static_cast<double>(done) / static_cast<double>(total));
  };
  quantise::MemoryModel out;
  write_model(checkpoint, other, tokenizer, {}, options, &out);
  out.open();
  return out;
}

}  // namespace

CalibratedTensors quantise_model(const Checkpoint& checkpoint, const ModelPlan& plan, std::string_view tokenizer,
                                 const QuantiseOptions& options) {
  const quantise::Workers workers(options.threads);
  CalibratedTensors out;
  if (options.calibration.file.empty()) {
    // In q8 it writes the same text for all that matters here, several times as fast.
    const quantise::MemoryModel small =
        in_memory(checkpoint, plan, WeightType::q8, tokenizer, named(options, "loading"));
    out.calibration = sample_calibration(options.calibration, small.model(), workers, named(options, "sampling"));
  }
  quantise::MemoryModel model = in_memory(checkpoint, plan, WeightType::f32, tokenizer, named(options, "loading"));
  if (!options.calibration.file.empty()) {
    out.calibration = read_calibration(options.calibration, model.model(), named(options, "hashing"));
  }
  out.loss_before = quantise::mean_loss(model.model(), out.calibration.held_out, workers, named(options, "measuring"));
  const Role output = plan.config.output == Output::separate ? Role::lm_head_weight : Role::wte;
  bool round_output = false;
  for (const PlannedTensor& tensor : plan.tensors) {
    round_output = round_output || (tensor.role == output && tensor.type == WeightType::q4);
  }
  out.tensors =
      quantise::round_layers(&model, round_output, out.calibration.windows, workers, named(options, "rounding"));
  return out;
}

double loss_after(const quantise::MemoryModel& model, const CalibratedTensors& quantised,
                  const QuantiseOptions& options) {
  return quantise::mean_loss(model.model(), quantised.calibration.held_out, quantise::Workers(options.threads),
                             named(options, "measuring"));
}

}  // namespace minnow::convert
