// golden MODEL DIR: compares an f32 model with the arrays that PyTorch computed in float64 from the same checkpoint.
// DIR holds prompt.u16, logits.f32, attention16.f32, greedy.u16. Prints each figure and what is allowed; exits 1 if one
// is exceeded.
#include <cstdio>

#include "minnow/hosted.hpp"
#include "tests/session/golden.hpp"

using namespace minnow;
using namespace minnow::test;

namespace {

bool report(const char* what, double found, double allowed) {
  const bool ok = found <= allowed;
  std::printf("%s: %.3g, allowed %.3g: %s\n", what, found, allowed, ok ? "ok" : "FAILED");
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: golden MODEL DIR\n");
    return 2;
  }
  const std::string dir = std::string(argv[2]) + "/";
  FileMap file;
  Model model;
  if (FileMap::open(argv[1], &file) != Status::ok || Model::open(file.bytes(), &model) != Status::ok) {
    std::fprintf(stderr, "golden: cannot open %s\n", argv[1]);
    return 2;
  }
  const std::vector<Token> prompt = load_ids(dir + "prompt.u16");
  const std::vector<Token> greedy = load_ids(dir + "greedy.u16");
  if (prompt.size() < 16 || greedy.size() <= 16) {
    std::fprintf(stderr, "golden: no arrays in %s\n", argv[2]);
    return 2;
  }
  bool ok = true;
  Running window(model, {});
  const std::vector<float> logits = logits_of(window.session, prompt, prompt.size());
  ok &= report("logits of a full window, largest difference",
               largest_difference(logits, load_array<float>(dir + "logits.f32")), 2e-4);
  Running first(model, {});
  const std::vector<float> attention = attention_of(first.session, prompt, 16);
  ok &= report("attention probabilities, largest difference",
               largest_difference(attention, load_array<float>(dir + "attention16.f32")), 1e-5);
  SessionConfig slide;
  slide.when_full = WhenFull::slide;
  Running text(model, slide);
  const std::vector<Token> start(greedy.begin(), greedy.begin() + 16);
  const std::vector<Token> written = greedy_of(text.session, start, greedy.size() - 16);
  std::size_t same = 0;
  while (same < written.size() && same < greedy.size() && written[same] == greedy[same]) ++same;
  ok &= report("greedy tokens that differ under slide", static_cast<double>(greedy.size() - same), 0);
  return ok ? 0 : 1;
}
