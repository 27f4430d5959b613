// Every family in every container: converted as a user would, and run; the logits are those that PyTorch computed in
// float64 from the family's own names and arithmetic (tests/fixtures/make_relatives.py).
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "tests/convert/support.hpp"
#include "tests/session/rig.hpp"
#include "tools/convert/file.hpp"

namespace minnow::convert::test {

namespace {

using minnow::test::AlignedBytes;
using minnow::test::all_logits;
using minnow::test::largest_difference;
using minnow::test::load_array;
using minnow::test::load_ids;
using minnow::test::open_model;
using minnow::test::Rig;

struct Relative {
  const char* file;                  // in tests/fixtures/relatives
  std::vector<std::string> options;  // of convert
  const char* family;                // what the summary names
  const char* logits = "logits.f32";
};

const Relative kRelatives[] = {
    {"nanogpt/ckpt.pt", {"--n-head", "3", "--gelu", "erf"}, "nanoGPT of before 2023-01-27"},
    {"nanogpt/state_dict.pt", {"--n-head", "3"}, "nanoGPT"},
    {"nanogpt/model_state.pt", {"--n-head", "3"}, "nanoGPT"},
    {"nanogpt/pytorch_model.bin", {"--n-head", "3"}, "nanoGPT"},
    {"nanogpt/wrapped.safetensors", {"--n-head", "3"}, "nanoGPT"},
    {"build_nanogpt/model_19072.pt", {}, "build-nanogpt"},
    {"mingpt/model.pt", {"--n-head", "2"}, "minGPT"},
    {"mingpt_copy/model.pt", {"--n-head", "2"}, "minGPT"},
    {"mingpt_2022/model.pt", {"--n-head", "3"}, "minGPT since 2022"},
    {"lecture/model.pth", {}, "the video lecture's GPT"},
    {"lecture/model.pth", {"--attn-scale", "embd"}, "the video lecture's GPT", "embd.logits.f32"},
    {"llmc/fp32.bin", {}, "llm.c"},
    {"llmc/bf16.bin", {}, "llm.c"},
    {"hugging_face/pytorch_model.bin", {}, "Hugging Face GPT-2"},
    {"hugging_face/model.safetensors", {}, "Hugging Face GPT-2"},
    {"hugging_face/part.safetensors.index.json", {}, "Hugging Face GPT-2"},
    {"hugging_face_untied/model.safetensors", {}, "Hugging Face GPT-2"},
    {"llama2/ckpt.pt", {}, "llama2.c"},
    {"llama2/legacy.bin", {}, "llama2.c"},
    {"llama2/v1.bin", {}, "llama2.c"},
    {"llama2/v2.bin", {}, "llama2.c", "v2.logits.f32"},
    {"llama2_mqa/ckpt.pt", {}, "llama2.c"},
    {"llama2_mqa/legacy.bin", {}, "llama2.c"},
    {"llama2_mqa/v1.bin", {}, "llama2.c"},
    {"llama2_mqa/v2.bin", {}, "llama2.c", "v2.logits.f32"},
    {"nanochat/model_000010.pt", {}, "nanochat"},
    {"no_positions/mask.pt", {"--positions", "none"}, "nanoGPT"},
    {"no_positions/ckpt.pt", {"--positions", "sinusoidal", "--block-size", "14"}, "nanoGPT", "sinusoidal.logits.f32"},
    {"no_positions/mask.pt",
     {"--positions", "sinusoidal", "--attn-scale", "embd"},
     "nanoGPT",
     "sinusoidal_embd.logits.f32"},
};

std::string relative(const std::string& name) { return fixture("relatives/" + name); }

// Each of `follow` has the largest logit after those before it.
bool is_greedy(Session& session, const std::vector<Token>& follow) {
  for (const Token token : follow) {
    const Span<const float> logits = session.logits();
    const float* const best = std::max_element(logits.begin(), logits.end());
    if (best - logits.begin() != token) return false;
    if (session.feed(Span<const Token>(&token, 1)) != Status::ok) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("relatives: every family converts, and computes what its own code computes") {
  const TemporaryFolder folder;
  for (const Relative& each : kRelatives) {
    CAPTURE(each.file);
    std::vector<std::string> arguments = {relative(each.file), "-o", folder / "m", "--type", "f32", "--no-text"};
    arguments.insert(arguments.end(), each.options.begin(), each.options.end());
    const Outcome outcome = convert(arguments);
    CAPTURE(outcome.message);
    REQUIRE(outcome.status == 0);
    CHECK(contains(outcome.message, std::string(": ") + each.family + ", n_layer "));

    const std::string data = relative(folder_of(each.file) + "/");
    const std::string bytes = read_file(folder / "m");
    AlignedBytes file(bytes.size());
    std::memcpy(file.data(), bytes.data(), bytes.size());
    const Model model = open_model(file);
    Rig rig(model, {});
    const std::vector<Token> ids = load_ids(data + "ids.u16");
    const std::vector<float> expected = load_array<float>(data + each.logits);
    CHECK(largest_difference(all_logits(rig.session, ids, 3), expected) < 2e-4f);
    if (std::string(each.logits) == "logits.f32" && std::filesystem::exists(data + "greedy.u16")) {
      CHECK(is_greedy(rig.session, load_ids(data + "greedy.u16")));
    }
  }
}

TEST_CASE("relatives: the same weights in every container and wrapping give the same model") {
  const TemporaryFolder folder;
  const std::vector<std::string> groups[] = {
      {"nanogpt/ckpt.pt", "nanogpt/state_dict.pt", "nanogpt/model_state.pt", "nanogpt/pytorch_model.bin",
       "nanogpt/wrapped.safetensors"},
      {"llmc/fp32.bin", "llmc/bf16.bin"},
      {"hugging_face/pytorch_model.bin", "hugging_face/model.safetensors", "hugging_face/part.safetensors.index.json"},
      {"llama2/ckpt.pt", "llama2/legacy.bin", "llama2/v1.bin"},
      {"llama2_mqa/ckpt.pt", "llama2_mqa/legacy.bin", "llama2_mqa/v1.bin"},
  };
  for (const std::vector<std::string>& group : groups) {
    std::string expected;
    for (const std::string& name : group) {
      CAPTURE(name);
      std::vector<std::string> arguments = {relative(name), "-o", folder / "m", "--no-text"};
      if (group == groups[0]) arguments.insert(arguments.end(), {"--n-head", "3", "--gelu", "erf"});
      REQUIRE(convert(arguments).status == 0);
      const std::string bytes = comparable_model(folder / "m");
      if (expected.empty()) expected = bytes;
      CHECK(bytes == expected);
    }
  }
}

TEST_CASE("relatives: the family and what was chosen are recorded and named") {
  const TemporaryFolder folder;
  const auto provenance = [&](const std::vector<std::string>& arguments) {
    REQUIRE(convert(arguments).status == 0);
    const std::string bytes = read_file(folder / "m");
    FileHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    return bytes.substr(header.provenance_offset, header.provenance_bytes);
  };
  const std::vector<std::string> lecture = {relative("lecture/model.pth"), "-o", folder / "m", "--no-text"};
  CHECK(contains(provenance(lecture), "\nfamily=the video lecture's GPT\nattn_scale=head\n"));
  CHECK(contains(convert(lecture).message, " ids without text, attn_scale=head\n"));
  CHECK(contains(convert({relative("nanogpt/state_dict.pt"), "-o", folder / "m", "--no-text", "--n-head", "3"}).message,
                 " ids without text, gelu=erf (assumed)\n"));
  const std::string index = relative("hugging_face/part.safetensors.index.json");
  const std::string sharded = provenance({index, "-o", folder / "m", "--no-text"});
  CHECK(contains(sharded, "\nfamily=Hugging Face GPT-2\nsettings=config.json\n"));
  CHECK(contains(sharded, "source=part.safetensors.index.json\nsource_sha256="));
  CHECK(contains(sharded, "\nsource_2=part-00001-of-00002.safetensors\nsource_2_sha256="));
  CHECK(contains(sharded, "\nsource_3=part-00002-of-00002.safetensors\nsource_3_sha256="));
  CHECK(contains(sharded, "\nsource_4=config.json\nsource_4_sha256="));
  const std::string chosen = provenance({relative("no_positions/mask.pt"), "-o", folder / "m", "--no-text", "--gelu",
                                         "tanh", "--positions", "none", "--attn-scale", "embd"});
  CHECK(contains(chosen, "\nfamily=nanoGPT\ngelu=tanh\npositions=none\nattn_scale=embd\n"));
}

TEST_CASE("relatives: a config.json that another program left does not speak for a bare nanoGPT") {
  const TemporaryFolder folder;
  write_file(folder / "state_dict.pt", read_file(relative("nanogpt/state_dict.pt")));
  write_file(folder / "config.json", R"({"n_layer": 2, "n_head": 1, "n_embd": 12})");
  const Outcome outcome = convert({folder / "state_dict.pt", "--no-text"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.message, "the checkpoint does not say n_head"));
}

TEST_CASE("relatives: no file that is read is written over") {
  const TemporaryFolder folder;
  for (const char* name : {"model.safetensors", "config.json"}) {
    write_file(folder / name, read_file(relative(std::string("hugging_face/") + name)));
  }
  for (const char* name : {"model.safetensors", "config.json"}) {
    const std::string before = read_file(folder / name);
    const Outcome outcome = convert({folder / "model.safetensors", "--no-text", "-o", folder / name});
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.message, "expected another name for the model"));
    CHECK(read_file(folder / name) == before);
  }
}

TEST_CASE("relatives: -v lists every tensor of a model that is refused") {
  const TemporaryFolder folder;
  const std::vector<std::string> arguments = {relative("mingpt/model.pt"), "-o", folder / "m", "--no-text"};
  const Outcome quiet = convert(arguments);
  CHECK(quiet.status == 1);
  CHECK(contains(quiet.message, "give it with --n-head\n"));
  CHECK(quiet.message.find('\n') == quiet.message.size() - 1);
  std::vector<std::string> verbose = arguments;
  verbose.push_back("-v");
  const Outcome loud = convert(verbose);
  CHECK(loud.status == 1);
  for (const char* name : {"\"pos_emb\"", "\"blocks.1.mlp.2.bias\"", "\"blocks.0.attn.mask\"", "[1, 11, 10]"}) {
    CHECK(contains(loud.message, name));
  }
  CHECK(folder.names().empty());
}

}  // namespace minnow::convert::test
