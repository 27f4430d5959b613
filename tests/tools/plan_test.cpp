// `minnow plan`: the program's figures; the arithmetic has its own test.
#include <algorithm>

#include "minnow/hosted.hpp"
#include "tests/tools/child.hpp"

namespace {

using minnow::test::json_value;
using minnow::test::ModelFile;
using minnow::test::Outcome;
using minnow::test::run_program;

TEST_CASE("plan: a shape") {
  Outcome o = run_program(
      {"plan", "--n-layer", "1", "--n-head", "8", "--n-embd", "512", "--bias", "--tokens", "1000", "--json"});
  CHECK(o.status == 0);
  CHECK(json_value(o.out, "attention_block_parameters") == "1050624");
  CHECK(json_value(o.out, "scores_a_head") == "1000000");
  CHECK(json_value(o.out, "scores_a_layer") == "8000000");
  o = run_program(
      {"plan", "--n_layer=32", "--n_head=32", "--n_kv_head=8", "--n_embd=4096", "--tokens=100000", "--json"});
  CHECK(json_value(o.out, "kv_bytes_a_token") == "131072");
  CHECK(json_value(o.out, "kv_bytes") == "13107200000");
  CHECK(json_value(o.out, "scores_a_head") == "10000000000");
  o = run_program(
      {"plan", "--n-layer", "32", "--n-head", "32", "--n-kv-head", "8", "--n-embd", "4096", "--tokens", "100000"});
  CHECK(o.out.find("12.2 GiB") != std::string::npos);
  o = run_program({"plan", "--tokens", "4096", "--json"});  // GPT-2's shape
  CHECK(json_value(o.out, "score_matrix_f32_bytes") == "67108864");
}

TEST_CASE("plan: a model, and its shape without the file, need the same session") {
  const ModelFile file;
  const Outcome of_file = run_program({"plan", file.path, "--json", "--ctx", "11", "--threads", "3"});
  CHECK(of_file.status == 0);
  const Outcome info = run_program({"info", file.path, "--json", "--ctx", "11", "--threads", "3"});
  CHECK(json_value(of_file.out, "session_bytes") == json_value(info.out, "session_bytes"));
  CHECK(json_value(of_file.out, "parameters") == json_value(info.out, "n_parameters"));
  const Outcome bare =
      run_program({"plan",   "--n-layer",    "2",  "--n-head",   "2",  "--n-embd", "8",      "--block-size",
                   "16",     "--vocab-size", "11", "--n-hidden", "32", "--bias",   "--type", "f32",
                   "--json", "--ctx",        "11", "--threads",  "3"});
  CHECK(bare.out == of_file.out);
}

TEST_CASE("plan: a large shape is counted with the threads that its file would get") {
  const std::vector<std::string> large = {"plan", "--n-layer", "12", "--json"};
  const unsigned threads = std::min(8u, minnow::ThreadPool::usable_cores());
  std::vector<std::string> told = large;
  told.insert(told.end(), {"--threads", std::to_string(threads)});
  CHECK(run_program(large).out == run_program(told).out);
  CHECK(run_program({"plan", "--n-layer", "1", "--n-head", "1"}).out.find("1 layer, 1 head of 768") == 0);
}

TEST_CASE("plan: refuses what does not fit") {
  Outcome o = run_program({"plan", "--n-layer", "268435456", "--n-embd", "268435456", "--n-head", "1"});
  CHECK(o.status == 1);
  CHECK(o.err.find("minnow plan: ") == 0);
  o = run_program({"plan", "--tokens", "4294967295"});
  CHECK(o.status == 1);
  CHECK(o.one_line_with("does not fit 64 bits"));
}

}  // namespace
