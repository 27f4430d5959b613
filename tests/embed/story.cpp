// A story on stdout. Arguments: a model file, the text it begins with.
#include <cstdio>

#include "minnow/hosted.hpp"  // FileMap; the rest needs no operating system

alignas(minnow::kAlign) static std::byte memory[2 << 20];

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: story MODEL TEXT\n", stderr), 2;
  minnow::FileMap file;
  minnow::Model model;
  minnow::Session session;
  minnow::Tokenizer tokenizer;
  minnow::Sampler sampler;
  minnow::Token prompt[64];
  minnow::EncodeResult encoded;
  minnow::GenerateConfig config;
  config.on_text = [](void*, std::string_view text) { return std::fwrite(text.data(), 1, text.size(), stdout) != 0; };
  minnow::SamplerConfig greedy;
  greedy.temperature = 0;

  minnow::Status status = minnow::FileMap::open(argv[1], &file);
  if (status == minnow::Status::ok) status = minnow::Model::open(file.bytes(), &model);
  if (status == minnow::Status::ok) status = minnow::Session::create(model, {}, {memory, sizeof memory}, &session);
  if (status == minnow::Status::ok) status = minnow::Tokenizer::open(model, &tokenizer);
  if (status == minnow::Status::ok) status = minnow::Sampler::create(greedy, &sampler);
  if (status == minnow::Status::ok) status = tokenizer.encode(argv[2], {prompt, 64}, &encoded);
  if (status == minnow::Status::ok) {
    std::fputs(argv[2], stdout);
    status = minnow::generate(session, &tokenizer, sampler, {prompt, encoded.tokens}, config);
  }
  if (status == minnow::Status::ok) return 0;
  std::fprintf(stderr, "story: %s\n", to_string(status));
  return 1;
}
