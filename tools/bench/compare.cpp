// `bench --compare`: the rates of this run over those of an older one, matched by what they are of.
#include <cstdio>

#include "tools/bench/report.hpp"
#include "tools/convert/json_reader.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/json.hpp"
#include "tools/messages.hpp"

namespace minnow {
namespace {

using convert::JsonId;
using convert::JsonKind;
using convert::JsonTree;
using convert::kNoJson;

std::string with_threads(std::uint64_t threads) { return std::to_string(threads) + plural(threads, " thread"); }

std::string decode_name(std::uint64_t threads, std::uint64_t context) {
  return "decode, " + with_threads(threads) + ", context " + std::to_string(context);
}
std::string prefill_name(std::uint64_t threads, std::uint64_t length) {
  return "prefill, " + with_threads(threads) + ", " + std::to_string(length) + " tokens";
}
std::string operation_name(const std::string& name, const std::string& phase, std::uint64_t threads,
                           std::uint64_t tokens) {
  return name + ", " + phase + ", " + with_threads(threads) + ", " + std::to_string(tokens) + plural(tokens, " token");
}

[[noreturn]] void refuse(const std::string& path, const std::string& found) {
  throw convert::Refusal(found + "; expected the output of minnow bench --json", path);
}

// Members of the rows of one array, checked.
class Rows {
 public:
  Rows(const JsonTree& tree, const std::string& path, const char* key) : tree_(tree), path_(path), key_(key) {
    const JsonId array = tree.is(tree.root(), JsonKind::object) ? tree.find(tree.root(), key) : kNoJson;
    if (!tree.is(array, JsonKind::array)) refuse(path, std::string("no array \"") + key + "\"");
    for (JsonTree::Items items = tree.items(array); !items.done();) rows_.push_back(items.take());
  }
  const std::vector<JsonId>& all() const { return rows_; }
  std::uint64_t whole(JsonId row, const char* member) const {
    const JsonId id = find(row, member);
    if (!tree_.is(id, JsonKind::integer) || tree_.integer(id) < 0) missing(member);
    return static_cast<std::uint64_t>(tree_.integer(id));
  }
  double positive(JsonId row, const char* member) const {
    const JsonId id = find(row, member);
    const bool number = tree_.is(id, JsonKind::integer) || tree_.is(id, JsonKind::real);
    if (!number || !(tree_.real(id) > 0)) missing(member);
    return tree_.real(id);
  }
  std::string text(JsonId row, const char* member) const {
    const JsonId id = find(row, member);
    if (!tree_.is(id, JsonKind::text)) missing(member);
    return std::string(tree_.text(id));
  }

 private:
  JsonId find(JsonId row, const char* member) const {
    return tree_.is(row, JsonKind::object) ? tree_.find(row, member) : kNoJson;
  }
  [[noreturn]] void missing(const char* member) const {
    refuse(path_, std::string("a row of \"") + key_ + "\" without a proper \"" + member + "\"");
  }

  const JsonTree& tree_;
  const std::string& path_;
  const char* key_;
  std::vector<JsonId> rows_;
};

}  // namespace

std::vector<Comparison> named_rates(const BenchResult& r) {
  std::vector<Comparison> rates;
  for (const DecodeResult& d : r.decode) {
    rates.push_back({decode_name(d.threads, d.context), 0, 1 / d.seconds.median});
  }
  for (const PrefillResult& p : r.prefill) {
    rates.push_back({prefill_name(p.threads, p.length), 0, p.length / p.seconds.median});
  }
  for (const OperationResult& o : r.operations) {
    rates.push_back({operation_name(o.name, o.phase, o.threads, o.tokens), 0, 1 / o.seconds.median});
  }
  return rates;
}

std::vector<Comparison> read_rates(const std::string& path) {
  const JsonTree tree = convert::read_json_file(path);
  std::vector<Comparison> rates;
  const Rows decode(tree, path, "decode");
  for (const JsonId row : decode.all()) {
    const std::uint64_t threads = decode.whole(row, "threads");
    const std::string name = decode_name(threads, decode.whole(row, "context"));
    rates.push_back({name, decode.positive(row, "tokens_per_s"), 0});
  }
  const Rows prefill(tree, path, "prefill");
  for (const JsonId row : prefill.all()) {
    const std::uint64_t threads = prefill.whole(row, "threads");
    const std::string name = prefill_name(threads, prefill.whole(row, "length"));
    rates.push_back({name, prefill.positive(row, "tokens_per_s"), 0});
  }
  const Rows operations(tree, path, "operations");
  for (const JsonId row : operations.all()) {
    const std::string operation = operations.text(row, "operation");
    const std::string phase = operations.text(row, "phase");
    const std::uint64_t threads = operations.whole(row, "threads");
    const std::string name = operation_name(operation, phase, threads, operations.whole(row, "tokens"));
    rates.push_back({name, 1 / operations.positive(row, "seconds"), 0});
  }
  return rates;
}

std::string other_settings(const std::string& old_path, const std::string& now_json) {
  const JsonTree old = convert::read_json_file(old_path);
  const JsonTree now = convert::read_json(now_json, "this run");
  const char* const settings[][2] = {{"model", "type"},    {"model", "n_parameters"}, {"model", "step_macs"},
                                     {"settings", "kv"},   {"settings", "context"},   {"settings", "batch"},
                                     {"settings", "load"}, {"machine", "kernels"}};
  const auto value = [](const JsonTree& tree, const char* object, const char* member) -> std::string {
    const JsonId id = tree.find(tree.find(tree.root(), object), member);
    if (tree.is(id, JsonKind::text)) return printable(std::string(tree.text(id)));
    return tree.is(id, JsonKind::integer) ? std::to_string(tree.integer(id)) : "";
  };
  std::string out;
  for (const auto& [object, member] : settings) {
    const std::string before = value(old, object, member);
    const std::string here = value(now, object, member);
    if (before == here) continue;
    out += (out.empty() ? "" : "; ") + std::string(member) + ' ' + (before.empty() ? "unknown" : before) + " there, " +
           here + " here";
  }
  return out;
}

std::vector<Comparison> compare_rates(const std::vector<Comparison>& old, const BenchResult& result) {
  std::vector<Comparison> both;
  for (const Comparison& now : named_rates(result)) {
    for (const Comparison& before : old) {
      if (before.name != now.name) continue;
      both.push_back({now.name, before.before, now.now});
      break;
    }
  }
  return both;
}

std::string comparison_table(const std::vector<Comparison>& figures, const std::string& path) {
  char line[200];
  std::string out;
  std::snprintf(line, sizeof line, "\n%-48s %12s %12s %8s\n", "rates: tokens or passes a second", "before", "now",
                "ratio");
  out += line;
  for (const Comparison& f : figures) {
    std::snprintf(line, sizeof line, "%-48s %12.1f %12.1f %8.3f\n", printable(f.name).c_str(), f.before, f.now,
                  f.now / f.before);
    out += line;
  }
  if (figures.empty()) out += "nothing in common with " + printable(path) + "\n";
  return out;
}

std::string comparison_json(const std::vector<Comparison>& figures) {
  return json_array(figures.size(), [&](std::size_t i) {
    JsonObject json;
    json.add("figure", figures[i].name).add("before", figures[i].before).add("now", figures[i].now);
    return json.add("ratio", figures[i].now / figures[i].before).str();
  });
}

}  // namespace minnow
