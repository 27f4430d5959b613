// What `minnow bench` shows of its figures. Depends on result.hpp.
#pragma once

#include "tools/bench/result.hpp"

namespace minnow {

std::string bench_table(const BenchResult& result);
std::string bench_json(const BenchResult& result, const std::string& comparison_or_empty);
std::string roofline_svg(const BenchResult& result);

// printf to the end of a text, a line at a time: 511 bytes at most.
__attribute__((format(printf, 2, 3))) void append(std::string* out, const char* format, ...);

// One figure of an older run and of this one; more is better.
struct Comparison {
  std::string name;
  double before = 0;
  double now = 0;
};
// A name and a rate for every figure of a run, in the order of the tables.
std::vector<Comparison> named_rates(const BenchResult& result);
// Reads the output of `bench --json`. Throws convert::Refusal.
std::vector<Comparison> read_rates(const std::string& path);
// Those that both have, `now` from the result.
std::vector<Comparison> compare_rates(const std::vector<Comparison>& old, const BenchResult& result);
// What else than the code differs between an older run and this one, whose JSON this is: "type q8 there, q4 here; .."
std::string other_settings(const std::string& old_path, const std::string& now_json);
std::string comparison_table(const std::vector<Comparison>& figures, const std::string& path);
std::string comparison_json(const std::vector<Comparison>& figures);

}  // namespace minnow
