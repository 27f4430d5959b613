// Norms and matrix products, split over the workers.
#include "session/steps.hpp"

#include "session/run_jobs.hpp"

namespace minnow {
namespace {

void quantise_input(SessionState& s, const float* input, std::uint32_t groups, std::uint32_t n) noexcept {
  for_parts(s, n, [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      const std::size_t columns = std::size_t{groups} * kGroupColumns;
      s.kernels->quantise(input + t * columns, groups, s.q + t * columns, s.q_scale + t * groups, s.q_sum + t * groups);
    }
  });
}

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
  }
}

}  // namespace

void norm(SessionState& s, const float* weight_or_null, const float* bias_or_null, std::uint32_t first,
          std::uint32_t n) noexcept {
  for_parts(s, n, [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t t = first + begin; t < first + end; ++t) {
      const std::size_t at = std::size_t{t} * s.widths.embd;
      norm_row(s, s.x + at, weight_or_null, bias_or_null, s.h + at);
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
  args.q = s.q;
  args.scale = s.q_scale;
  args.sum = s.q_sum;
  args.out = p.out;
  args.out_pitch = p.out_pitch;
  if (is_quantised(p.w->type)) quantise_input(s, p.input, args.groups, n);
  const auto matmul = s.kernels->matmul[static_cast<std::uint32_t>(p.w->type)];
  for_parts(s, block_count(p.w->rows), [&](std::uint32_t, std::uint32_t begin, std::uint32_t end) {
    MatmulArgs part = args;
    part.block_begin = begin;
    part.block_end = end;
    matmul(part);
    const std::uint32_t row = begin * kBlockRows;
    const std::uint32_t rows = (end * kBlockRows < p.w->rows ? end * kBlockRows : p.w->rows) - row;
    finish_rows(s, p, row, rows, n);
  });
}

}  // namespace minnow
