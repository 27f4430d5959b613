// `minnow info`: the keys of --json, exact memory, --verify.
#include "kernels/kernels.hpp"
#include "tests/tools/child.hpp"

namespace minnow {
namespace {

using minnow::test::AlignedBytes;
using minnow::test::hand_built;
using minnow::test::HandShape;
using minnow::test::json_value;
using minnow::test::ModelFile;
using minnow::test::Outcome;
using minnow::test::run_program;

}  // namespace

TEST_CASE("info: --json") {
  const ModelFile file;
  const Model model = minnow::test::open_model(file.bytes);
  const Outcome o = run_program({"info", file.path, "--json"});
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  const ModelInfo info = model.info();
  std::size_t session = 0;
  REQUIRE(Session::memory_needed(model, {}, &session) == Status::ok);
  const struct {
    const char* key;
    std::string value;
  } expected[] = {
      {"file_bytes", std::to_string(file.bytes.size())},
      {"session_bytes", std::to_string(session)},
      {"n_layer", "2"},
      {"n_head", "2"},
      {"n_kv_head", "2"},
      {"n_embd", "8"},
      {"block_size", "16"},
      {"vocab_size", "11"},
      {"n_tokens", "9"},
      {"n_parameters", std::to_string(info.n_parameters)},
      {"type", "\"f32\""},
      {"kv", "\"f32\""},
      {"bias", "true"},
      {"activation", "\"gelu_erf\""},
      {"context", "16"},
      {"threads", "1"},
      {"isa", std::string("\"") + to_string(select_kernels(Isa::best)->isa) + "\""},
      {"kv_bytes_a_token", std::to_string(2 * 2 * 2 * 4 * 4)},
  };
  for (const auto& e : expected) {
    CAPTURE(e.key);
    CHECK(json_value(o.out, e.key) == e.value);
  }
  CHECK(o.out.find("\"provenance\": {\"source\": \"hand\"}") != std::string::npos);
  const std::string available = json_value(o.out, "available");
  CHECK(available.find("\"reference\"") == 1);
  for (std::size_t at = 1; at + 1 < available.size();) {
    const std::size_t end = available.find_first_of(",]", at);
    const std::string name = available.substr(at + 1, end - at - 2);
    CAPTURE(name);
    CHECK(run_program({"info", file.path, "--isa", name}).status == 0);
    at = end + 2;
  }
  CHECK(json_value(o.out, "verified") == "(no verified)");
  CHECK(json_value(run_program({"info", file.path, "--json", "--verify"}).out, "verified") == "true");
}

TEST_CASE("info: a q4 model says what is not q4") {
  const minnow::test::TemporaryFolder folder;
  const std::string model = folder.path("m");
  const struct {
    const char* checkpoint;
    const char* output_type;
    const char* types;
  } cases[] = {
      {"tests/fixtures/random-2x48/ckpt.pt", "q8", " as q4, embedding and output as q8\n"},
      {"tests/fixtures/random-2x48/ckpt.pt", "q4", " as q4\n"},
      {"tests/fixtures/relatives/hugging_face_untied/model.safetensors", "q8",
       " as q4, embedding as q8, output as q8\n"},
      {"tests/fixtures/relatives/hugging_face_untied/model.safetensors", "q4", " as q4, embedding as q8\n"},
  };
  for (const auto& each : cases) {
    REQUIRE(run_program({"convert", each.checkpoint, "-o", model, "--no-text", "--type", "q4", "--calibrate", "none",
                         "--output-type", each.output_type})
                .status == 0);
    CHECK(run_program({"info", model}).out.find(each.types) != std::string::npos);
  }
}

TEST_CASE("info: memory follows the options") {
  const ModelFile file;
  const Model model = minnow::test::open_model(file.bytes);
  SessionConfig config;
  config.context = 9;
  config.batch = 3;
  config.kv = KvType::f16;
  config.executor.run = [](void*, std::uint32_t, Job, void*) {};
  config.executor.width = 2;
  std::size_t bytes = 0;
  REQUIRE(Session::memory_needed(model, config, &bytes) == Status::ok);
  const Outcome o = run_program(
      {"info", file.path, "--json", "--ctx", "9", "--batch=3", "--kv", "f16", "--threads", "2", "--isa", "reference"});
  CHECK(json_value(o.out, "session_bytes") == std::to_string(bytes));
  CHECK(json_value(o.out, "context") == "9");
  CHECK(json_value(o.out, "threads") == "2");
  CHECK(json_value(o.out, "kv") == "\"f16\"");
  CHECK(json_value(o.out, "isa") == "\"reference\"");
}

TEST_CASE("info: for people") {
  const ModelFile file;
  const Outcome o = run_program({"info", file.path, "--verify"});
  CHECK(o.status == 0);
  CHECK(o.out.find("2 layers, 2 heads of 4") != std::string::npos);
  CHECK(o.out.find("11 ids, 9 with text") != std::string::npos);
  CHECK(o.out.find("source       hand\n") != std::string::npos);
  CHECK(o.out.find("verified") != std::string::npos);
}

TEST_CASE("info: padding is told from ids, as converting tells it, without text too") {
  const minnow::test::TemporaryFolder folder;
  const std::string path = folder / "m";
  const Outcome converted = run_program({"convert", "tests/fixtures/relatives/llmc/fp32.bin", "-o", path, "--no-text"});
  CHECK(converted.err.find(", 20 ids in 24 rows, without text\n") != std::string::npos);
  const Outcome o = run_program({"info", path});
  CHECK(o.out.find("20 ids in 24 rows, without text\n") != std::string::npos);
}

TEST_CASE("info: the family, in words and as JSON") {
  HandShape shape;
  shape.norm = 1, shape.positions = 2, shape.pairing = 1, shape.rotary_dims = 2, shape.n_kv_head = 1;
  shape.activation = 3, shape.qk_norm = 2, shape.embed_norm = 1, shape.output = 1, shape.softcap = 15;
  shape.attention_scale = 0.25f, shape.bias = false, shape.with = {23};
  const AlignedBytes bytes = hand_built(shape);
  const ModelFile other;
  const std::string path =
      other.folder.write("family", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  const Outcome text = run_program({"info", path});
  CHECK(text.status == 0);
  CHECK(text.out.find("2 heads of 4 (1 for keys and values)") != std::string::npos);
  CHECK(text.out.find("rms norm, rotary positions (halves, 2 of 4 dims), relu_squared, biases, separate output, normed "
                      "embedding, QK norm rms_after_rotary, attention scale 0.25, logits capped at 15\n") !=
        std::string::npos);
  const Outcome json = run_program({"info", path, "--json"});
  const struct {
    const char* key;
    const char* value;
  } expected[] = {{"norm", "\"rms\""},
                  {"positions", "\"rotary\""},
                  {"rotary_dims", "2"},
                  {"embed_norm", "true"},
                  {"tied", "false"},
                  {"qk_norm", "\"rms_after_rotary\""},
                  {"attention_scale", "0.25"},
                  {"logit_softcap", "15"},
                  {"activation", "\"relu_squared\""},
                  {"kv_bytes_a_token", "64"},
                  {"bias", "true"}};
  for (const auto& e : expected) {
    CAPTURE(std::string(e.key));
    CHECK(json_value(json.out, e.key) == e.value);
  }
}

TEST_CASE("info: --verify finds what opening does not read") {
  const ModelFile file;
  std::string damaged(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  damaged[damaged.size() - 200] = static_cast<char>(damaged[damaged.size() - 200] ^ 16);
  const std::string path = file.folder.write("damaged", damaged);
  CHECK(run_program({"info", path}).status == 0);
  const Outcome o = run_program({"info", path, "--verify", "--json"});
  CHECK(o.status == 1);
  CHECK(o.one_line_with("corrupt"));
  CHECK(json_value(o.out, "verified") == "false");
}

}  // namespace minnow
