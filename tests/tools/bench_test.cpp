// `minnow bench`: the keys of --json, figures that are numbers, comparison, picture, refusals. No figure is judged.
#include "kernels/kernels.hpp"
#include "minnow/hosted.hpp"
#include "tests/tools/child.hpp"
#include "tools/bench/loops.hpp"
#include "tools/convert/json_reader.hpp"

namespace minnow {
namespace {

using convert::JsonId;
using convert::JsonKind;
using convert::JsonTree;
using minnow::test::HandShape;
using minnow::test::ModelFile;
using minnow::test::Outcome;
using minnow::test::run_program;
using minnow::test::TemporaryFolder;

constexpr const char* kShipped = "models/shakespeare-char.minnow";

Outcome bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  arguments.insert(arguments.end(), {"--runs", "1", "--seconds", "0.01"});
  return run_program(arguments);
}

// Every number under `id` is positive, but for the places of `may_be_zero`; nothing is null.
void check_numbers(const JsonTree& tree, JsonId id, const std::string& where) {
  CAPTURE(where);
  CHECK(tree.kind(id) != JsonKind::null);
  if (tree.is(id, JsonKind::integer) || tree.is(id, JsonKind::real)) {
    CHECK((tree.real(id) > 0 || (where == "decode.context" && tree.real(id) == 0)));
  } else if (tree.is(id, JsonKind::array)) {
    for (JsonTree::Items items = tree.items(id); !items.done();) check_numbers(tree, items.take(), where);
  } else if (tree.is(id, JsonKind::object)) {
    for (JsonTree::Items items = tree.items(id); !items.done();) {
      const std::string key(tree.text(items.take()));
      check_numbers(tree, items.take(), where.empty() ? key : where + "." + key);
    }
  }
}

void check_keys(const JsonTree& tree, JsonId object, const std::vector<std::string>& keys) {
  std::vector<std::string> found;
  for (JsonTree::Items items = tree.items(object); !items.done(); items.take()) {
    found.emplace_back(tree.text(items.take()));
  }
  CHECK(found == keys);
}

std::vector<JsonId> rows_of(const JsonTree& tree, const char* key) {
  std::vector<JsonId> rows;
  for (JsonTree::Items items = tree.items(tree.find(tree.root(), key)); !items.done();) rows.push_back(items.take());
  return rows;
}

std::vector<std::string> texts_of(const JsonTree& tree, const char* rows, const char* key) {
  std::vector<std::string> texts;
  for (const JsonId row : rows_of(tree, rows)) {
    const std::string text(tree.text(tree.find(row, key)));
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  return texts;
}

std::vector<std::int64_t> numbers_of(const JsonTree& tree, const char* rows, const char* key) {
  std::vector<std::int64_t> numbers;
  for (const JsonId row : rows_of(tree, rows)) numbers.push_back(tree.integer(tree.find(row, key)));
  return numbers;
}

// One element, its children inside: names match, attributes are quoted, nothing is left open.
bool well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < xml.size();) {
    if (xml[at] == '&') {
      const std::string entity = xml.substr(at, xml.find(';', at) + 1 - at);
      if (entity != "&lt;" && entity != "&amp;") return false;
    }
    if (xml[at] != '<') {
      ++at;
      continue;
    }
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos || std::count(tag.begin(), tag.end(), '\'') % 2 != 0) return false;
    const std::string name = tag.substr(0, tag.find_first_of(" \n"));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    at = end + 1;
  }
  return open.empty();
}

}  // namespace

TEST_CASE("bench: --json of the shipped model") {
  const Outcome o = run_program({"bench", kShipped, "--threads", "1", "--json", "--runs", "1", "--seconds", "20"});
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  CHECK(o.err.empty());
  const JsonTree tree = convert::read_json(o.out, "bench");
  check_numbers(tree, tree.root(), "");
  check_keys(tree, tree.root(),
             {"model", "settings", "machine", "start", "decode", "prefill", "operations", "left_out"});
  check_keys(tree, tree.find(tree.root(), "machine"),
             {"isa", "kernels", "threads", "read_gb_per_s", "gmac_per_s", "f32_gmac_per_s", "int8_gmac_per_s"});
  check_keys(tree, rows_of(tree, "decode")[0],
             {"threads", "context", "tokens_per_s", "low", "high", "runs", "gb_per_s"});
  check_keys(tree, rows_of(tree, "prefill")[0],
             {"threads", "length", "tokens_per_s", "low", "high", "runs", "gmac_per_s"});
  check_keys(tree, rows_of(tree, "operations")[0],
             {"operation", "phase", "threads", "tokens", "seconds", "low", "high", "runs", "bytes", "macs", "gb_per_s",
              "gmac_per_s", "read_share", "multiply_share"});
  CHECK(texts_of(tree, "operations", "operation") ==
        std::vector<std::string>{"c_attn", "attn.c_proj", "c_fc", "mlp.c_proj", "output", "attention at 128",
                                 "layer_norm", "quantise (MLP)", "gelu_erf"});
  CHECK(texts_of(tree, "operations", "phase") == std::vector<std::string>{"decode", "prefill"});
  CHECK(numbers_of(tree, "prefill", "length") == std::vector<std::int64_t>{16, 64, 256});
  CHECK(numbers_of(tree, "decode", "context") == std::vector<std::int64_t>{0, 128, 256});
  const JsonId machine = tree.find(tree.root(), "machine");
  CHECK(tree.text(tree.find(machine, "isa")) == to_string(select_kernels(Isa::best)->isa));
  CHECK(tree.count(tree.find(machine, "gmac_per_s")) == 1);
}

TEST_CASE("bench: enough time gives every length and context, for both thread counts") {
  const ModelFile file;
  const Outcome o = run_program({"bench", file.path, "--json", "--runs", "2", "--seconds", "1", "--isa", "reference"});
  REQUIRE(o.status == 0);
  const JsonTree tree = convert::read_json(o.out, "bench");
  check_numbers(tree, tree.root(), "");
  CHECK(rows_of(tree, "left_out").empty());
  std::vector<std::int64_t> lengths = {16};
  std::vector<std::int64_t> contexts = {0, 8, 16};
  std::vector<std::int64_t> threads = {1, 1, 1};
  if (const unsigned cores = ThreadPool::usable_cores(); cores > 1) {
    lengths.push_back(16);
    contexts.insert(contexts.end(), {0, 8, 16});
    threads.insert(threads.end(), 3, std::min(cores, 8u));
  }
  CHECK(numbers_of(tree, "prefill", "length") == lengths);
  CHECK(numbers_of(tree, "decode", "context") == contexts);
  CHECK(numbers_of(tree, "decode", "threads") == threads);
  CHECK(tree.text(tree.find(tree.find(tree.root(), "machine"), "isa")) == "reference");
  CHECK(tree.count(tree.find(tree.find(tree.root(), "machine"), "read_gb_per_s")) == threads.size() / 3);
}

TEST_CASE("bench: the operations follow the family") {
  HandShape shape;
  shape.activation = 4, shape.norm = 1, shape.positions = 2, shape.rotary_dims = 2, shape.n_kv_head = 1;
  shape.bias = false, shape.output = 1;
  const ModelFile file(shape);
  const Outcome o = bench({file.path, "--json", "--threads", "2", "--kv", "f16", "--ctx", "12"});
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  const JsonTree tree = convert::read_json(o.out, "bench");
  check_numbers(tree, tree.root(), "");
  CHECK(texts_of(tree, "operations", "operation") == std::vector<std::string>{"c_attn", "attn.c_proj", "c_gate", "c_fc",
                                                                              "mlp.c_proj", "output", "attention at 6",
                                                                              "rms_norm", "silu_gate"});
  CHECK(numbers_of(tree, "prefill", "length") == std::vector<std::int64_t>{12});
  CHECK(numbers_of(tree, "operations", "threads").back() == 2);
}

TEST_CASE("bench: tables for people, and a comparison with an earlier run") {
  const ModelFile file;
  const Outcome first = bench({file.path, "--json", "--threads", "1"});
  REQUIRE(first.status == 0);
  const std::string old = file.folder.write("old.json", first.out);
  const Outcome table = bench({file.path, "--threads", "1", "--compare", old});
  CHECK(table.status == 0);
  for (const char* text : {"read GB/s", "tokens/s", "c_attn", "of peak", "ratio", "decode, 1 thread, context 0 ",
                           "prefill, 1 thread, 16 tokens", "c_fc, prefill, 1 thread, 16 tokens"}) {
    CAPTURE(std::string(text));
    CHECK(table.out.find(text) != std::string::npos);
  }
  const Outcome json = bench({file.path, "--threads", "1", "--compare", old, "--json"});
  REQUIRE(json.status == 0);
  const JsonTree tree = convert::read_json(json.out, "bench");
  check_numbers(tree, tree.root(), "");
  std::size_t figures = 0;
  for (const char* rows : {"decode", "prefill", "operations"}) figures += rows_of(tree, rows).size();
  const std::vector<JsonId> compared = rows_of(tree, "compare");
  CHECK(compared.size() == figures);
  check_keys(tree, compared[0], {"figure", "before", "now", "ratio"});
  for (const JsonId row : compared) {
    const auto number = [&](const char* key) { return tree.real(tree.find(row, key)); };
    CHECK(number("ratio") == doctest::Approx(number("now") / number("before")));
  }
  // Two threads have nothing in common with one.
  const Outcome other = bench({file.path, "--threads", "2", "--compare", old});
  CHECK(other.status == 0);
  CHECK(other.out.find("nothing in common") != std::string::npos);
  CHECK(table.err.empty());
  // What else than the code has changed is told.
  const Outcome otherwise = bench({file.path, "--threads", "1", "--kv", "f16", "--ctx", "9", "--compare", old});
  CHECK(otherwise.status == 0);
  CHECK(otherwise.one_line_with(" is not of the same: kv f32 there, f16 here; context 16 there, 9 here; batch 16"));
}

TEST_CASE("bench: what is no earlier run is told in one line, before anything is measured") {
  const ModelFile file;
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"", "old.json"},
      {"threads 1", "old.json"},
      {"[1, 2]", "no array \"decode\""},
      {"{\"decode\": 1}", "no array \"decode\""},
      {"{\"decode\": []}", "no array \"prefill\""},
      {"{\"decode\": [{\"threads\": 1, \"context\": 0}]}", "without a proper \"tokens_per_s\""},
      {"{\"decode\": [{\"threads\": 1, \"context\": 0, \"tokens_per_s\": 0}]}", "without a proper \"tokens_per_s\""},
      {"{\"decode\": [{\"threads\": 1.5, \"context\": 0, \"tokens_per_s\": 1}]}", "without a proper \"threads\""},
      {"{\"decode\": [], \"prefill\": [7]}", "without a proper \"threads\""},
      {"{\"decode\": [], \"prefill\": [], \"operations\": [{}]}", "without a proper \"operation\""},
  };
  for (const auto& c : cases) {
    CAPTURE(std::string(c.text));
    const std::string old = file.folder.write("old.json", c.text);
    const Outcome o = bench({file.path, "--compare", old});
    CHECK(o.status == 1);
    CAPTURE(o.err);
    CHECK(o.one_line_with(c.says));
    CHECK(o.out.empty());
  }
  CHECK(bench({file.path, "--compare", file.folder.path("none")}).one_line_with("none"));
  CHECK(bench({file.path, "--compare", file.path}).status == 1);
}

TEST_CASE("bench: the picture") {
  const ModelFile file;
  const std::string path = file.folder.path("roof.svg");
  const Outcome o = bench({file.path, "--svg", path, "--threads", "1"});
  REQUIRE(o.status == 0);
  const std::string svg = file.folder.read("roof.svg");
  CHECK(svg.rfind("<svg xmlns='http://www.w3.org/2000/svg' ", 0) == 0);
  CHECK(well_formed(svg));
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf") == std::string::npos);
  for (const char* text : {"c_attn, decode", "c_attn, prefill", "output, decode", "layer_norm, prefill",
                           "attention at 8, decode", "read ", "f32 ", "int8 ", "multiply-adds a byte", "fill='#fff'"}) {
    CAPTURE(std::string(text));
    CHECK(svg.find(text) != std::string::npos);
  }
  CHECK(bench({file.path, "--svg", file.path}).status == 2);
  const Outcome nowhere = bench({file.path, "--svg", file.folder.path("none/roof.svg"), "--threads", "1"});
  CHECK(nowhere.status == 1);
  CHECK(nowhere.one_line_with("roof.svg"));
}

TEST_CASE("bench: options") {
  const ModelFile file;
  CHECK(run_program({"bench"}).status == 2);
  CHECK(run_program({"bench", file.path, "--seconds", "0"}).status == 2);
  CHECK(run_program({"bench", file.path, "--runs", "0"}).status == 2);
  CHECK(run_program({"bench", "--help"}).out.find("--compare OLD.json") != std::string::npos);
  CHECK(bench({file.folder.path("none")}).one_line_with("cannot open"));
}

TEST_CASE("bench: the loops of every table read all bytes and count what they multiply") {
  std::vector<std::byte> bytes(256 * 5 + 1);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37 + i / 256);
  const std::uint64_t expected = kPortableLoops.read(bytes.data() + 1, 256 * 5);
  const Kernels* tables[kMaxKernels];
  const std::size_t n = available_kernels(tables);
  for (std::size_t i = 0; i < n; ++i) {
    CAPTURE(std::string(tables[i]->name));
    const LimitLoops& loops = limit_loops(*tables[i]);
    CHECK((&loops == &kPortableLoops) == (tables[i]->isa == Isa::reference));
    CHECK(loops.read(bytes.data() + 1, 256 * 5) == expected);
    CHECK(loops.multiply_float(3) == 3 * loops.multiply_float(1));
    CHECK(loops.multiply_int8(3) == 3 * loops.multiply_int8(1));
    CHECK(loops.multiply_int8(1) > 0);
  }
}

}  // namespace minnow
