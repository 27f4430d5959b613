// `minnow convert --type q4`: where the calibration text comes from, what is recorded, what is refused, and that
// threads never change the file.
#include "tools/convert/calibration.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "tests/convert/support.hpp"
#include "tests/session/rig.hpp"
#include "tools/convert/pack.hpp"
#include "tools/convert/quantised.hpp"
#include "tools/convert/sha256.hpp"
#include "tools/convert/vocabulary.hpp"

namespace minnow::convert::test {

namespace {

using minnow::test::AlignedBytes;
using minnow::test::Rig;

const std::string kRandom = fixture("random-2x48/ckpt.pt");  // block_size 24, 37 symbols

std::string provenance_of(const std::string& path) {
  const std::string bytes = read_file(path);
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return bytes.substr(header.provenance_offset, header.provenance_bytes);
}

// Converts to q4, into `model`, on few tokens.
Outcome convert_q4(const std::string& model, std::vector<std::string> more, const std::string& checkpoint = kRandom) {
  std::vector<std::string> arguments = {checkpoint, "-o", model, "--type", "q4"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return convert(arguments);
}

std::string some_ids(std::size_t count, std::uint32_t below) {
  std::vector<std::uint16_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<std::uint16_t>((i * i * 5 + i) % below);
  return raw(ids);
}

std::string value_of(const std::string& provenance, const std::string& key) {
  const std::size_t at = provenance.find("\n" + key + "=");
  if (at == std::string::npos) return "(none)";
  const std::size_t begin = at + key.size() + 2;
  return provenance.substr(begin, provenance.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("calibration: the same file for any number of threads; the model's own text is recorded") {
  const TemporaryFolder folder;
  for (const char* threads : {"1", "2", "5"}) {
    const Outcome outcome = convert_q4(folder / threads, {"--calibrate-tokens", "400", "--threads", threads});
    CAPTURE(outcome.message);
    REQUIRE(outcome.status == 0);
    CHECK(read_file(folder / threads) == read_file(folder / "1"));
    CHECK(contains(outcome.message, ", calibrated on "));
    CHECK(contains(outcome.message, " tokens of self: loss "));
    CHECK(contains(outcome.message, " held out\n"));
  }
  const std::string provenance = provenance_of(folder / "1");
  CHECK(value_of(provenance, "type") == "q4");
  CHECK(value_of(provenance, "calibration") == "self");
  CHECK(std::stoul(value_of(provenance, "calibration_tokens")) >= 400);
  CHECK(value_of(provenance, "calibration_sha256").size() == 64);
  CHECK(convert({kRandom, "-o", folder / "q8"}).status == 0);
  CHECK(value_of(provenance_of(folder / "q8"), "calibration") == "(none)");
}

TEST_CASE("calibration: a file of ids or of text, known by name or content") {
  const TemporaryFolder folder;
  write_file(folder / "a.bin", some_ids(2000, 37));
  write_file(folder / "a", some_ids(2000, 37));
  for (const char* name : {"a.bin", "a"}) {
    const Outcome outcome = convert_q4(folder / "m", {"--calibrate", folder / name, "--calibrate-tokens", "300"});
    CAPTURE(outcome.message);
    REQUIRE(outcome.status == 0);
    CHECK(contains(outcome.message, std::string(" tokens of ") + name + " (ids): loss "));
    const std::string provenance = provenance_of(folder / "m");
    CHECK(value_of(provenance, "calibration") == name);
    CHECK(value_of(provenance, "calibration_kind") == "ids");
    const InputFile file(folder / name);
    CHECK(value_of(provenance, "calibration_sha256") == hash_file(file));
  }
  // The same tokens as text.
  const std::string own = read_file(folder / "m");
  AlignedBytes bytes(own.size());
  std::memcpy(bytes.data(), own.data(), own.size());
  const Model model = minnow::test::open_model(bytes);
  Tokenizer tokenizer;
  REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
  std::string text;
  for (std::size_t i = 0; i < 2000; ++i) text += tokenizer.piece(static_cast<Token>((i * i * 5 + i) % 37));
  write_file(folder / "t.txt", text);
  const Outcome outcome = convert_q4(folder / "n", {"--calibrate", folder / "t.txt", "--calibrate-tokens", "300"});
  CAPTURE(outcome.message);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.message, " tokens of t.txt (text): loss "));
  CHECK(comparable_model(folder / "n") == comparable_model(folder / "m"));
}

TEST_CASE("calibration: auto is nanoGPT's data/<dataset>/train.bin, found as meta.pkl is") {
  const TemporaryFolder folder;
  CHECK(find_in_dataset(folder / "ckpt.pt", "set", "train.bin").empty());
  const Outcome outcome = convert_q4(folder / "m", {"--calibrate", "auto"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.message, "there is no train.bin beside the checkpoint"));
  for (const char* name : {"ckpt.pt", "meta.pkl"}) write_file(folder / name, read_file(fixture("random-2x48/") + name));
  write_file(folder / "train.bin", some_ids(500, 37));
  const Outcome found =
      convert_q4(folder / "m", {"--calibrate", "auto", "--calibrate-tokens", "100"}, folder / "ckpt.pt");
  CHECK(found.status == 0);
  CHECK(contains(found.message, " tokens of train.bin (ids)"));
}

TEST_CASE("calibration: none is plain rounding, and says so") {
  const TemporaryFolder folder;
  const Outcome outcome = convert_q4(folder / "m", {"--calibrate", "none"});
  REQUIRE(outcome.status == 0);
  CHECK_FALSE(contains(outcome.message, "calibrated"));
  CHECK(value_of(provenance_of(folder / "m"), "calibration") == "none");
  REQUIRE(convert({kRandom, "-o", folder / "f", "--type", "f32"}).status == 0);
  const std::string packed = read_file(folder / "m");
  const std::string floats = read_file(folder / "f");
  FileHeader q, f;
  std::memcpy(&q, packed.data(), sizeof q);
  std::memcpy(&f, floats.data(), sizeof f);
  std::size_t rounded = 0;
  for (std::size_t i = 0; i < q.tensor_count; ++i) {
    TensorEntry to, from;
    std::memcpy(&to, &packed[sizeof q + i * sizeof to], sizeof to);
    std::memcpy(&from, &floats[sizeof f + i * sizeof from], sizeof from);
    if (static_cast<WeightType>(to.type) != WeightType::q4) continue;
    ++rounded;
    for (std::uint32_t block = 0; block < block_count(to.rows); ++block) {
      const std::uint32_t columns = group_count(to.columns) * kGroupColumns;
      std::vector<float> w(columns * kBlockRows), rows(w.size());
      std::memcpy(w.data(), &floats[from.offset + block * w.size() * sizeof(float)], w.size() * sizeof(float));
      for (std::size_t k = 0; k < w.size(); ++k) rows[k % kBlockRows * columns + k / kBlockRows] = w[k];
      std::vector<std::byte> expected(columns / kGroupColumns * sizeof(Q4Group));
      pack_block(rows.data(), kBlockRows, columns, WeightType::q4, false, expected.data());
      CHECK(std::memcmp(expected.data(), &packed[to.offset + block * expected.size()], expected.size()) == 0);
    }
  }
  CHECK(rounded == 8);
}

TEST_CASE("calibration: what cannot be used is refused in one line, and nothing is left behind") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::vector<std::string>& more, const std::string& words, int status = 1) {
    const Outcome outcome = convert_q4(folder / "m", more);
    CAPTURE(outcome.message);
    CHECK(outcome.status == status);
    CHECK(contains(outcome.message, words));
    CHECK(outcome.message.find('\n') == outcome.message.size() - 1);
    CHECK_FALSE(file_exists(folder / "m"));
  };
  write_file(folder / "short.bin", some_ids(47, 37));
  write_file(folder / "odd.bin", "abc");
  write_file(folder / "beyond.bin", some_ids(400, 60));
  write_file(folder / "unknown.txt", std::string(100, '\n') + "\x01");
  write_file(folder / "empty.txt", "");
  refused({"--calibrate", folder / "absent"}, "absent: ");
  refused({"--calibrate", folder / "short.bin"}, "has 47 ids; expected at least 48: two windows of 24");
  write_file(folder / "latin1.txt", "caf\xe9");
  refused({"--calibrate", folder / "latin1.txt"}, "has at byte 3 a character that the model does not know");
  refused({"--calibrate", folder / "."}, "this is a folder; expected a file");
  refused({"--calibrate", "/dev/null"}, "this is a pipe or a device; expected a file");
  for (const char* number : {"0", "-1", "many", "1e3", "99999999999999999999"}) {
    refused({"--calibrate-tokens", number}, "--calibrate-tokens", 2);
  }
  refused({"--calibrate", folder / "empty.txt"}, "has 0 tokens; expected at least 48");
  refused({"--calibrate", folder / "odd.bin"}, "has 3 bytes; expected an even number");
  refused({"--calibrate", folder / "beyond.bin"}, "; expected ids below 37");
  refused({"--calibrate", folder / "unknown.txt"}, "has at byte 100 a character that the model does not know");
  refused({"--calibrate", folder / "unknown.txt", "--no-text"}, "is a text and the model has no vocabulary");
  refused({"--calibrate", ""}, "--calibrate: found \"\"", 2);
  refused({"--type", "q8", "--calibrate", "self"}, "found --calibrate, expected --type q4", 2);
  refused({"--type", "f32", "--calibrate-tokens", "9"}, "found --calibrate-tokens, expected --type q4", 2);
  refused({"--calibrate", "none", "--calibrate-tokens", "9"}, "found --calibrate-tokens", 2);
  refused({"--threads", "0"}, "--threads", 2);
  CHECK(folder.names().size() == 6);
  // The output must not be the text.
  const std::string before = read_file(folder / "beyond.bin");
  const Outcome outcome = convert_q4(folder / "beyond.bin", {"--calibrate", folder / "beyond.bin"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.message, "is read for --calibrate; expected another name for the model"));
  CHECK(read_file(folder / "beyond.bin") == before);
}

TEST_CASE("calibration: one token is a window, and more than there is room or text for is what there is") {
  const TemporaryFolder folder;
  const Outcome one = convert_q4(folder / "m", {"--calibrate-tokens", "1"});
  CHECK(one.status == 0);
  CHECK(contains(one.message, ", calibrated on 24 tokens of self: loss "));
  write_file(folder / "short.bin", some_ids(24 * 9, 37));
  const Outcome all =
      convert_q4(folder / "m", {"--calibrate", folder / "short.bin", "--calibrate-tokens", "268435456"});
  CHECK(all.status == 0);
  CHECK(contains(all.message, ", calibrated on 192 tokens of short.bin (ids): loss "));
  CHECK(contains(all.message, ", on 24 held out\n"));
}

TEST_CASE("calibration: the output matrix stays q8 unless q4 is asked for") {
  const TemporaryFolder folder;
  const auto output_type = [&](const std::string& checkpoint, const std::vector<std::string>& more, Role role) {
    std::vector<std::string> arguments = more;
    arguments.insert(arguments.end(), {"--no-text", "--threads", "2"});
    const Outcome outcome = convert_q4(folder / "m", arguments, checkpoint);
    CAPTURE(outcome.message);
    REQUIRE(outcome.status == 0);
    const std::string bytes = read_file(folder / "m");
    FileHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    for (std::size_t i = 0; i < header.tensor_count; ++i) {
      TensorEntry entry;
      std::memcpy(&entry, &bytes[sizeof header + i * sizeof entry], sizeof entry);
      if (entry.role == role) return static_cast<WeightType>(entry.type);
    }
    return WeightType::f32;
  };
  const std::string untied = fixture("relatives/hugging_face_untied/model.safetensors");
  CHECK(output_type(kRandom, {"--calibrate-tokens", "96"}, Role::wte) == WeightType::q8);
  CHECK(contains(provenance_of(folder / "m"), "\noutput_type=q8\n"));
  CHECK(output_type(kRandom, {"--calibrate-tokens", "96", "--output-type", "q4"}, Role::wte) == WeightType::q4);
  CHECK(contains(provenance_of(folder / "m"), "\noutput_type=q4\n"));
  CHECK(output_type(kRandom, {"--calibrate", "none", "--output-type", "q4"}, Role::wte) == WeightType::q4);
  CHECK(output_type(untied, {"--calibrate-tokens", "96", "--output-type", "q4"}, Role::wte) == WeightType::q8);
  CHECK(output_type(untied, {"--calibrate-tokens", "96", "--output-type", "q4"}, Role::lm_head_weight) ==
        WeightType::q4);
  CHECK(output_type(untied, {"--calibrate-tokens", "96"}, Role::lm_head_weight) == WeightType::q8);
  // The share that they take: 40 rows of 64 among 53,120 bytes; 2 x 24 of 32 untied, of which one may become q4.
  const auto message = [&](const std::string& checkpoint, const std::string& type) {
    return convert_q4(folder / "m", {"--calibrate", "none", "--no-text", "--output-type", type}, checkpoint).message;
  };
  CHECK(contains(message(kRandom, "q8"), ", output_type=q8, embedding and output 5 % of the file\n"));
  CHECK(contains(message(kRandom, "q4"), ", output_type=q4, embedding and output 3 % of the file\n"));
  CHECK(contains(message(untied, "q8"), ", embedding and output 26 % of the file (less with --output-type q4)\n"));
  CHECK(contains(message(untied, "q4"), ", embedding and output 21 % of the file\n"));
  CHECK(convert({kRandom, "-o", folder / "n", "--output-type", "q4"}).status == 2);
  CHECK(convert_q4(folder / "n", {"--allow-nonfinite"}).status == 2);
  CHECK(convert_q4(folder / "n", {"--allow-nonfinite", "--calibrate", "none"}).status == 0);
}

// Squared differences of two models' logits, summed over windows of ids that no calibration has seen.
double difference(const std::string& a, const std::string& b) {
  std::vector<std::vector<float>> logits;
  for (const std::string& path : {a, b}) {
    const std::string bytes = read_file(path);
    AlignedBytes file(bytes.size());
    std::memcpy(file.data(), bytes.data(), bytes.size());
    const Model model = minnow::test::open_model(file);
    Rig rig(model, {});
    logits.emplace_back();
    std::uint32_t seed = 7;
    for (int window = 0; window < 20; ++window) {
      rig.session.reset();
      std::vector<Token> tokens(24);
      for (Token& token : tokens) token = static_cast<Token>((seed = seed * 1664525 + 1013904223) >> 8) % 37;
      std::vector<float> some(24 * 37);
      REQUIRE(rig.session.feed({tokens.data(), tokens.size()}, {some.data(), some.size()}) == Status::ok);
      logits.back().insert(logits.back().end(), some.begin(), some.end());
    }
  }
  double sum = 0;
  for (std::size_t i = 0; i < logits[0].size(); ++i) {
    const double d = static_cast<double>(logits[0][i]) - static_cast<double>(logits[1][i]);
    sum += d * d;
  }
  return sum;
}

TEST_CASE("calibration: the logits stay nearer to f32 than with every weight rounded by itself") {
  const TemporaryFolder folder;
  std::vector<std::uint16_t> ids(6000);
  std::uint32_t seed = 1;
  for (std::uint16_t& id : ids) id = static_cast<std::uint16_t>(((seed = seed * 1664525 + 1013904223) >> 8) % 37);
  write_file(folder / "ids.bin", raw(ids));
  REQUIRE(convert({kRandom, "-o", folder / "f32", "--type", "f32"}).status == 0);
  REQUIRE(convert_q4(folder / "none", {"--calibrate", "none"}).status == 0);
  REQUIRE(convert_q4(folder / "file", {"--calibrate", folder / "ids.bin"}).status == 0);
  REQUIRE(convert_q4(folder / "self", {}).status == 0);
  const double none = difference(folder / "f32", folder / "none");
  const double file = difference(folder / "f32", folder / "file");
  const double self = difference(folder / "f32", folder / "self");
  CHECK(file < 0.5 * none);
  CHECK(self < 0.6 * none);
}

TEST_CASE("calibration: everything that may take long tells how far it is, from the packing to the hash and the loss") {
  const TemporaryFolder folder;
  write_file(folder / "ids.bin", some_ids(2000, 37));
  for (const bool self : {true, false}) {
    const Checkpoint checkpoint = read_checkpoint(std::make_shared<const InputFile>(kRandom));
    PlanOptions plan_options;
    plan_options.type = WeightType::q4;
    const ModelPlan plan = plan_model(checkpoint, plan_options);
    std::vector<std::string> phases;
    double done = 1;
    QuantiseOptions options;
    options.calibration.tokens = 300;
    if (!self) options.calibration.file = folder / "ids.bin";
    options.progress = [&](const char* what, double part) {
      if (phases.empty() || phases.back() != what) {
        CHECK(done == 1);
        phases.push_back(what);
      } else {
        CHECK(part >= done);
      }
      done = part;
    };
    const CalibratedTensors out = quantise_model(checkpoint, plan, {}, options);
    const std::vector<std::string> of_self = {"loading", "sampling", "loading", "measuring", "rounding"};
    const std::vector<std::string> of_file = {"loading", "hashing", "measuring", "rounding"};
    CHECK(phases == (self ? of_self : of_file));
  }
}

TEST_CASE("calibration: every family is rounded, and runs") {
  const TemporaryFolder folder;
  const std::vector<std::vector<std::string>> relatives = {
      {"mingpt/model.pt", "--n-head", "2"},
      {"hugging_face_untied/model.safetensors"},
      {"llama2/ckpt.pt"},
      {"llama2_mqa/ckpt.pt"},
      {"nanochat/model_000010.pt"},
      {"no_positions/mask.pt", "--positions", "none"},
      {"lecture/model.pth"},
  };
  for (const std::vector<std::string>& each : relatives) {
    std::vector<std::string> more(each.begin() + 1, each.end());
    more.insert(more.end(), {"--no-text", "--calibrate-tokens", "200"});
    const Outcome outcome = convert_q4(folder / "m", more, fixture("relatives/" + each[0]));
    CAPTURE(outcome.message);
    REQUIRE(outcome.status == 0);
    const std::string bytes = read_file(folder / "m");
    AlignedBytes file(bytes.size());
    std::memcpy(file.data(), bytes.data(), bytes.size());
    const Model model = minnow::test::open_model(file);
    CHECK(model.verify() == Status::ok);
    Rig rig(model, {});
    const std::vector<Token> tokens = {1, 2, 3};
    CHECK(rig.session.feed({tokens.data(), tokens.size()}) == Status::ok);
  }
}

}  // namespace minnow::convert::test
