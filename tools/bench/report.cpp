// The tables and the JSON of `minnow bench`.
#include "tools/bench/report.hpp"

#include <cstdarg>
#include <cstdio>

#include "tools/json.hpp"
#include "tools/messages.hpp"

namespace minnow {
namespace {

constexpr double kGiga = 1e9;

// How far the runs lie apart: half of what is between the least and the most, in percent of the median.
double spread(const Figure& figure) { return (figure.high - figure.low) / 2 / figure.median * 100; }

// Rates are one over the seconds of a figure, so its ends change places.
JsonObject& add_rate(JsonObject& json, const char* key, const Figure& seconds, double amount) {
  json.add(key, amount / seconds.median);
  json.add("low", amount / seconds.high).add("high", amount / seconds.low);
  return json.add("runs", std::uint64_t{seconds.runs});
}

template <class Row, class Json>
std::string array_of(const std::vector<Row>& rows, const Json& json) {
  return json_array(rows.size(), [&](std::size_t i) { return json(rows[i]).str(); });
}

const LimitResult* limit_of(const BenchResult& result, std::uint32_t threads) {
  for (const LimitResult& limit : result.limits) {
    if (limit.threads == threads) return &limit;
  }
  return &result.limits.front();
}

void limits_table(const BenchResult& r, std::string* out) {
  append(out, "\n%-8s %16s %22s %22s\n", "threads", "read GB/s", "f32 GMAC/s", "int8 GMAC/s");
  for (const LimitResult& l : r.limits) {
    append(out, "%-8u %9.1f +-%3.0f%% %15.1f +-%3.0f%% %15.1f +-%3.0f%%\n", l.threads, l.read.median / kGiga,
           spread(l.read), l.multiply_float.median / kGiga, spread(l.multiply_float), l.multiply_int8.median / kGiga,
           spread(l.multiply_int8));
  }
}

void steps_table(const BenchResult& r, std::string* out) {
  append(out, "\n%-8s %-8s %14s %8s %10s %10s\n", "decode", "context", "tokens/s", "", "GB/s", "of read");
  for (const DecodeResult& d : r.decode) {
    const double rate = d.bytes / d.seconds.median;
    append(out, "%-8u %-8u %14.1f +-%4.0f%% %10.2f %9.0f%%\n", d.threads, d.context, 1 / d.seconds.median,
           spread(d.seconds), rate / kGiga, rate / limit_of(r, d.threads)->read.median * 100);
  }
  append(out, "\n%-8s %-8s %14s %8s %10s %10s\n", "prefill", "tokens", "tokens/s", "", "GMAC/s", "of peak");
  for (const PrefillResult& p : r.prefill) {
    const double rate = p.macs / p.seconds.median;
    append(out, "%-8u %-8u %14.1f +-%4.0f%% %10.2f %9.0f%%\n", p.threads, p.length, p.length / p.seconds.median,
           spread(p.seconds), rate / kGiga, rate / limit_of(r, p.threads)->multiply.median * 100);
  }
}

void operations_table(const BenchResult& r, std::string* out) {
  append(out, "\n%-18s %-8s %3s %4s %11s %6s %8s %8s %8s %7s %7s\n", "operation", "phase", "thr", "tok", "us", "", "KB",
         "GB/s", "GMAC/s", "of read", "of peak");
  for (const OperationResult& o : r.operations) {
    append(out, "%-18s %-8s %3u %4u %11.2f +-%3.0f%% %8.0f %8.2f %8.2f %6.0f%% %6.0f%%\n", o.name.c_str(),
           o.phase.c_str(), o.threads, o.tokens, o.seconds.median * 1e6, spread(o.seconds), o.bytes / 1e3,
           o.bytes_a_second() / kGiga, o.macs_a_second() / kGiga, o.bytes_a_second() / o.read_limit * 100,
           o.macs_a_second() / o.mac_limit * 100);
  }
}

JsonObject machine_json(const BenchResult& r) {
  const auto numbers = [&](auto value) {
    return json_array(r.limits.size(), [&](std::size_t i) { return json_number(value(r.limits[i]) / kGiga); });
  };
  JsonObject json;
  json.add("isa", r.isa).add("kernels", r.kernels);
  json.raw("threads", json_array(r.limits.size(), [&](std::size_t i) { return std::to_string(r.limits[i].threads); }));
  json.raw("read_gb_per_s", numbers([](const LimitResult& l) { return l.read.median; }));
  json.raw("gmac_per_s", numbers([](const LimitResult& l) { return l.multiply.median; }));
  json.raw("f32_gmac_per_s", numbers([](const LimitResult& l) { return l.multiply_float.median; }));
  json.raw("int8_gmac_per_s", numbers([](const LimitResult& l) { return l.multiply_int8.median; }));
  return json;
}

}  // namespace

void append(std::string* out, const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  *out += line;
}

std::string bench_table(const BenchResult& r) {
  std::string out;
  append(&out, "%s: %s, %.2f MB and %.2f million multiply-adds a step\n", printable(r.model).c_str(), r.type.c_str(),
         static_cast<double>(r.step_bytes) / 1e6, static_cast<double>(r.step_macs) / 1e6);
  append(&out, "%s, keys and values %s, context %u, batch %u, load %s\n", r.kernels.c_str(), r.kv.c_str(), r.context,
         r.batch, r.load.c_str());
  append(&out, "start: open %.2f ms, first step %.2f ms, first token %.1f ms after the start of the process\n",
         r.load_seconds * 1e3, r.first_touch_seconds * 1e3, r.first_token_seconds * 1e3);
  limits_table(r, &out);
  steps_table(r, &out);
  operations_table(r, &out);
  for (const std::string& what : r.left_out) out += "left out: " + what + "; more with --seconds\n";
  return out;
}

std::string bench_json(const BenchResult& r, const std::string& comparison_or_empty) {
  JsonObject model;
  model.add("file", r.model).add("type", r.type).add("n_parameters", r.parameters).add("file_bytes", r.file_bytes);
  model.add("step_bytes", r.step_bytes).add("step_macs", r.step_macs);
  JsonObject settings;
  settings.add("context", std::uint64_t{r.context}).add("batch", std::uint64_t{r.batch});
  settings.add("kv", r.kv).add("load", r.load);
  JsonObject start;
  start.add("load_seconds", r.load_seconds).add("first_step_seconds", r.first_touch_seconds);
  start.add("first_token_seconds", r.first_token_seconds);
  JsonObject json;
  json.raw("model", model.str()).raw("settings", settings.str()).raw("machine", machine_json(r).str());
  json.raw("start", start.str());
  json.raw("decode", array_of(r.decode, [](const DecodeResult& d) {
             JsonObject row;
             row.add("threads", std::uint64_t{d.threads}).add("context", std::uint64_t{d.context});
             return add_rate(row, "tokens_per_s", d.seconds, 1).add("gb_per_s", d.bytes / d.seconds.median / kGiga);
           }));
  json.raw(
      "prefill", array_of(r.prefill, [](const PrefillResult& p) {
        JsonObject row;
        row.add("threads", std::uint64_t{p.threads}).add("length", std::uint64_t{p.length});
        return add_rate(row, "tokens_per_s", p.seconds, p.length).add("gmac_per_s", p.macs / p.seconds.median / kGiga);
      }));
  json.raw("operations", array_of(r.operations, [](const OperationResult& o) {
             JsonObject row;
             row.add("operation", o.name).add("phase", o.phase).add("threads", std::uint64_t{o.threads});
             row.add("tokens", std::uint64_t{o.tokens}).add("seconds", o.seconds.median).add("low", o.seconds.low);
             row.add("high", o.seconds.high).add("runs", std::uint64_t{o.seconds.runs}).add("bytes", o.bytes);
             row.add("macs", o.macs).add("gb_per_s", o.bytes_a_second() / kGiga);
             row.add("gmac_per_s", o.macs_a_second() / kGiga).add("read_share", o.bytes_a_second() / o.read_limit);
             return row.add("multiply_share", o.macs_a_second() / o.mac_limit);
           }));
  json.raw("left_out", json_array(r.left_out.size(), [&](std::size_t i) { return json_string(r.left_out[i]); }));
  if (!comparison_or_empty.empty()) json.raw("compare", comparison_or_empty);
  return json.str() + "\n";
}

}  // namespace minnow
