/* minnow's C99 interface. It is minnow.hpp in other words: the comments there hold here too, function by function.
 *
 * The order of calls: minnow_model_open; minnow_session_memory_needed and _create, minnow_tokenizer_open and
 * minnow_sampler_create; minnow_tokenizer_encode; minnow_generate, or minnow_session_feed and minnow_sampler_pick in a
 * loop of one's own.
 *
 * The caller owns every byte. Handles live in memory that the caller gives, need no destruction, and are valid as long
 * as that memory and everything they were made from; what is copied or moved elsewhere by the byte is no handle. A
 * model or tokenizer may be shared by threads; a session or sampler belongs to one thread at a time.
 *
 * Arguments are checked before anything else happens:
 *   MINNOW_BAD_ARGUMENT  a null pointer, unless its name ends in _or_null or the size beside it is 0; a size that no
 *                        memory has; a value out of range
 *   MINNOW_MISALIGNED    a pointer that is not aligned as its type is
 *   MINNOW_WRONG_STATE   a handle that is none: zeros, closed, or of another kind. (Memory that was freed or reused
 *                        cannot be told.)
 * What returns no status then does nothing and returns 0 (minnow_tokenizer_begin_token: -1). Output parameters are
 * untouched on failure unless their comment says so.
 *
 * Callbacks and executors must not throw, longjmp or end the thread. While one runs, the session refuses to be fed,
 * rewound and reset: MINNOW_WRONG_STATE.
 */
#ifndef MINNOW_MINNOW_H
#define MINNOW_MINNOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "minnow/export.h"

#ifdef __cplusplus
extern "C" {
#endif
MINNOW_EXPORT_BEGIN

/* Frozen values, the same as minnow::Status. */
typedef int32_t minnow_status;
enum {
  MINNOW_OK = 0,
  MINNOW_BAD_ARGUMENT = 1,
  MINNOW_MEMORY_TOO_SMALL = 2,
  MINNOW_MISALIGNED = 3,
  MINNOW_CONTEXT_FULL = 4,
  MINNOW_OUTPUT_TOO_SMALL = 5,
  MINNOW_CANCELLED = 6,
  MINNOW_WRONG_STATE = 7,
  MINNOW_IO_ERROR = 10,
  MINNOW_NOT_A_MODEL = 20,
  MINNOW_UNSUPPORTED = 21,
  MINNOW_CORRUPT = 22,
  MINNOW_NUMERIC = 30
};

typedef uint32_t minnow_weight_type;
enum { MINNOW_WEIGHT_F32 = 0, MINNOW_WEIGHT_F16 = 1, MINNOW_WEIGHT_Q8 = 2, MINNOW_WEIGHT_Q4 = 3 };

typedef uint32_t minnow_kv_type;
enum { MINNOW_KV_AUTOMATIC = 0, MINNOW_KV_F32 = 1, MINNOW_KV_F16 = 2, MINNOW_KV_Q8 = 3 };

typedef uint32_t minnow_isa;
enum {
  MINNOW_ISA_BEST = 0,
  MINNOW_ISA_REFERENCE = 1,
  MINNOW_ISA_AVX2 = 2,
  MINNOW_ISA_VNNI = 3,
  MINNOW_ISA_NEON = 4,
  MINNOW_ISA_DOTPROD = 5,
  MINNOW_ISA_ARMV7 = 6
};

typedef uint32_t minnow_when_full;
enum { MINNOW_WHEN_FULL_HALF = 0, MINNOW_WHEN_FULL_SLIDE = 1, MINNOW_WHEN_FULL_RING = 2, MINNOW_WHEN_FULL_STOP = 3 };

typedef int32_t minnow_token;

typedef struct minnow_model minnow_model;
typedef struct minnow_session minnow_session;
typedef struct minnow_tokenizer minnow_tokenizer;
typedef struct minnow_sampler minnow_sampler;

/* Memory of a model, tokenizer or sampler: as many bytes as its ..._bytes() function says, aligned as uint64_t is.
 * Without a heap: uint64_t memory[MINNOW_HANDLE_BYTES / 8] is enough for each, in every version 1. */
#define MINNOW_HANDLE_BYTES 128
/* Memory of a session starts on this boundary. */
#define MINNOW_ALIGN 64
/* Limits and defaults of minnow_session_config. */
#define MINNOW_DEFAULT_BATCH 32
#define MINNOW_MAX_BATCH 1024
#define MINNOW_MAX_WORKERS 256 /* executor_width */
/* How many values minnow_available_isas() writes at most. */
#define MINNOW_ISA_COUNT 6

/* Structs that may grow begin with their size as the caller knows it. ..._init() sets it and the defaults; pass
 * `sizeof` of the struct. Fields that the library does not know must be 0, else MINNOW_UNSUPPORTED. A size of over 4096
 * bytes was never set: MINNOW_BAD_ARGUMENT, and ..._init() does nothing. */

/* "1.0.0", of the library that is linked. */
const char* minnow_version(void);
/* Short and English, "memory too small"; never null, "unknown status" for any other value. */
const char* minnow_status_text(minnow_status status);
/* Instruction sets present, ascending, the last one the best; `out` has room for `room` values. Returns how many were
 * written. */
size_t minnow_available_isas(minnow_isa* out, size_t room);
/* Names in lower case, as minnow.hpp's to_string() has them; "unknown" for any other value. */
const char* minnow_isa_text(minnow_isa isa);
const char* minnow_weight_type_text(minnow_weight_type type);
const char* minnow_kv_type_text(minnow_kv_type kv);
const char* minnow_when_full_text(minnow_when_full when);

/* ---- Model ---- */

typedef struct {
  const char* what; /* static */
  uint64_t offset;
  uint64_t found;
} minnow_fault;

typedef struct {
  size_t struct_size; /* set by the caller; only so many bytes are written */
  uint32_t n_layer;
  uint32_t n_head;
  uint32_t n_kv_head;
  uint32_t n_embd;
  uint32_t head_size;
  uint32_t n_hidden;
  uint32_t block_size;
  uint32_t vocab_size;
  uint32_t n_tokens;
  minnow_weight_type type;
  uint32_t has_text; /* 0 or 1 */
  uint32_t reserved; /* 0 */
  uint64_t n_parameters;
  uint64_t file_bytes;
  const char* provenance; /* not terminated */
  size_t provenance_size;
} minnow_model_info;

size_t minnow_model_bytes(void);
/* `file` stays valid and unchanged, and starts on a 16-byte boundary, else MINNOW_MISALIGNED. Validates all but the
 * weights: MINNOW_NOT_A_MODEL, MINNOW_UNSUPPORTED, MINNOW_CORRUPT, and *fault_or_null says where. */
minnow_status minnow_model_open(const void* file, size_t file_size, void* memory, size_t memory_size,
                                minnow_model** out, minnow_fault* fault_or_null);
/* Reads every byte, the weights too: MINNOW_CORRUPT. */
minnow_status minnow_model_verify(const minnow_model* model, minnow_fault* fault_or_null);
minnow_status minnow_model_get_info(const minnow_model* model, minnow_model_info* info);
/* The bytes that it was opened from. */
minnow_status minnow_model_file(const minnow_model* model, const void** file, size_t* file_size);

/* ---- Session ---- */

typedef void (*minnow_job)(void* arg, uint32_t index);

typedef struct {
  size_t struct_size;
  uint32_t context; /* positions in the cache, 1 .. block_size; 0: block_size */
  uint32_t batch;   /* tokens computed together, 1 .. MINNOW_MAX_BATCH; 0: MINNOW_DEFAULT_BATCH */
  minnow_kv_type kv;           /* MINNOW_KV_Q8: not in this version, MINNOW_UNSUPPORTED */
  minnow_when_full when_full;  /* MINNOW_WHEN_FULL_RING: likewise */
  minnow_isa isa;
  uint32_t executor_width; /* jobs that may run at once, 1 .. MINNOW_MAX_WORKERS; 1 with a null executor_run */
  /* Runs job(arg, 0), .. job(arg, jobs - 1) once each, in any order, on any threads, and returns when all are done;
   * null: the calling thread does all. `jobs` may be more or less than the width; run is called many times a token.
   * What was written before the call is seen by the jobs, and what these wrote after it. */
  void (*executor_run_or_null)(void* self, uint32_t jobs, minnow_job job, void* arg);
  void* executor_self;
} minnow_session_config;

void minnow_session_config_init(minnow_session_config* config, size_t struct_size);

/* The exact bytes that minnow_session_create needs. A null config: the defaults. MINNOW_BAD_ARGUMENT: a value out of
 * range; MINNOW_UNSUPPORTED: an option, an instruction set say, that this build, CPU or model does not have. */
minnow_status minnow_session_memory_needed(const minnow_model* model, const minnow_session_config* config_or_null,
                                           size_t* bytes);
/* `memory` starts on MINNOW_ALIGN. On MINNOW_MEMORY_TOO_SMALL *needed_or_null is the figure of
 * minnow_session_memory_needed. */
minnow_status minnow_session_create(const minnow_model* model, const minnow_session_config* config_or_null,
                                    void* memory, size_t memory_size, minnow_session** out, size_t* needed_or_null);

/* Appends tokens, each in 0 .. vocab_size-1, or nothing at all. MINNOW_BAD_ARGUMENT and MINNOW_CONTEXT_FULL: nothing
 * was fed; MINNOW_NUMERIC: they were fed, and there are no logits. */
minnow_status minnow_session_feed(minnow_session* session, const minnow_token* tokens, size_t count);
/* Also keeps the logits after every token: logits[count][vocab_size], `room` floats, else MINNOW_OUTPUT_TOO_SMALL and
 * nothing was fed. */
minnow_status minnow_session_feed_all(minnow_session* session, const minnow_token* tokens, size_t count, float* logits,
                                      size_t room);
/* After the last token: *count is vocab_size, or 0 before the first token. Valid until the next feed,
 * rewind or reset. */
minnow_status minnow_session_logits(const minnow_session* session, const float** logits, size_t* count);
/* Tokens now in the cache, and positions there. */
uint32_t minnow_session_position(const minnow_session* session);
uint32_t minnow_session_context(const minnow_session* session);
/* What really runs, never MINNOW_ISA_BEST, and MINNOW_KV_AUTOMATIC only of no session. */
minnow_isa minnow_session_isa(const minnow_session* session);
minnow_kv_type minnow_session_kv(const minnow_session* session);
/* Of the model that the session was created from. */
minnow_status minnow_session_get_model_info(const minnow_session* session, minnow_model_info* info);
/* Drops the newest `tokens` of the sequence; the logits are then empty until the next feed. MINNOW_BAD_ARGUMENT: more
 * than the position; MINNOW_WRONG_STATE: the cache no longer holds what is needed. */
minnow_status minnow_session_rewind(minnow_session* session, uint32_t tokens);
void minnow_session_reset(minnow_session* session);

/* ---- Tokenizer ---- */

size_t minnow_tokenizer_bytes(void);
/* MINNOW_UNSUPPORTED: the file has no vocabulary (minnow_model_info.has_text). */
minnow_status minnow_tokenizer_open(const minnow_model* model, void* memory, size_t memory_size,
                                    minnow_tokenizer** out);

typedef struct {
  size_t struct_size;
  uint32_t special; /* 1: texts of special tokens become their ids; 0: they are text like any other */
  uint32_t begin;   /* 1: the text begins a sequence: the vocabulary's begin token and space, if any, come first */
} minnow_encode_config;

void minnow_encode_config_init(minnow_encode_config* config, size_t struct_size);
/* `room` ids; text_size ids always suffice, and 2 more with begin. Needs 40 KiB of stack and time linear in the text. A
 * null config: the defaults, 0 and 0. *count and *used (bytes of text) are also written on MINNOW_BAD_ARGUMENT (text +
 * *used begins a character that the vocabulary lacks) and MINNOW_OUTPUT_TOO_SMALL (go on at text + *used, without begin
 * unless *count is 0; *used is 0: the first part of the text needs more room by itself, never more than an id a byte). */
minnow_status minnow_tokenizer_encode_with(const minnow_tokenizer* tokenizer, const char* text, size_t text_size,
                                           const minnow_encode_config* config_or_null, minnow_token* out, size_t room,
                                           size_t* count, size_t* used);
/* The same with the defaults. */
minnow_status minnow_tokenizer_encode(const minnow_tokenizer* tokenizer, const char* text, size_t text_size,
                                      minnow_token* out, size_t room, size_t* count, size_t* used);
/* How many bytes of `text` may be encoded apart, whatever follows it. 0: more text is needed, or its end. */
minnow_status minnow_tokenizer_cut(const minnow_tokenizer* tokenizer, const char* text, size_t text_size,
                                   const minnow_encode_config* config_or_null, size_t* cut);
/* The bytes of one token, not terminated; may end inside a UTF-8 sequence. *size is 0 for an id without text. */
minnow_status minnow_tokenizer_piece(const minnow_tokenizer* tokenizer, minnow_token token, const char** bytes,
                                     size_t* size);
/* The bytes that `token` adds to a text behind `previous` (-1: nothing): nothing for the begin token, and behind it a
 * piece without the space that minnow_encode_config.begin puts there. */
minnow_status minnow_tokenizer_piece_after(const minnow_tokenizer* tokenizer, minnow_token token, minnow_token previous,
                                           const char** bytes, size_t* size);
/* The id that every sequence begins with, and that ends one when it is generated; -1: none. */
minnow_token minnow_tokenizer_begin_token(const minnow_tokenizer* tokenizer);
uint32_t minnow_tokenizer_n_tokens(const minnow_tokenizer* tokenizer);

/* ---- Sampler ---- */

typedef struct {
  size_t struct_size;
  float temperature; /* >= 0; 0: greedy; default 0.8 */
  uint32_t top_k;    /* 0: all; default 200 */
  float top_p;       /* in (0, 1]; default 1: all */
  float min_p;       /* in [0, 1]; default 0: all */
  uint64_t seed;     /* default 1 */
} minnow_sampler_config;

void minnow_sampler_config_init(minnow_sampler_config* config, size_t struct_size);
size_t minnow_sampler_bytes(void);
minnow_status minnow_sampler_create(const minnow_sampler_config* config_or_null, void* memory, size_t memory_size,
                                    minnow_sampler** out);
/* `count` is n_tokens: only ids that have text. MINNOW_NUMERIC: no logit is finite. */
minnow_status minnow_sampler_pick(minnow_sampler* sampler, const float* logits, size_t count, minnow_token* out);
/* Forks it: both will pick alike from the same logits. */
minnow_status minnow_sampler_copy(const minnow_sampler* sampler, void* memory, size_t memory_size,
                                  minnow_sampler** out);

/* ---- Generate ---- */

typedef struct {
  size_t struct_size;
  uint32_t max_tokens;      /* default 256 */
  uint32_t reserved;        /* 0 */
  const char* stop_or_null; /* generation ends before this text */
  size_t stop_size;
  bool (*on_text_or_null)(void* user, const char* text, size_t size); /* whole characters; false: stop */
  bool (*on_token_or_null)(void* user, minnow_token token);           /* false: stop */
  /* After each batch of the prompt: tokens computed, and in all; false: stop. */
  bool (*on_prompt_or_null)(void* user, size_t done, size_t total);
  void* user;
  minnow_token stop_token; /* generation ends where this id is picked; it is neither shown nor fed; -1: none */
  uint32_t reserved2;      /* 0 */
} minnow_generate_config;

typedef struct {
  uint32_t tokens;  /* generated */
  uint32_t stopped; /* 1: the stop text appeared, or the stop token */
} minnow_generate_result;

void minnow_generate_config_init(minnow_generate_config* config, size_t struct_size);
/* Feeds the prompt (none, if the session has logits), then picks, shows and feeds until max_tokens, a stop, a full
 * context (MINNOW_CONTEXT_FULL) or a callback that says stop (MINNOW_CANCELLED). on_text and a stop text need the
 * tokenizer, and no prompt needs logits, else MINNOW_BAD_ARGUMENT; so does an id that is none, and nothing is fed.
 * *result_or_null is also written on MINNOW_CANCELLED, MINNOW_CONTEXT_FULL and MINNOW_NUMERIC. */
minnow_status minnow_generate(minnow_session* session, const minnow_tokenizer* tokenizer_or_null,
                              minnow_sampler* sampler, const minnow_token* prompt, size_t prompt_size,
                              const minnow_generate_config* config_or_null, minnow_generate_result* result_or_null);

MINNOW_EXPORT_END
#ifdef __cplusplus
}
#endif

#endif
