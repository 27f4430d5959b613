// Everything that a session has in memory, each buffer with its shape. Read this page to know what a token needs.
#pragma once

#include "base/arena.hpp"
#include "kernels/kernels.hpp"
#include "minnow/minnow.hpp"
#include "model/weights.hpp"
#include "session/ring.hpp"

namespace minnow {

// What decides the size of every buffer.
struct SessionShape {
  std::uint32_t context = 0;  // positions in the KV cache
  std::uint32_t batch = 0;    // tokens computed together
  std::uint32_t workers = 0;  // jobs at once
  KvType kv = KvType::f32;    // never automatic
};

// Receives attention probabilities while a session runs; for tests and tools that look inside. Called from any worker.
// Returns where to put the probabilities [count padded to 8] of one query, or null to skip it.
struct AttentionProbe {
  float* (*row)(void* user, std::uint32_t layer, std::uint32_t head, std::uint32_t position) = nullptr;
  void* user = nullptr;
};

// Widths of rows, in elements, padding included.
struct Widths {
  std::uint32_t embd = 0;      // n_embd, to 32
  std::uint32_t qkv = 0;       // (n_head + 2 n_kv_head) head_size, to 8
  std::uint32_t attended = 0;  // n_head head_size, to 32
  std::uint32_t hidden = 0;    // n_hidden, to 32
  std::uint32_t input = 0;     // the widest input of a matrix product, but for hidden
  std::uint32_t logits = 0;    // vocab_size, to 8
  std::uint32_t rotation = 0;  // rotary_dims / 2, to 8
};

// Input of a matrix product with q8 or q4 weights, as Kernels::quantise writes it; [n][columns padded to 32] from the
// first token of a pass on, without gaps.
struct Quantised {
  std::int8_t* q = nullptr;
  float* scale = nullptr;       // one a group of 32
  std::int32_t* sum = nullptr;  // one a group of 32
};

// Logits of this many tokens are computed together when the caller wants all of them.
inline constexpr std::uint32_t kLogitRows = 4;

// Told while feed() computes more than one pass; generate() sets it for its prompt. False: no further pass.
struct PassSink {
  bool (*on_pass)(void* user, std::size_t done, std::size_t total) = nullptr;
  void* user = nullptr;
};

struct SessionState {
  Session self;  // a handle to this state, for whoever keeps only a pointer: the C interface
  Model model;
  const Config* config = nullptr;  // in the model file
  const Kernels* kernels = nullptr;
  Executor executor;
  WhenFull when_full = WhenFull::half;
  SessionShape shape;
  Widths widths;
  Weights weights;
  AttentionProbe probe;
  PassSink pass_sink;
  Ring ring;
  std::uint32_t fewest = 0;       // tokens that rewind() must leave: what came before them went at the edge
  std::uint32_t last_pass = 0;    // tokens of the last forward(), whose residual stream is in x
  std::uint32_t last_logits = 0;  // the row of `logits` that holds the newest token's
  bool has_logits = false;
  bool busy = false;  // a callback or an executor of the caller's may be running, which must not feed this session

  // Long-lived, like what `weights` points to.
  Token* tokens = nullptr;         // [context], by slot: what the cache stands for
  std::byte* keys = nullptr;       // [n_layer][n_kv_head][context / 8 rounded up][head_size][8] of kv elements
  std::byte* values = nullptr;     // [n_layer][n_kv_head][context][value_pitch(head_size)] of kv elements
  std::size_t key_head_bytes = 0;  // one layer and KV head of keys
  std::size_t value_head_bytes = 0;
  std::size_t attend_pitch = 0;  // floats of one worker's attend_scratch

  // Of one pass over at most `batch` tokens. Padding is zero and stays zero.
  float* x = nullptr;         // [batch][embd]: the residual stream
  float* h = nullptr;         // [batch][embd]: normed input of a block
  float* rotation = nullptr;  // [batch][2][rotation]: cosines, then sines, of every pair; rotary positions only
  float* qkv = nullptr;       // [batch][qkv]
  float* attended = nullptr;  // [batch][attended]: the heads' outputs side by side
  float* hidden = nullptr;    // [batch][hidden]
  float* gate = nullptr;      // [batch][hidden]; gated activations only
  float* y = nullptr;         // [batch][embd]: what a block adds to x
  float* logits = nullptr;    // [min(batch, kLogitRows)][logits]

  // Quantised inputs of the matrix products.
  Quantised q_input;   // [batch][widest input but hidden]: of h or attended
  Quantised q_hidden;  // [batch][hidden]

  // Of one worker.
  float* attend_scratch = nullptr;  // [workers][attend_pitch]; also holds a head while it is normed
  Half* half_row = nullptr;         // [workers][value_pitch(head_size)]: a key or value on its way into an f16 cache
};

struct SessionAccess {
  static SessionState* state(Session& session) noexcept { return session.state_; }
  static Session* self(Session& session) noexcept { return &session.state_->self; }
  static bool is_at(const Session& session, const void* block) noexcept { return session.state_ == block; }
};

// As long as it lives, the session refuses to be fed, rewound and reset.
class Busy {
 public:
  explicit Busy(SessionState& s) noexcept : s_(s) { s_.busy = true; }
  ~Busy() { s_.busy = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  SessionState& s_;
};

// Takes every buffer of a session from the arena, the state itself first, and fills *out with where they are (null when
// counting). The only place where a buffer's size is written. Depends on nothing but config and shape.
void lay_out(Arena& arena, const Config& config, const SessionShape& shape, SessionState* out) noexcept;

// Bytes of one element of the cache; 0 for a type that this build does not do.
constexpr std::uint32_t kv_bytes(KvType kv) noexcept { return kv == KvType::f32 ? 4 : kv == KvType::f16 ? 2 : 0; }

}  // namespace minnow
