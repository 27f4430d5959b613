// The third rung: whole sessions give the same bits on every instruction set, for any number of threads, any split of
// the prompt, any batch, alone or with logits after every token.
#include <cstdio>

#include "kernels/kernels.hpp"
#include "session/state.hpp"
#include "tests/sanitized.hpp"
#include "tests/session/families.hpp"
#include "tests/session/rig.hpp"

using namespace minnow;
using namespace minnow::test;

namespace {

// Forces one table, also the second of two that share an Isa (the two encodings of VNNI).
void force(Session& session, const Kernels* kernels) { SessionAccess::state(session)->kernels = kernels; }

std::vector<Family> cases() {
  HandShape plain;  // heads of 12: no multiple of 8; the widths no multiple of 32
  plain.n_layer = 2, plain.n_head = 4, plain.head_size = 12, plain.n_embd = 48, plain.n_hidden = 192;
  plain.block_size = 24, plain.vocab_size = 37, plain.amplitude = 0.3f;
  HandShape odd;
  odd.n_layer = 1, odd.n_head = 3, odd.head_size = 5, odd.n_embd = 15, odd.n_hidden = 50, odd.block_size = 9;
  odd.vocab_size = 3, odd.bias = false, odd.activation = 1;
  HandShape tiny;
  tiny.n_layer = 1, tiny.n_head = 1, tiny.head_size = 1, tiny.n_embd = 1, tiny.n_hidden = 1, tiny.block_size = 2;
  tiny.vocab_size = 2, tiny.bias = false;
  HandShape deep;  // more positions than one attention tile
  deep.n_layer = 1, deep.n_head = 1, deep.head_size = 72, deep.n_embd = 72, deep.n_hidden = 40, deep.block_size = 150;
  deep.vocab_size = 19, deep.amplitude = 0.1f;
  std::vector<Family> all = families();
  all.insert(all.end(), {{"plain", plain}, {"plain, odd", odd}, {"plain, tiny", tiny}, {"deep", deep}});
  return all;
}

// Every instruction set, weight and cache type and split, with pools of these widths, against one run of the reference.
void check_all(const std::vector<std::uint32_t>& widths) {
  const Kernels* tables[kMaxKernels];
  const std::size_t n_tables = available_kernels(tables);
  std::vector<ThreadPool> pools(widths.size());
  for (std::size_t i = 0; i < widths.size(); ++i) REQUIRE(ThreadPool::create(widths[i], &pools[i]) == Status::ok);

  for (Family& c : cases()) {
    for (std::uint32_t type = 0; type < 4; ++type) {
      c.shape.type = type;
      const AlignedBytes file = hand_built(c.shape);
      const Model model = open_model(file);
      const std::vector<Token> tokens = some_tokens(c.shape.block_size, c.shape.vocab_size);
      for (const KvType kv : {KvType::f32, KvType::f16}) {
        SessionConfig config;
        config.kv = kv;
        config.isa = Isa::reference;
        Rig reference(model, config);
        const std::vector<float> expected = all_logits(reference.session, tokens, 1);
        for (std::size_t t = 0; t < n_tables; ++t) {
          for (ThreadPool& pool : pools) {
            config.isa = Isa::best;
            config.executor = pool.executor();
            for (const std::size_t split : {std::size_t{1}, std::size_t{7}, std::size_t{16}, tokens.size()}) {
              config.batch = split == 16 ? 5 : 0;  // a batch that does not divide the split
              Rig rig(model, config);
              force(rig.session, tables[t]);
              CAPTURE(c.name);
              CAPTURE(type);
              CAPTURE(tables[t]->name);
              CAPTURE(pool.width());
              CAPTURE(split);
              CHECK(same_bits(all_logits(rig.session, tokens, split), expected));
            }
          }
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("same bits: instruction sets, splits, weight and cache types") { check_all({1}); }
TEST_CASE("same bits: threads") {
  if (kSanitized) return check_all({3});
  check_all({2, 3, 8});
}

TEST_CASE("same bits: the last logits of a plain feed are those of a feed that keeps all") {
  HandShape shape;
  shape.n_embd = 40, shape.head_size = 20, shape.vocab_size = 21;
  const AlignedBytes file = hand_built(shape);
  const Model model = open_model(file);
  const std::vector<Token> tokens = some_tokens(16, 21);
  Rig all(model, {});
  const std::vector<float> rows = all_logits(all.session, tokens, 16);
  Rig plain(model, {});
  REQUIRE(plain.session.feed({tokens.data(), 16}) == Status::ok);
  CHECK(same_bits(plain.session.logits(), {rows.data() + 15 * 21, 21}));
  CHECK(same_bits(all.session.logits(), plain.session.logits()));
}
