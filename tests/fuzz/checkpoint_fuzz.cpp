// Any bytes as a checkpoint: whatever container they seem to be, planned and, where that is accepted, read through.
#include <algorithm>

#include "tests/fuzz/input.hpp"
#include "tools/convert/model_plan.hpp"
#include "tools/convert/refusal.hpp"

namespace {

// As the checkpoint says it, else with options that supply what it may lack.
minnow::convert::ModelPlan plan_anyhow(const minnow::convert::Checkpoint& checkpoint) {
  using namespace minnow;
  convert::PlanOptions options;
  try {
    return convert::plan_model(checkpoint, options);
  } catch (const convert::Refusal&) {
    options.n_head = 1;
  }
  try {
    return convert::plan_model(checkpoint, options);
  } catch (const convert::Refusal&) {
    options.positions = Positions::sinusoidal;
    options.block_size = 8;
  }
  return convert::plan_model(checkpoint, options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace minnow;
  const fuzz::MemoryFile file(data, size);
  try {
    convert::ReadOptions read_options;
    read_options.check_crcs = false;  // else nearly every change would end there
    const convert::Checkpoint checkpoint = convert::read_checkpoint(file.open(), read_options);
    const convert::ModelPlan plan = plan_anyhow(checkpoint);
    std::vector<float> row;
    for (const convert::PlannedTensor& tensor : plan.tensors) {
      for (const convert::StoredTensor& source : tensor.sources) {
        if (source.columns() > (1u << 20)) continue;
        row.resize(static_cast<std::size_t>(source.columns()));
        convert::RowReader reader(checkpoint.file_of(source), source);
        const std::uint64_t rows = std::min<std::uint64_t>(source.rows(), 64);
        for (std::uint64_t i = 0; i < rows; ++i) reader.read(i, 1, row.data());
        reader.read(source.rows() - 1, 1, row.data());
      }
    }
  } catch (const convert::Refusal&) {
  }
  return 0;
}
