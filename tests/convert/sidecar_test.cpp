// tools/convert/sidecar.cpp: settings beside a checkpoint, known by their content, and only where they are needed.
#include "tools/convert/sidecar.hpp"

#include <doctest/doctest.h>

#include "tests/convert/made_up.hpp"

namespace minnow::convert::test {

namespace {

constexpr const char* kConfig = R"({"model_type": "gpt2", "n_layer": 2, "n_head": 4, "n_inner": null, "eps": 0.5,
                                    "tie": false, "more": {"n_embd": 7}})";

const Family& family_with(Sidecar sidecar) {
  for (const Family& family : families()) {
    if (family.sidecar == sidecar) return family;
  }
  FAIL("no family");
  return families()[0];
}

// A checkpoint of this name in the folder, without settings but the given ones, after the search.
Checkpoint read_beside(const TemporaryFolder& folder, const std::string& name, const Settings& own = {},
                       Sidecar sidecar = Sidecar::config_json) {
  write_file(folder / name, "x");
  Checkpoint out;
  out.files.push_back(std::make_shared<const InputFile>(folder / name));
  out.settings = own;
  if (!own.empty()) out.settings_source = "args";
  read_sidecar(family_with(sidecar), &out);
  CHECK(out.sidecar == (out.settings.empty() || out.settings_source == "args" ? "" : out.settings_source));
  return out;
}
Checkpoint read_nanochat_beside(const TemporaryFolder& folder, const std::string& name) {
  return read_beside(folder, name, {}, Sidecar::meta_json);
}

}  // namespace

TEST_CASE("sidecar: config.json") {
  const TemporaryFolder folder;
  CHECK(read_beside(folder, "m.bin").settings.empty());
  write_file(folder / "config.json", kConfig);
  const Checkpoint c = read_beside(folder, "m.bin");
  CHECK(c.settings_source == "config.json");
  CHECK(c.settings.at("n_layer").kind == Setting::Kind::integer);
  CHECK(c.settings.at("n_layer").integer == 2);
  CHECK(c.settings.at("n_layer").real == 2.0);
  CHECK(c.settings.at("model_type").text == "gpt2");
  CHECK(c.settings.at("n_inner").kind == Setting::Kind::none);
  CHECK(c.settings.at("eps").real == 0.5);
  CHECK(c.settings.at("tie").kind == Setting::Kind::boolean);
  CHECK(c.settings.at("tie").integer == 0);
  CHECK(c.settings.at("more").kind == Setting::Kind::other);
}

TEST_CASE("sidecar: a checkpoint's own settings come first, if they are a model's") {
  const TemporaryFolder folder;
  write_file(folder / "config.json", kConfig);
  CHECK(read_beside(folder, "m.bin", {{"n_layers", whole(3)}}).settings_source == "args");
  CHECK(read_beside(folder, "m.bin", {{"learning_rate", whole(3)}}).settings_source == "config.json");
}

TEST_CASE("sidecar: meta_<step>.json belongs to model_<step>") {
  const TemporaryFolder folder;
  write_file(folder / "meta_000200.json", R"({"step": 200, "model_config": {"n_layer": 5, "sequence_len": 9}})");
  write_file(folder / "meta_000300.json", R"({"step": 300, "model_config": [1]})");
  Checkpoint c = read_nanochat_beside(folder, "model_000200.pt");
  CHECK(c.settings_source == "meta_000200.json");
  CHECK(c.settings.at("sequence_len").integer == 9);
  CHECK(c.settings.count("step") == 0);
  for (const char* name : {"model_000300.pt", "model_000400.pt", "model_.pt", "model_000200", "models_000200.pt"}) {
    CHECK_MESSAGE(read_nanochat_beside(folder, name).settings.empty(), name);
  }
}

TEST_CASE("sidecar: only the family's own is read") {
  const TemporaryFolder folder;
  write_file(folder / "config.json", kConfig);
  write_file(folder / "meta_000200.json", R"({"model_config": {"n_layer": 5}})");
  CHECK(read_beside(folder, "model_000200.pt").settings_source == "config.json");
  CHECK(read_nanochat_beside(folder, "model_000200.pt").settings_source == "meta_000200.json");
  CHECK(read_nanochat_beside(folder, "model_000300.pt").settings.empty());
  CHECK(read_beside(folder, "model_000200.pt", {}, Sidecar::none).settings.empty());
  for (const Family& family : families()) {
    const std::string name = family.name;
    const std::string expected = name == "Hugging Face GPT-2" ? "config.json"
                                 : name == "nanochat"         ? "meta_<step>.json"
                                                              : "";
    CHECK_MESSAGE(sidecar_name(family) == expected, name);
  }
}

TEST_CASE("sidecar: what is no model's settings is left alone, what is no JSON is refused") {
  const TemporaryFolder folder;
  for (const char* text : {"{}", "[1, 2]", "3", R"({"theme": "dark"})"}) {
    write_file(folder / "config.json", text);
    CHECK(read_beside(folder, "m.bin").settings.empty());
  }
  write_file(folder / "config.json", "{\"n_layer\": 2");
  CHECK_THROWS_AS(read_beside(folder, "m.bin"), Refusal);
}

}  // namespace minnow::convert::test
