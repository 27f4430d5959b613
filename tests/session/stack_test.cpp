// How deep the core's calls reach into the stack: everything an embedder calls runs on a thread whose stack is a painted
// block, with every instruction set, weight and KV type and family. Needs POSIX threads; sanitizers use more of it.
#include "tests/session/families.hpp"
#include "tests/session/rig.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEASURABLE 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define MEASURABLE 0
#endif
#endif
#if !defined(MEASURABLE) && defined(__unix__)
#define MEASURABLE 1
#endif

#if MEASURABLE

#include <pthread.h>

#include <algorithm>
#include <memory>

#include "text/bpe.hpp"

using namespace minnow;
using namespace minnow::test;

namespace {

constexpr std::size_t kStackBytes = std::size_t{1} << 20;
constexpr std::size_t kLimit = 64 * 1024;
constexpr unsigned char kPaint = 0xa5;

// Bytes of stack that a thread that calls run(arg) touches.
std::size_t depth_of_thread(void* (*run)(void*), void* arg) {
  std::vector<unsigned char> block(kStackBytes + 4096, kPaint);
  void* base = block.data();
  std::size_t space = block.size();
  base = std::align(4096, kStackBytes, base, space);
  pthread_attr_t attributes;
  pthread_t thread;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstack(&attributes, base, kStackBytes) == 0);
  REQUIRE(pthread_create(&thread, &attributes, run, arg) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
  const unsigned char* const low = static_cast<const unsigned char*>(base);
  std::size_t untouched = 0;
  while (untouched < kStackBytes && low[untouched] == kPaint) ++untouched;
  return kStackBytes - untouched;
}

void* nothing(void* arg) { return arg; }

// Bytes that run(arg) itself takes.
std::size_t depth_of(void* (*run)(void*), void* arg) {
  return depth_of_thread(run, arg) - depth_of_thread(nothing, arg);
}

// One model with one configuration: everything that is called between opening its file and its text.
struct Everything {
  AlignedBytes file;
  SessionConfig config;
  std::string text;              // to encode, if the file has a tokenizer
  std::vector<Token> tokens;     // to feed
  std::vector<float> logits;     // room for those of all tokens
  std::vector<Token> ids;        // room for the text's
  AlignedBytes memory;
  std::size_t written = 0;
  bool ok = false;
};

bool swallow(void* user, std::string_view text) {
  static_cast<Everything*>(user)->written += text.size();
  return true;
}

bool text_of(Everything& e, const Model& model, Session& session, Sampler& sampler) {
  Tokenizer tokenizer;
  const bool has_text = model.info().has_text;
  if (has_text) {
    bool ok = Tokenizer::open(model, &tokenizer) == Status::ok;
    EncodeConfig encoding;
    encoding.begin = encoding.special = true;
    EncodeResult result;
    const Status status = tokenizer.encode(e.text, encoding, {e.ids.data(), e.ids.size()}, &result);
    ok &= status == Status::ok || status == Status::bad_argument;  // a character that this vocabulary lacks
    ok &= tokenizer.cut(e.text) <= e.text.size();
    if (!ok) return false;
  }
  GenerateConfig generation;
  generation.max_tokens = 20;
  generation.user = &e;
  if (has_text) generation.on_text = swallow, generation.stop = "never in here";
  return generate(session, has_text ? &tokenizer : nullptr, sampler, {e.tokens.data(), 3}, generation) == Status::ok;
}

void* run_everything(void* arg) {
  Everything& e = *static_cast<Everything*>(arg);
  Model model;
  Session session;
  Sampler sampler;
  std::size_t bytes = 0;
  SamplerConfig sampling;
  sampling.top_k = 7, sampling.top_p = 0.9f, sampling.min_p = 0.01f;
  const std::size_t vocab = e.logits.size() / e.tokens.size();
  e.ok = Model::open(e.file.view(), &model) == Status::ok && model.verify() == Status::ok &&
         Session::memory_needed(model, e.config, &bytes) == Status::ok && bytes == e.memory.size() &&
         Session::create(model, e.config, e.memory.span(), &session) == Status::ok &&
         session.feed({e.tokens.data(), e.tokens.size()}, {e.logits.data(), e.logits.size()}) == Status::ok &&
         session.feed({e.tokens.data(), e.tokens.size()}) == Status::ok && session.feed({e.tokens.data(), 1}) == Status::ok &&
         Sampler::create(sampling, &sampler) == Status::ok && vocab == session.model().vocab_size &&
         text_of(e, model, session, sampler);
  return nullptr;
}

// Text that is hard on tokenizers: long words and numbers, spaces, repetition, characters of every length, bad UTF-8.
std::string nasty_text() {
  std::string text;
  for (int i = 0; i < 6000; ++i) text += 'a';
  for (int i = 0; i < 3000; ++i) text += static_cast<char>('a' + i * i % 23);
  text += std::string(5000, ' ') + std::string(2000, '\n') + "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
  for (int i = 0; i < 3000; ++i) text += "12's <s>\xe4\xb8\xad";
  for (int i = 0; i < 256; ++i) text += static_cast<char>(i);
  return text;
}

std::size_t depth_with(const AlignedBytes& file, const SessionConfig& config) {
  Everything e;
  const Model model = open_model(file);
  e.file = file;
  e.config = config;
  e.text = nasty_text();
  e.tokens = some_tokens(model.info().block_size * 2 + 3, model.info().n_tokens);
  e.logits.resize(e.tokens.size() * model.info().vocab_size);
  e.ids.resize(e.text.size() + 2);
  std::size_t bytes = 0;
  REQUIRE(Session::memory_needed(model, config, &bytes) == Status::ok);
  e.memory = AlignedBytes(bytes);
  const std::size_t depth = depth_of(run_everything, &e);
  CHECK(e.ok);
  return depth;
}

// The deepest of both KV types.
std::size_t depth_on(const AlignedBytes& file, Isa isa) {
  std::size_t deepest = 0;
  for (const KvType kv : {KvType::f32, KvType::f16}) {
    SessionConfig config;
    config.kv = kv;
    config.isa = isa;
    config.batch = kMaxBatch;
    deepest = std::max(deepest, depth_with(file, config));
  }
  return deepest;
}

AlignedBytes read_model(const std::string& path) {
  const std::vector<char> bytes = load_array<char>(path);
  AlignedBytes file(bytes.size());
  std::memcpy(file.data(), bytes.data(), bytes.size());
  return file;
}

// The second way through a long part, which few texts need: with the block of memory that Tokenizer::encode holds then.
struct Forward {
  AlignedBytes section;
  std::string text;
  std::vector<Token> ids;
  bool ok = false;
};
void* encode_forward(void* arg) {
  Forward& f = *static_cast<Forward*>(arg);
  Merging merging;
  Bpe bpe(view_tokenizer(f.section.data()), &merging);
  std::size_t tokens = 0, bytes = 0;
  f.ok = bpe.encode_forward({f.text}, {f.ids.data(), f.ids.size()}, &tokens, &bytes) == Status::ok && tokens > 1;
  return nullptr;
}

struct Picking {
  std::vector<float> logits;
  bool ok = false;
};
void* pick_many(void* arg) {
  auto& p = *static_cast<Picking*>(arg);
  SamplerConfig config;
  config.top_p = 0.95f, config.min_p = 0.001f;
  Sampler sampler;
  Token token = -1;
  p.ok = Sampler::create(config, &sampler) == Status::ok &&
         sampler.pick({p.logits.data(), p.logits.size()}, &token) == Status::ok;
  return nullptr;
}

}  // namespace

TEST_CASE("stack: sessions of every family, weight and KV type stay below 64 KiB") {
  Isa isas[kIsaCount];
  const std::size_t n = available_isas({isas, kIsaCount});
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t deepest = 0;
    for (Family& family : families()) {
      CAPTURE(family.name);
      for (const std::uint32_t type : {0u, 1u, 2u, 3u}) {
        family.shape.type = type;
        deepest = std::max(deepest, depth_on(hand_built(family.shape), isas[i]));
      }
    }
    MESSAGE(std::string(to_string(isas[i])) << ": " << deepest << " bytes of stack");
    CHECK(deepest > 1024);
    CHECK(deepest < kLimit);
  }
}

TEST_CASE("stack: text of every kind of vocabulary stays below 64 KiB") {
  for (const char* name : {"byte_level_rotary_halves", "bytes", "scored_rotary_adjacent"}) {
    CAPTURE(name);
    const std::size_t depth = depth_on(read_model("tests/fuzz/seeds/model/" + std::string(name) + ".minnow"), Isa::best);
    MESSAGE(std::string(name) << ": " << depth << " bytes of stack");
    CHECK(depth < kLimit);
  }
}

TEST_CASE("stack: a long part that windows do not cut stays below 64 KiB") {
  HandTokenizer t;
  t.kind = 3;
  for (unsigned byte = 0; byte < 256; ++byte) {
    t.pieces.push_back(std::string(1, static_cast<char>(byte)));
    t.byte_id.push_back(byte);
  }
  std::string piece = "ab";
  for (std::uint32_t id = 256; piece.size() <= kMaxMergedBytes; ++id, piece += piece) {
    const std::uint32_t half = id == 256 ? 'a' : id - 1;
    t.merges.push_back({half, id == 256 ? 'b' : half, id, id});
    t.pieces.push_back(piece);
  }
  Forward f;
  const std::string raw = t.finish().section();
  f.section = AlignedBytes(raw.size());
  std::memcpy(f.section.data(), raw.data(), raw.size());
  for (int i = 0; i < 5000; ++i) f.text += i % 300 == 0 ? "b" : "ab";
  f.ids.resize(f.text.size());
  const std::size_t depth = depth_of(encode_forward, &f);
  CHECK(f.ok);
  MESSAGE(depth << " bytes of stack");
  CHECK(depth > 32 * 1024);
  CHECK(depth < kLimit);
}

TEST_CASE("stack: picking from a large vocabulary stays below 4 KiB") {
  Picking p;
  for (int i = 0; i < 200000; ++i) p.logits.push_back(static_cast<float>(i * 37 % 1009) / 100);
  const std::size_t depth = depth_of(pick_many, &p);
  CHECK(p.ok);
  MESSAGE(depth << " bytes of stack");
  CHECK(depth < 4096);
}

#endif
