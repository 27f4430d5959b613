// A host that has set a locale with a decimal comma: the library computes, writes and tells the same.
#include "tests/comma_locale.hpp"
#include "tests/session/rig.hpp"

using namespace minnow;
using namespace minnow::test;

namespace {

// What a generation writes, and everything that the library tells in words.
std::string told(const Model& model) {
  Rig rig(model, {});
  Tokenizer tokenizer;
  Sampler sampler;
  REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
  REQUIRE(Sampler::create({0.5f, 7, 0.9f, 0.01f, 3}, &sampler) == Status::ok);
  std::string text = std::string(version()) + to_string(Status::ok) + to_string(rig.session.isa());
  GenerateConfig config;
  config.max_tokens = 40;
  config.user = &text;
  config.on_text = [](void* user, std::string_view piece) {
    *static_cast<std::string*>(user) += piece;
    return true;
  };
  Token prompt[8];
  EncodeResult encoded;
  REQUIRE(tokenizer.encode("ab\xc3\xa9", {prompt, 8}, &encoded) == Status::ok);
  REQUIRE(generate(rig.session, &tokenizer, sampler, {prompt, encoded.tokens}, config) == Status::ok);
  const Span<const float> logits = rig.session.logits();
  text.append(reinterpret_cast<const char*>(logits.data()), logits.size() * sizeof(float));
  return text;
}

}  // namespace

TEST_CASE("locale: a decimal comma of the host's changes nothing") {
  HandShape shape;
  shape.pieces = {"\n", "a", "b", "c", "@", "ab", "\xe2\x82", "\xac", "\xc3\xa9"};
  const AlignedBytes file = hand_built(shape);
  const Model model = open_model(file);
  const std::string expected = told(model);
  const CommaLocale locale;
  if (locale.name().empty()) {
    MESSAGE("no locale with a decimal comma here");
    return;
  }
  char number[16];
  std::snprintf(number, sizeof number, "%.1f", 0.5);
  REQUIRE(std::string(number) == "0,5");
  CHECK(told(model) == expected);
  CHECK(std::string(std::setlocale(LC_ALL, nullptr)) == locale.name());  // and the host's locale is as it was
}
