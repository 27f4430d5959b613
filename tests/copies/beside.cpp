// beside MODEL: minnow and another inference library in one program, their headers in one file, both at work in turn.
// Prints minnow's text.
#include <cstdio>
#include <cstring>

#include "minnow/hosted.hpp"
#include "minnow/minnow.h"
#include "neighbour.h"

extern "C" long write_text(const char* path, std::uint64_t seed, unsigned tokens, unsigned threads, char* out,
                           std::size_t room);

namespace {

void other_text(char* out) {
  ::Model model;
  ::Tokenizer tokenizer;
  ::Sampler sampler = {3, 1.0f};
  build_model(&model);
  build_tokenizer(&tokenizer);
  ::generate(&model, &tokenizer, &sampler, 40, out);
}

}  // namespace

int main(int argc, char** argv) {
  char before[64], after[64], text[2][512] = {};
  if (argc != 2) return 2;
  other_text(before);
  if (write_text(argv[1], 1, 60, 2, text[0], 511) < 0) return std::fprintf(stderr, "beside: no text\n"), 1;
  other_text(after);
  if (write_text(argv[1], 1, 60, 1, text[1], 511) < 0) return std::fprintf(stderr, "beside: no text\n"), 1;
  if (std::strcmp(before, after) != 0 || std::strlen(before) != 40 || std::strcmp(text[0], text[1]) != 0) {
    return std::fprintf(stderr, "beside: one library disturbs the other\n"), 1;
  }
  if (::version != 7 || std::strcmp(minnow_version(), minnow::version()) != 0) return 1;
  return std::fputs(text[0], stdout) >= 0 && std::fclose(stdout) == 0 ? 0 : 1;
}
