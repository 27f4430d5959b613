// A shared object that has minnow inside: the only function that it means to offer writes text. Two of them are made
// from this file, each linked with its own copy of the library.
#include <cstring>
#include <memory>
#include <new>

#include "minnow/hosted.hpp"

namespace {

struct Free {
  void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{minnow::kAlign}); }
};

struct Text {
  char* out;
  std::size_t room;
  std::size_t size;
};

bool keep(void* user, std::string_view text) {
  Text* const kept = static_cast<Text*>(user);
  if (text.size() > kept->room - kept->size) return false;
  std::memcpy(kept->out + kept->size, text.data(), text.size());
  kept->size += text.size();
  return true;
}

}  // namespace

// Writes `tokens` tokens behind "ROMEO:", at most `room` bytes, on `threads` threads. Returns their number, or -1.
extern "C" __attribute__((visibility("default"))) long write_text(const char* path, std::uint64_t seed, unsigned tokens,
                                                                  unsigned threads, char* out, std::size_t room) {
  using minnow::Status;
  minnow::FileMap file;
  minnow::Model model;
  minnow::Tokenizer tokenizer;
  minnow::ThreadPool pool;
  minnow::Token prompt[6];
  minnow::EncodeResult encoded;
  if (minnow::FileMap::open(path, &file) != Status::ok || minnow::Model::open(file.bytes(), &model) != Status::ok ||
      minnow::Tokenizer::open(model, &tokenizer) != Status::ok ||
      minnow::ThreadPool::create(threads, &pool) != Status::ok ||
      tokenizer.encode("ROMEO:", {prompt, 6}, &encoded) != Status::ok) {
    return -1;
  }
  minnow::SessionConfig config;
  config.executor = pool.executor();
  std::size_t bytes = 0;
  if (minnow::Session::memory_needed(model, config, &bytes) != Status::ok) return -1;
  const std::unique_ptr<std::byte, Free> memory(
      static_cast<std::byte*>(::operator new (bytes, std::align_val_t{minnow::kAlign})));
  minnow::Session session;
  minnow::SamplerConfig sampling;
  sampling.seed = seed;
  minnow::Sampler sampler;
  Text text = {out, room, 0};
  minnow::GenerateConfig generating;
  generating.max_tokens = tokens;
  generating.on_text = keep;
  generating.user = &text;
  if (minnow::Session::create(model, config, {memory.get(), bytes}, &session) != Status::ok ||
      minnow::Sampler::create(sampling, &sampler) != Status::ok ||
      minnow::generate(session, &tokenizer, sampler, {prompt, encoded.tokens}, generating) != Status::ok) {
    return -1;
  }
  return static_cast<long>(text.size);
}
