// From a plan for q4 to the bytes of the model: calibrated, rounded with error feedback, and measured. Depends on
// calibration, write_model and tools/quantise.
#pragma once

#include "tools/convert/calibration.hpp"
#include "tools/convert/write_model.hpp"

namespace minnow::convert {

struct QuantiseOptions {
  CalibrationOptions calibration;
  std::uint32_t threads = 1;  // never changes bits
  // What is being done, and how much of it; may be empty.
  std::function<void(const char* what, double done)> progress;
};

struct CalibratedTensors {
  quantise::PackedTensors tensors;
  Calibration calibration;
  double loss_before = 0;  // in nats, of f32 weights on the held-out windows
};

// `plan`: of type q4. Throws Refusal, Interrupted.
CalibratedTensors quantise_model(const Checkpoint& checkpoint, const ModelPlan& plan, std::string_view tokenizer,
                                 const QuantiseOptions& options);

// The model's loss on the held-out windows.
double loss_after(const quantise::MemoryModel& model, const CalibratedTensors& quantised,
                  const QuantiseOptions& options);

}  // namespace minnow::convert
