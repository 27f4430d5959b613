// minnow's C++ interface, in the order in which data flows: Model, Session, Tokenizer, Sampler, generate().
//
// The caller owns every byte: a Model and a Tokenizer are views over file bytes, a Session is carved out of one block.
// Nothing here allocates, throws, prints, locks, or reads files, environment and locale. A Model or Tokenizer may be
// shared by threads; a Session or Sampler belongs to one thread at a time. These classes are handles: copying one
// copies pointers, not the bytes behind them, so that two copies of a Session are one sequence. None needs destruction;
// each is valid as long as what it was made from.
//
//   Model model;              // `file`: the model file's bytes, on a 16-byte boundary (hosted.hpp maps it)
//   Status status = Model::open(file, &model);
//   std::size_t bytes = 0;    // each step only if the one before was ok
//   status = Session::memory_needed(model, {}, &bytes);
//   Session session;          // `memory`: a Span of that many bytes, on kAlign
//   status = Session::create(model, {}, memory, &session);
//   Tokenizer tokenizer;
//   status = Tokenizer::open(model, &tokenizer);
//   Sampler sampler;
//   status = Sampler::create({}, &sampler);
//   Token ids[64];
//   EncodeResult prompt;
//   status = tokenizer.encode("Once", {ids, 64}, &prompt);
//   GenerateConfig config;    // with on_text, which takes the text
//   status = generate(session, &tokenizer, sampler, {ids, prompt.tokens}, config);
//
// Arguments are checked first: bad_argument for null pointers whose name does not end in _or_null, and for sizes that
// no memory has (a null span of size 0 is none); misaligned for spans that are not aligned as their type is;
// wrong_state for handles that were never made. Output parameters are untouched on failure unless their comment says
// otherwise.
//
// Results are the same bits on every machine, whatever the options of speed and memory. Whatever rounding, flushing of
// denormals and traps a host has set on a thread, nothing here heeds it, and it is as it was afterwards.
#pragma once

#include <string_view>

#include "minnow/types.hpp"

MINNOW_EXPORT_BEGIN
namespace minnow {

// Where Model::open found fault. All texts are static.
struct Fault {
  const char* what = "";     // the field or table, and what is wrong with it
  std::uint64_t offset = 0;  // byte offset in the file
  std::uint64_t found = 0;   // the value found there, where one number says it
};

// Names follow nanoGPT's GPTConfig.
struct ModelInfo {
  std::uint32_t n_layer = 0;
  std::uint32_t n_head = 0;
  std::uint32_t n_kv_head = 0;
  std::uint32_t n_embd = 0;
  std::uint32_t head_size = 0;
  std::uint32_t n_hidden = 0;    // width of the MLP
  std::uint32_t block_size = 0;  // positions the model was trained with
  std::uint32_t vocab_size = 0;  // length of the logits
  std::uint32_t n_tokens = 0;    // ids that have text: 0 .. n_tokens-1; at most vocab_size
  WeightType type = WeightType::f32;
  bool has_text = false;           // a tokenizer is in the file
  std::uint64_t n_parameters = 0;  // weights as the checkpoint counts them, tied ones once
  std::uint64_t file_bytes = 0;
  std::string_view provenance;  // UTF-8 lines "key=value"
};

// A model file, read in place: mapped, in flash, or in .rodata.
class Model {
 public:
  // Validates header, tables and tokenizer; never reads weight data. `file` must stay valid and unchanged as long as
  // anything made from it is used, and start on a 16-byte boundary (else misaligned).
  // Errors: bad_argument, misaligned, not_a_model, unsupported, corrupt; *fault_or_null then says where.
  static Status open(Span<const std::byte> file, Model* out, Fault* fault_or_null = nullptr) noexcept;

  // Reads every byte and compares the checksum of the weights; also finds NaN and infinite scales and weights.
  // Errors: wrong_state, corrupt.
  Status verify(Fault* fault_or_null = nullptr) const noexcept;

  // All zero if the model was never opened.
  ModelInfo info() const noexcept;
  Span<const std::byte> file() const noexcept { return file_; }

 private:
  Span<const std::byte> file_;
};

// The host's way to run work on threads: run() calls job(arg, 0), .. job(arg, jobs - 1) once each, in any order and on
// any threads, and returns when all are done; what the caller wrote before is seen by the jobs, and what these wrote by
// the caller afterwards. Null `run`: the calling thread does all. Jobs never throw and never wait for one another, so
// running them one after the other is correct. run() is called many times a token, with up to 4 jobs a worker; it must
// not throw, and gets wrong_state from the session that it works for.
using Job = void (*)(void* arg, std::uint32_t index);
struct Executor {
  void (*run)(void* self, std::uint32_t jobs, Job job, void* arg) = nullptr;
  void* self = nullptr;
  std::uint32_t width =
      1;  // jobs that may profitably run at once; 1 .. kMaxWorkers. Costs scratch memory, never changes bits
};

struct SessionConfig {
  std::uint32_t context = 0;  // positions in the KV cache, 1 .. block_size; 0: block_size
  std::uint32_t batch =
      0;  // tokens computed together in prefill, 1 .. kMaxBatch; 0: kDefaultBatch. Costs memory, never changes bits
  KvType kv = KvType::automatic;        // q8: not in this version (unsupported)
  WhenFull when_full = WhenFull::half;  // ring: likewise
  Isa isa = Isa::best;
  Executor executor = {};
};

// One sequence being written: its KV cache and every buffer of the forward pass.
class Session {
 public:
  // The exact size in bytes of the block that create() needs. Independent of the instruction set.
  // Errors: bad_argument, unsupported (an option that this build or this model does not have), wrong_state (no model),
  // memory_too_small (more than this machine's size_t can count).
  static Status memory_needed(const Model& model, const SessionConfig& config, std::size_t* bytes) noexcept;

  // Carves a session from the front of `memory`, which starts on kAlign, belongs to the session until the caller reuses
  // it, and needs no destruction. Errors: as above, and misaligned, memory_too_small: *needed_or_null is then the
  // figure that memory_needed() gives.
  static Status create(const Model& model, const SessionConfig& config, Span<std::byte> memory, Session* out,
                       std::size_t* needed_or_null = nullptr) noexcept;

  // Appends tokens to the sequence; logits() then predicts what follows the last one. When the context is full,
  // WhenFull decides. Tokens are ids below vocab_size, or nothing is fed. No tokens: nothing happens.
  // Errors: wrong_state (never made, or inside a callback of generate() or an executor), bad_argument, misaligned,
  // context_full (nothing was fed by any of these), numeric (the tokens were fed; logits() is empty).
  Status feed(Span<const Token> tokens) noexcept;

  // The same, and keeps the logits after every token: logits[tokens.size()][vocab_size], row-major.
  // Errors: also output_too_small (nothing was fed). After numeric, rows from the failing one on are unspecified.
  Status feed(Span<const Token> tokens, Span<float> logits) noexcept;

  // [vocab_size] after the last token; empty before the first, and after rewind(). Valid until the next feed(),
  // rewind() or reset(). For a Sampler: logits().first(model().n_tokens).
  Span<const float> logits() const noexcept;

  std::uint32_t position() const noexcept;  // tokens now in the KV cache, 0 .. context()
  std::uint32_t context() const noexcept;   // positions in the KV cache
  Isa isa() const noexcept;                 // what really runs; never `best`
  KvType kv() const noexcept;               // never `automatic`
  ModelInfo model() const noexcept;         // the model it was created from

  // Drops the newest `tokens` of the sequence: what is fed then gives the bits it would give had they never been fed.
  // logits() is empty until then; for those of the token that is now the newest, drop it too and feed it again.
  // Nothing is computed. 0 tokens: nothing happens. Errors: bad_argument (more than position()), wrong_state (also
  // inside a callback of generate(), and where the context was full since: the cache no longer holds what stood before
  // the newest tokens when the oldest went; nothing is dropped).
  Status rewind(std::uint32_t tokens) noexcept;

  // Forgets the sequence; the memory stays. Does nothing inside a callback of generate() or an executor.
  void reset() noexcept;

 private:
  friend struct SessionAccess;
  struct SessionState* state_ = nullptr;  // at the front of the caller's block
};

struct EncodeConfig {
  bool special = false;  // texts of special tokens become their ids; else they are text like any other
  bool begin = false;    // the text begins a sequence: the vocabulary's begin token and space, if any, come first
};

struct EncodeResult {
  std::size_t tokens = 0;  // ids written
  std::size_t bytes = 0;   // bytes of text they stand for
};

// The vocabulary of a model file: text to token ids and back.
class Tokenizer {
 public:
  // Errors: wrong_state, unsupported (the file has no tokenizer).
  static Status open(const Model& model, Tokenizer* out) noexcept;

  // Writes the ids of `text`; text.size() ids always suffice, and 2 more with `begin`. Needs 40 KiB of stack and time
  // linear in the text. *result is written on success and on these errors:
  //   bad_argument      text[result->bytes] starts a character that the vocabulary does not have
  //   output_too_small  `out` is full; result->bytes tells where to go on. 0: the first part of the text needs more
  //                     room by itself, never more than one id a byte (a word, say; one without an end may be long)
  // Go on without `begin`, unless nothing was written.
  Status encode(std::string_view text, const EncodeConfig& config, Span<Token> out,
                EncodeResult* result) const noexcept;
  Status encode(std::string_view text, Span<Token> out, EncodeResult* result) const noexcept;  // the default config

  // For text that comes in chunks: how many bytes of `text` may be encoded apart, whatever follows it. 0: more text is
  // needed, or its end.
  std::size_t cut(std::string_view text, const EncodeConfig& config = {}) const noexcept;

  // The bytes of one token; empty for an id without text. May end inside a UTF-8 sequence.
  std::string_view piece(Token token) const noexcept;

  // The bytes that `token` adds to a text behind `previous` (-1: nothing): its piece, but nothing for the begin token,
  // and behind that one a piece without the space that `begin` puts there.
  std::string_view piece(Token token, Token previous) const noexcept;

  // The id that every sequence begins with, and that ends one when it is generated; -1: none.
  Token begin_token() const noexcept;

  std::uint32_t n_tokens() const noexcept;

 private:
  Span<const std::byte> section_;
  std::uint32_t borders_[3][8] = {};  // sets of bytes, a bit each: where unsplit text may be cut
};

struct SamplerConfig {
  float temperature = 0.8f;   // >= 0; 0: greedy, the first of the largest logits
  std::uint32_t top_k = 200;  // keep the k largest, and all that equal the k-th; 0: all
  float top_p = 1.0f;         // in (0, 1]: keep the fewest most probable whose probabilities reach top_p, ties included
  float min_p = 0.0f;         // in [0, 1]: drop what is less probable than min_p times the most probable
  std::uint64_t seed = 1;
};

// Chooses tokens. A plain value: copy it to fork, keep the seed to replay.
class Sampler {
 public:
  // Errors: bad_argument.
  static Status create(const SamplerConfig& config, Sampler* out) noexcept;

  // Picks from logits [n_tokens]; pass only ids that have text. The i-th call uses one 64-bit draw, a function of
  // (seed, i). Temperature, then top-k, min-p, top-p. Errors: bad_argument (no logits), numeric (no finite logit).
  Status pick(Span<const float> logits, Token* out) noexcept;

 private:
  SamplerConfig config_;
  std::uint64_t index_ = 0;
};

// The callbacks of generate(), on the thread that called it. Return false to stop. They must not throw; the session
// that is generating refuses to be fed by them (wrong_state). Generated text comes in order, whole characters only, and
// is valid during the call.
using TextSink = bool (*)(void* user, std::string_view text);
// Every generated token, as it is picked and before its text.
using TokenSink = bool (*)(void* user, Token token);
// After each `batch` of the prompt: how many tokens are computed, of how many in all. These are the prompt's, but for
// what the edge of the context takes away or has computed again.
using PromptSink = bool (*)(void* user, std::size_t done, std::size_t total);

struct GenerateConfig {
  std::uint32_t max_tokens = 256;
  std::string_view stop;  // generation ends before this text; empty: none. Needs a tokenizer
  Token stop_token = -1;  // generation ends where this id is picked, which is neither shown, counted nor fed; -1: none
  TextSink on_text = nullptr;
  TokenSink on_token = nullptr;
  PromptSink on_prompt = nullptr;
  void* user = nullptr;
};

struct GenerateResult {
  std::uint32_t tokens = 0;  // generated, the ones of a matched stop text included
  bool stopped = false;      // the stop text appeared, or the stop token
};

// Feeds the prompt, then picks, shows and feeds until max_tokens, the stop text, a full context (context_full) or a
// sink that returns false (cancelled). After ok the session holds the prompt and all that was generated, so a second
// call with no prompt goes on; after cancelled or context_full the last token was shown but not fed. Cancelled by
// on_prompt, the session holds what was computed until then, and no logits.
// `tokenizer_or_null` is needed for on_text and stop. The prompt may be empty if the session already has logits.
// Errors: bad_argument (an empty prompt without logits, on_text or stop without a tokenizer that has text, an id that the
// model does not have: nothing was fed), wrong_state, and what feed() and pick() return.
// *result_or_null is also written on cancelled, context_full and numeric.
Status generate(Session& session, const Tokenizer* tokenizer_or_null, Sampler& sampler, Span<const Token> prompt,
                const GenerateConfig& config, GenerateResult* result_or_null = nullptr) noexcept;

// The instruction sets that this build has and this CPU can run, ascending, without `best`; the last one is the best.
// `out` needs room for kIsaCount. Returns how many.
std::size_t available_isas(Span<Isa> out) noexcept;
const char* to_string(Isa isa) noexcept;
const char* to_string(WeightType type) noexcept;
const char* to_string(KvType kv) noexcept;
const char* to_string(WhenFull when) noexcept;

// "1.0.0"
const char* version() noexcept;

}  // namespace minnow
MINNOW_EXPORT_END
