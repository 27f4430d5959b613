// How commands bring a model into memory: the same text, no second copy, and one line where it fails.
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "tests/tools/child.hpp"

namespace minnow {
namespace {

using minnow::test::HandShape;
using minnow::test::kSanitized;
using minnow::test::ModelFile;
using minnow::test::Outcome;
using minnow::test::run_program;

// Larger than the 6 MiB that a process may need beside it, so that a second copy would be seen; `times` 6 MiB.
HandShape large_shape(std::uint32_t times) {
  HandShape shape = ModelFile::default_shape();
  shape.n_layer = times;
  shape.n_head = 4;
  shape.head_size = 64;
  shape.n_embd = 256;
  shape.n_hidden = 2048;
  return shape;
}

std::uint64_t figure(const Outcome& o, const char* name) {
  const std::size_t at = o.err.find(name);
  REQUIRE(at != std::string::npos);
  return std::strtoull(o.err.c_str() + at + std::strlen(name), nullptr, 10);
}

}  // namespace

TEST_CASE("load: resident memory is at most the file, the session and 6 MiB, mapped or read") {
  if (kSanitized) return;
  const ModelFile small;
  const ModelFile large(large_shape(2));
  CHECK(large.bytes.size() > (8u << 20));
  for (const ModelFile* const model : {&small, &large}) {
    std::string text;
    for (const char* load : {"map", "read"}) {
      CAPTURE(std::string(load));
      const Outcome o = run_program({"run", model->path, "-n", "60", "--seed", "5", "--stats", "--load", load});
      REQUIRE(o.status == 0);
      const auto peak = figure(o, "memory: peak ");
      CHECK(peak > model->bytes.size() + 500000);
      CHECK(peak <= figure(o, "bytes, model ") + figure(o, "session ") + (6u << 20));
      CHECK((text.empty() || o.out == text));
      text = o.out;
    }
  }
}

TEST_CASE("load: by itself a small model is mapped and a large one read, which bench tells") {
  if (kSanitized) return;
  const ModelFile small;
  const ModelFile large(large_shape(4));
  CHECK(large.bytes.size() > (16u << 20));
  const auto told = [](const ModelFile& model, const std::vector<std::string>& options) {
    std::vector<std::string> words = {"bench",  model.path, "--json",    "--threads", "1",
                                      "--runs", "1",        "--seconds", "0.01"};
    words.insert(words.end(), options.begin(), options.end());
    return minnow::test::json_value(run_program(words).out, "load");
  };
  CHECK(told(small, {}) == "\"map\"");
  CHECK(told(small, {"--load", "read"}) == "\"read\"");
  CHECK(told(large, {}) == "\"read\"");
  CHECK(told(large, {"--load", "map"}) == "\"map\"");
}

TEST_CASE("load: where memory is short a model is mapped, or refused if it had to be read") {
  if (kSanitized) return;
  const ModelFile large(large_shape(4));
  // Room for the program and the mapped file, not for the file once more.
  const rlim_t limit = large.bytes.size() + (12u << 20);
  const Outcome read = run_program({"run", large.path, "-n", "3", "--load", "read", "--threads", "1"}, "", "", limit);
  CAPTURE(read.err);
  CHECK(read.status == 1);
  CHECK(read.one_line_with("do not fit into memory; use --load map"));
  CHECK(read.out.empty());
  CHECK(run_program({"run", large.path, "-n", "3", "--threads", "1"}, "", "", limit).status == 0);
}

TEST_CASE("load: what is no model or no file is told in one line either way") {
  const ModelFile model;
  const std::string fifo = model.folder.path("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  for (const char* load : {"map", "read"}) {
    CAPTURE(std::string(load));
    CHECK(run_program({"run", fifo, "--load", load}).one_line_with("no regular file"));
    CHECK(run_program({"run", model.folder.path("none"), "--load", load}).one_line_with("cannot open"));
    CHECK(run_program({"run", model.folder.write("text", "no model"), "--load", load}).one_line_with("not a model"));
  }
  CHECK(run_program({"run", model.path, "--load", "copy"}).status == 2);
}

}  // namespace minnow
