// Norms and matrix products, split over the workers.
#include "session/steps.hpp"

#include "session/run_jobs.hpp"

namespace minnow {
namespace {

constexpr std::uint32_t kJobsPerWorker = 4;
// Jobs of a product end on whole groups of 32 rows: its outputs are groups of the next product's inputs.
constexpr std::uint32_t kJobBlocks = kGroupColumns / kBlockRows;

// Rows `row` .. `row + rows - 1` of all tokens, after the product.
void finish_rows(const SessionState& s, const Product& p, std::uint32_t row, std::uint32_t rows,
                 std::uint32_t n) noexcept {
  for (std::size_t t = 0; t < n; ++t) {
    const std::size_t at = t * p.out_pitch + row;
    float* const out = p.out + at;
    if (p.activation_or_null != nullptr) p.activation_or_null(out, rows);
    if (p.gate_or_null != nullptr) s.kernels->silu_gate(out, p.gate_or_null + at, rows);
    if (p.softcap != 0) s.kernels->softcap(out, rows, p.softcap);
    if (p.add_to_or_null != nullptr) s.kernels->add(p.add_to_or_null + at, out, rows);
    if (p.quantise_to.q != nullptr) quantise_at(s, out, at, group_count(rows), p.quantise_to);
  }
}

}  // namespace

void norm(SessionState& s, const Norming& norming, std::uint32_t first, std::uint32_t n) noexcept {
  const std::uint32_t width = s.widths.embd;
  for_parts(s, n, token_jobs(s, n, width), [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      const std::size_t at = (first + t) * width;
      norm_row(s, s.x + at, norming.weight_or_null, norming.bias_or_null, s.h + at);
      if (norming.quantise) quantise_at(s, s.h + at, t * width, width / kGroupColumns, s.q_input);
    }
  });
}

void multiply(SessionState& s, const Product& p, std::uint32_t n) noexcept {
  MatmulArgs args;
  args.weights = p.w->data;
  args.bias_or_null = p.bias_or_null;
  args.groups = group_count(p.w->columns);
  args.tokens = n;
  args.x = p.input;
  args.q = p.q_input.q;
  args.scale = p.q_input.scale;
  args.sum = p.q_input.sum;
  args.out = p.out;
  args.out_pitch = p.out_pitch;
  const auto matmul = s.kernels->matmul[static_cast<std::uint32_t>(p.w->type)];
  const std::uint32_t blocks = block_count(p.w->rows);
  const std::uint64_t bytes = std::uint64_t{blocks} * args.groups * group_bytes(p.w->type) * n;
  const std::uint32_t jobs = worthwhile_jobs(bytes, s.shape.workers, kJobsPerWorker);
  const std::uint32_t units = (blocks + kJobBlocks - 1) / kJobBlocks;
  for_parts(s, units, jobs, [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
    MatmulArgs part = args;
    part.block_begin = begin * kJobBlocks;
    part.block_end = end * kJobBlocks < blocks ? end * kJobBlocks : blocks;
    matmul(part);
    const std::uint32_t row = part.block_begin * kBlockRows;
    const std::uint32_t rows_end = part.block_end * kBlockRows < p.w->rows ? part.block_end * kBlockRows : p.w->rows;
    finish_rows(s, p, row, rows_end - row, n);
  });
}

}  // namespace minnow
