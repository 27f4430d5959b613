// Feeding and generating allocate nothing: malloc and its family, operator new and mmap are counted for the whole
// program. Not built into sanitizer runs, which bring their own malloc.
#include "tests/session/rig.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTING 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define COUNTING 0
#endif
#endif
#if !defined(COUNTING) && defined(__GLIBC__)
#define COUNTING 1
#endif

#if COUNTING

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace {
std::atomic<long> g_allocations{0};
}

// Shared libraries call these too, so they are not hidden as the rest of the program is.
#pragma GCC visibility push(default)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

// operator new ends in one of these, too.
void* malloc(std::size_t n) {
  ++g_allocations;
  return __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t size) {
  ++g_allocations;
  return __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t n) {
  ++g_allocations;
  return __libc_realloc(p, n);
}
void* aligned_alloc(std::size_t align, std::size_t n) {
  ++g_allocations;
  return __libc_memalign(align, n);
}
int posix_memalign(void** out, std::size_t align, std::size_t n) {
  ++g_allocations;
  *out = __libc_memalign(align, n);
  return *out == nullptr ? 12 : 0;
}
void* mmap(void* at, std::size_t n, int prot, int flags, int fd, off_t offset) noexcept {
  ++g_allocations;
#if defined(SYS_mmap2)  // 32 bits: the offset in pages
  return reinterpret_cast<void*>(syscall(SYS_mmap2, at, n, prot, flags, fd, static_cast<long>(offset >> 12)));
#else
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, n, prot, flags, fd, offset));
#endif
}
}
#pragma GCC visibility pop

using namespace minnow;
using namespace minnow::test;

namespace {
bool swallow(void* user, std::string_view text) {
  *static_cast<std::size_t*>(user) += text.size();
  return true;
}

void check_no_allocation(HandShape shape) {
  for (int i = 0; i < 11; ++i) shape.pieces.push_back(std::string(1, static_cast<char>('a' + i)));
  shape.type = 2;
  const AlignedBytes file = hand_built(shape);
  ThreadPool pool;
  REQUIRE(ThreadPool::create(4, &pool) == Status::ok);
  std::size_t bytes = 0;
  SessionConfig config;
  config.executor = pool.executor();
  const Model opened = open_model(file);
  REQUIRE(Session::memory_needed(opened, config, &bytes) == Status::ok);
  AlignedBytes memory(bytes);
  for (const bool threads : {false, true}) {
    if (!threads)
      config.executor = {};
    else
      config.executor = pool.executor();
    const long before = g_allocations;
    Model model;
    Session session;
    Tokenizer tokenizer;
    Sampler sampler;
    Token prompt[8];
    EncodeResult encoded;
    std::size_t written = 0;
    GenerateConfig generation;
    generation.max_tokens = 100;
    generation.on_text = swallow;
    generation.user = &written;
    bool ok = Model::open(file.view(), &model) == Status::ok;
    ok &= Session::create(model, config, memory.span(), &session) == Status::ok;
    ok &= Tokenizer::open(model, &tokenizer) == Status::ok;
    ok &= Sampler::create({}, &sampler) == Status::ok;
    ok &= tokenizer.encode("abcabc", {prompt, 8}, &encoded) == Status::ok;
    ok &= generate(session, &tokenizer, sampler, {prompt, encoded.tokens}, generation) == Status::ok;
    const long after = g_allocations;
    CHECK(ok);
    CHECK(written == 100);
    CHECK(after - before == 0);
  }
}
}  // namespace

TEST_CASE("no allocation: counting works") {
  const long before = g_allocations;
  std::vector<int>* volatile v = new std::vector<int>(1000);  // volatile: else the pair may be optimised away
  CHECK(v->size() == 1000);
  delete v;
  CHECK(g_allocations >= before + 2);
}

TEST_CASE("no allocation: create, feed, sample, generate across the edge, one thread and four") {
  check_no_allocation({});
  HandShape family;  // the buffers that GPT-2 does not need
  family.norm = 1, family.positions = 2, family.rotary_dims = 4, family.n_kv_head = 1, family.activation = 4;
  family.qk_norm = 2, family.embed_norm = 1, family.output = 1, family.softcap = 15;
  check_no_allocation(family);
}

#endif
