// logit_hash MODEL.. [--ids FILE.u16] [--quick]: one line a model and cache type with a hash of the logits of a full
// window and of the text that a seed gives. Fails unless every instruction set, thread count and split of the prompt
// gives the same bits. Two machines agree if their output is equal; what ran goes to stderr.
#include <cstdio>
#include <cstdlib>

#include "kernels/kernels.hpp"
#include "minnow/hosted.hpp"
#include "tests/session/golden.hpp"

using namespace minnow;
using namespace minnow::test;

namespace {

std::uint64_t hash(const void* data, std::size_t bytes) {  // FNV-1a
  std::uint64_t h = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < bytes; ++i) h = (h ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
  return h;
}

// 50 sampled ids behind the prompt: the sampler's bits, and the edge of the context.
std::uint64_t sampled_hash(const Model& model, SessionConfig config, const Kernels* kernels) {
  struct Out {
    std::vector<Token> tokens;
  } out;
  Running running(model, config);
  SessionAccess::state(running.session)->kernels = kernels;
  Sampler sampler;
  GenerateConfig generation;
  generation.max_tokens = model.info().block_size + 10 < 50 ? model.info().block_size + 10 : 50;
  generation.user = &out;
  generation.on_token = [](void* user, Token token) {
    static_cast<Out*>(user)->tokens.push_back(token);
    return true;
  };
  const Token start = 0;
  if (Sampler::create({}, &sampler) != Status::ok ||
      generate(running.session, nullptr, sampler, {&start, 1}, generation) != Status::ok) {
    return 0;
  }
  return hash(out.tokens.data(), out.tokens.size() * sizeof(Token));
}

struct Options {
  std::vector<const char*> models;
  std::vector<Token> ids;
  bool quick = false;
};

bool check_model(const char* path, KvType kv, const Options& options, ThreadPool* pools) {
  FileMap file;
  Model model;
  if (FileMap::open(path, &file) != Status::ok || Model::open(file.bytes(), &model) != Status::ok) {
    std::fprintf(stderr, "logit_hash: cannot open %s\n", path);
    return false;
  }
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash != nullptr ? slash + 1 : path;
  const ModelInfo info = model.info();
  std::vector<Token> ids = options.ids;
  for (std::uint32_t i = 0; ids.size() < info.block_size; ++i) {
    ids.push_back(static_cast<Token>((i * i * 7 + i * 3 + 1) % info.vocab_size));
  }
  ids.resize(info.block_size);
  const Kernels* tables[kMaxKernels];
  const std::size_t n_tables = available_kernels(tables);
  const bool lean = info.n_parameters > 200000;  // the scalar reference needs a minute a run: one run of it
  std::uint64_t expected = 0;
  std::uint64_t text = 0;
  int runs = 0;
  for (std::size_t t = options.quick ? n_tables - 1 : 0; t < n_tables; ++t) {
    for (int pool = 0; pool < (options.quick ? 1 : 4); ++pool) {
      for (const std::size_t split : {ids.size(), std::size_t{1}, std::size_t{7}, std::size_t{16}}) {
        if (lean && tables[t]->isa == Isa::reference && (pool != 0 || split != ids.size())) continue;
        SessionConfig config;
        config.kv = kv;
        config.executor = pools[pool].executor();
        Running running(model, config);
        SessionAccess::state(running.session)->kernels = tables[t];
        const std::vector<float> logits = logits_of(running.session, ids, split);
        const std::uint64_t h = logits.empty() ? 0 : hash(logits.data(), logits.size() * sizeof(float));
        if (runs++ == 0) expected = h;
        if (h != expected || h == 0) {
          std::printf("%s kv %s: %016llx with %s, %u threads, split %zu, but %016llx before\n", name, to_string(kv),
                      static_cast<unsigned long long>(h), tables[t]->name, pools[pool].width(), split,
                      static_cast<unsigned long long>(expected));
          return false;
        }
        if (options.quick) break;
      }
    }
    SessionConfig config;
    config.kv = kv;
    const std::uint64_t h = sampled_hash(model, config, tables[t]);
    if (text == 0) text = h;
    if (h != text || h == 0) {
      std::printf("%s kv %s: sampled ids differ with %s\n", name, to_string(kv), tables[t]->name);
      return false;
    }
    std::fprintf(stderr, "%s kv %s: %s ran\n", name, to_string(kv), tables[t]->name);
  }
  std::printf("%s kv %s logits %016llx sampled %016llx\n", name, to_string(kv),
              static_cast<unsigned long long>(expected), static_cast<unsigned long long>(text));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      options.quick = true;
    } else if (std::strcmp(argv[i], "--ids") == 0 && i + 1 < argc) {
      options.ids = load_ids(argv[++i]);
    } else {
      options.models.push_back(argv[i]);
    }
  }
  ThreadPool pools[4];
  const std::uint32_t widths[4] = {1, 2, 3, 8};
  for (int i = 0; i < (options.quick ? 1 : 4); ++i) {
    if (ThreadPool::create(widths[i], &pools[i]) != Status::ok) return 1;
  }
  bool ok = !options.models.empty();
  for (const char* path : options.models) {
    for (const KvType kv : {KvType::f32, KvType::f16}) {
      if (!options.quick || kv == KvType::f16) ok = check_model(path, kv, options, pools) && ok;
    }
  }
  return ok ? 0 : 1;
}
