// From a checkpoint to logits, attention and text: the committed checkpoint, converted in this process, against what
// PyTorch computed from it in float64; and the same bits from it on every path.
#include <cstdio>
#include <string>

#include "minnow/hosted.hpp"
#include "tests/session/golden.hpp"
#include "tests/session/rig.hpp"
#include "tools/commands.hpp"

using namespace minnow;
using namespace minnow::test;

namespace {

const std::string kFixture = "tests/fixtures/random-2x48/";

// The fixture as a model of one type; the file is gone when this is.
class Converted {
 public:
  explicit Converted(std::string type) : path_("fixture-test-" + type + ".minnow") {
    std::string words[] = {"convert", kFixture + "ckpt.pt", "-o", path_, "--type", type};
    char* argv[6];
    for (int i = 0; i < 6; ++i) argv[i] = words[i].data();
    REQUIRE(convert_command(6, argv) == 0);
    REQUIRE(FileMap::open(path_.c_str(), &file_) == Status::ok);
    REQUIRE(Model::open(file_.bytes(), &model) == Status::ok);
  }
  ~Converted() { std::remove(path_.c_str()); }
  Converted(const Converted&) = delete;
  Converted& operator=(const Converted&) = delete;

  Model model;

 private:
  std::string path_;
  FileMap file_;
};

std::vector<Token> greedy_after(const Model& model, const char* array, WhenFull when) {
  const std::vector<Token> expected = load_ids(kFixture + array);
  REQUIRE(expected.size() == 108);
  SessionConfig config;
  config.when_full = when;
  Rig rig(model, config);
  return greedy_of(rig.session, {expected.begin(), expected.begin() + 8}, 100);
}

}  // namespace

TEST_CASE("fixture: f32 gives PyTorch's logits, attention and greedy text") {
  const Converted f32("f32");
  const std::vector<Token> prompt = load_ids(kFixture + "prompt.u16");
  REQUIRE(prompt.size() == 24);
  Isa isas[kIsaCount];
  const std::size_t n = available_isas({isas, kIsaCount});
  for (std::size_t i = 0; i < n; ++i) {
    CAPTURE(to_string(isas[i]));
    SessionConfig config;
    config.isa = isas[i];
    Rig rig(f32.model, config);
    CHECK(largest_difference(logits_of(rig.session, prompt, 24), load_array<float>(kFixture + "logits.f32")) <= 2e-4f);
    Rig looked_into(f32.model, config);
    CHECK(largest_difference(attention_of(looked_into.session, prompt, 24),
                             load_array<float>(kFixture + "attention.f32")) <= 1e-5f);
  }
  CHECK(greedy_after(f32.model, "greedy_slide.u16", WhenFull::slide) == load_ids(kFixture + "greedy_slide.u16"));
  CHECK(greedy_after(f32.model, "greedy_half.u16", WhenFull::half) == load_ids(kFixture + "greedy_half.u16"));
}

TEST_CASE("fixture: f16 and q8 stay close to f32") {
  const Converted f16("f16");
  const Converted q8("q8");
  const std::vector<Token> prompt = load_ids(kFixture + "prompt.u16");
  const std::vector<float> expected = load_array<float>(kFixture + "logits.f32");
  const auto mean_square = [&](const Model& model) {
    Rig rig(model, {});
    const std::vector<float> logits = logits_of(rig.session, prompt, 24);
    REQUIRE(logits.size() == expected.size());
    double sum = 0;
    for (std::size_t i = 0; i < logits.size(); ++i)
      sum += std::pow(static_cast<double>(logits[i]) - static_cast<double>(expected[i]), 2);
    return sum / static_cast<double>(logits.size());
  };
  double power = 0;
  for (const float x : expected) power += std::pow(static_cast<double>(x), 2);
  power /= static_cast<double>(expected.size());
  CHECK(mean_square(f16.model) < 1e-5 * power);
  CHECK(mean_square(q8.model) < 1e-2 * power);
  CHECK(mean_square(q8.model) > 0);
}

TEST_CASE("fixture: the same bits on every instruction set, by 1 and 3 threads, fed singly and at once") {
  const std::vector<Token> prompt = load_ids(kFixture + "prompt.u16");
  ThreadPool pool;
  REQUIRE(ThreadPool::create(3, &pool) == Status::ok);
  for (const char* type : {"f32", "f16", "q8"}) {
    const Converted converted(type);
    Isa isas[kIsaCount];
    const std::size_t n = available_isas({isas, kIsaCount});
    std::vector<float> first;
    for (std::size_t i = 0; i < n; ++i) {
      for (const std::size_t split : {std::size_t{1}, std::size_t{7}, std::size_t{16}, prompt.size()}) {
        SessionConfig config;
        config.isa = isas[i];
        if (split != 7) config.executor = pool.executor();
        Rig rig(converted.model, config);
        const std::vector<float> logits = logits_of(rig.session, prompt, split);
        if (first.empty()) first = logits;
        CAPTURE(type);
        CAPTURE(to_string(isas[i]));
        CAPTURE(split);
        CHECK(same_bits(logits, first));
      }
    }
  }
}
