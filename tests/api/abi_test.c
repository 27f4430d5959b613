/* What a program compiled against an older minnow.h or hosted.h relies on: values, layouts and signatures. What fails
 * to compile here breaks such programs: only new values, functions, and fields at the end of a struct that carries its
 * size may be added. Called from abi_test.cpp. */
#include "minnow/hosted.h"
#include "minnow/minnow.h"

#if defined(__GNUC__)
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
#endif

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define PIN(condition) extern char JOIN(pinned_, __LINE__)[(condition) ? 1 : -1]
#define VALUE(name, value) PIN((name) == (value))

/* 64 bits; 32 bits; 32 bits where 8-byte integers are aligned to 4, as on i686. */
struct wide {
  char narrow;
  uint64_t wide;
};
#define EITHER(b64, b32, i686) (sizeof(void*) == 8 ? (b64) : offsetof(struct wide, wide) == 8 ? (b32) : (i686))
#define SIZE(type, b64, b32, i686) PIN(sizeof(type) == EITHER(b64, b32, i686))
#define FIELD(type, field, b64, b32, i686) PIN(offsetof(type, field) == EITHER(b64, b32, i686))
#define ALIGNMENT(type, b64, b32, i686) \
  struct JOIN(aligned_, __LINE__) {     \
    char narrow;                        \
    type value;                         \
  };                                    \
  PIN(offsetof(struct JOIN(aligned_, __LINE__), value) == EITHER(b64, b32, i686))

VALUE(MINNOW_OK, 0);
VALUE(MINNOW_BAD_ARGUMENT, 1);
VALUE(MINNOW_MEMORY_TOO_SMALL, 2);
VALUE(MINNOW_MISALIGNED, 3);
VALUE(MINNOW_CONTEXT_FULL, 4);
VALUE(MINNOW_OUTPUT_TOO_SMALL, 5);
VALUE(MINNOW_CANCELLED, 6);
VALUE(MINNOW_WRONG_STATE, 7);
VALUE(MINNOW_IO_ERROR, 10);
VALUE(MINNOW_NOT_A_MODEL, 20);
VALUE(MINNOW_UNSUPPORTED, 21);
VALUE(MINNOW_CORRUPT, 22);
VALUE(MINNOW_NUMERIC, 30);
VALUE(MINNOW_WEIGHT_F32, 0);
VALUE(MINNOW_WEIGHT_F16, 1);
VALUE(MINNOW_WEIGHT_Q8, 2);
VALUE(MINNOW_WEIGHT_Q4, 3);
VALUE(MINNOW_KV_AUTOMATIC, 0);
VALUE(MINNOW_KV_F32, 1);
VALUE(MINNOW_KV_F16, 2);
VALUE(MINNOW_KV_Q8, 3);
VALUE(MINNOW_ISA_BEST, 0);
VALUE(MINNOW_ISA_REFERENCE, 1);
VALUE(MINNOW_ISA_AVX2, 2);
VALUE(MINNOW_ISA_VNNI, 3);
VALUE(MINNOW_ISA_NEON, 4);
VALUE(MINNOW_ISA_DOTPROD, 5);
VALUE(MINNOW_ISA_ARMV7, 6);
VALUE(MINNOW_WHEN_FULL_HALF, 0);
VALUE(MINNOW_WHEN_FULL_SLIDE, 1);
VALUE(MINNOW_WHEN_FULL_RING, 2);
VALUE(MINNOW_WHEN_FULL_STOP, 3);
VALUE(MINNOW_HANDLE_BYTES, 128);
VALUE(MINNOW_ALIGN, 64);
VALUE(MINNOW_DEFAULT_BATCH, 32);
VALUE(MINNOW_MAX_BATCH, 1024);
VALUE(MINNOW_MAX_WORKERS, 256);
VALUE(MINNOW_ISA_COUNT, 6);

PIN(sizeof(minnow_status) == 4 && (minnow_status)-1 < 0);
PIN(sizeof(minnow_token) == 4 && (minnow_token)-1 < 0);
PIN(sizeof(minnow_weight_type) == 4 && (minnow_weight_type)-1 > 0);
PIN(sizeof(minnow_kv_type) == 4 && (minnow_kv_type)-1 > 0);
PIN(sizeof(minnow_isa) == 4 && (minnow_isa)-1 > 0);
PIN(sizeof(minnow_when_full) == 4 && (minnow_when_full)-1 > 0);

SIZE(minnow_fault, 24, 24, 20);
ALIGNMENT(minnow_fault, 8, 8, 4);
FIELD(minnow_fault, what, 0, 0, 0);
FIELD(minnow_fault, offset, 8, 8, 4);
FIELD(minnow_fault, found, 16, 16, 12);

SIZE(minnow_model_info, 88, 80, 76);
ALIGNMENT(minnow_model_info, 8, 8, 4);
FIELD(minnow_model_info, struct_size, 0, 0, 0);
FIELD(minnow_model_info, n_layer, 8, 4, 4);
FIELD(minnow_model_info, n_head, 12, 8, 8);
FIELD(minnow_model_info, n_kv_head, 16, 12, 12);
FIELD(minnow_model_info, n_embd, 20, 16, 16);
FIELD(minnow_model_info, head_size, 24, 20, 20);
FIELD(minnow_model_info, n_hidden, 28, 24, 24);
FIELD(minnow_model_info, block_size, 32, 28, 28);
FIELD(minnow_model_info, vocab_size, 36, 32, 32);
FIELD(minnow_model_info, n_tokens, 40, 36, 36);
FIELD(minnow_model_info, type, 44, 40, 40);
FIELD(minnow_model_info, has_text, 48, 44, 44);
FIELD(minnow_model_info, reserved, 52, 48, 48);
FIELD(minnow_model_info, n_parameters, 56, 56, 52);
FIELD(minnow_model_info, file_bytes, 64, 64, 60);
FIELD(minnow_model_info, provenance, 72, 72, 68);
FIELD(minnow_model_info, provenance_size, 80, 76, 72);

SIZE(minnow_session_config, 48, 36, 36);
ALIGNMENT(minnow_session_config, 8, 4, 4);
FIELD(minnow_session_config, struct_size, 0, 0, 0);
FIELD(minnow_session_config, context, 8, 4, 4);
FIELD(minnow_session_config, batch, 12, 8, 8);
FIELD(minnow_session_config, kv, 16, 12, 12);
FIELD(minnow_session_config, when_full, 20, 16, 16);
FIELD(minnow_session_config, isa, 24, 20, 20);
FIELD(minnow_session_config, executor_width, 28, 24, 24);
FIELD(minnow_session_config, executor_run_or_null, 32, 28, 28);
FIELD(minnow_session_config, executor_self, 40, 32, 32);

SIZE(minnow_encode_config, 16, 12, 12);
ALIGNMENT(minnow_encode_config, 8, 4, 4);
FIELD(minnow_encode_config, struct_size, 0, 0, 0);
FIELD(minnow_encode_config, special, 8, 4, 4);
FIELD(minnow_encode_config, begin, 12, 8, 8);

SIZE(minnow_sampler_config, 32, 32, 28);
ALIGNMENT(minnow_sampler_config, 8, 8, 4);
FIELD(minnow_sampler_config, struct_size, 0, 0, 0);
FIELD(minnow_sampler_config, temperature, 8, 4, 4);
FIELD(minnow_sampler_config, top_k, 12, 8, 8);
FIELD(minnow_sampler_config, top_p, 16, 12, 12);
FIELD(minnow_sampler_config, min_p, 20, 16, 16);
FIELD(minnow_sampler_config, seed, 24, 24, 20);

SIZE(minnow_generate_config, 72, 44, 44);
ALIGNMENT(minnow_generate_config, 8, 4, 4);
FIELD(minnow_generate_config, struct_size, 0, 0, 0);
FIELD(minnow_generate_config, max_tokens, 8, 4, 4);
FIELD(minnow_generate_config, reserved, 12, 8, 8);
FIELD(minnow_generate_config, stop_or_null, 16, 12, 12);
FIELD(minnow_generate_config, stop_size, 24, 16, 16);
FIELD(minnow_generate_config, on_text_or_null, 32, 20, 20);
FIELD(minnow_generate_config, on_token_or_null, 40, 24, 24);
FIELD(minnow_generate_config, on_prompt_or_null, 48, 28, 28);
FIELD(minnow_generate_config, user, 56, 32, 32);
FIELD(minnow_generate_config, stop_token, 64, 36, 36);
FIELD(minnow_generate_config, reserved2, 68, 40, 40);

SIZE(minnow_generate_result, 8, 8, 8);
ALIGNMENT(minnow_generate_result, 4, 4, 4);
FIELD(minnow_generate_result, tokens, 0, 0, 0);
FIELD(minnow_generate_result, stopped, 4, 4, 4);

#define FUNCTION(result, name, arguments)     \
  do {                                        \
    result(*const function) arguments = name; \
    count += function != 0;                   \
  } while (0)

/* The types behind minnow_status and its kind are written out: they are frozen too. */
static int core_functions(void) {
  int count = 0;
  FUNCTION(const char*, minnow_version, (void));
  FUNCTION(const char*, minnow_status_text, (int32_t));
  FUNCTION(size_t, minnow_available_isas, (uint32_t*, size_t));
  FUNCTION(const char*, minnow_isa_text, (uint32_t));
  FUNCTION(const char*, minnow_weight_type_text, (uint32_t));
  FUNCTION(const char*, minnow_kv_type_text, (uint32_t));
  FUNCTION(const char*, minnow_when_full_text, (uint32_t));
  FUNCTION(size_t, minnow_model_bytes, (void));
  FUNCTION(int32_t, minnow_model_open, (const void*, size_t, void*, size_t, minnow_model**, minnow_fault*));
  FUNCTION(int32_t, minnow_model_verify, (const minnow_model*, minnow_fault*));
  FUNCTION(int32_t, minnow_model_get_info, (const minnow_model*, minnow_model_info*));
  FUNCTION(int32_t, minnow_model_file, (const minnow_model*, const void**, size_t*));
  FUNCTION(void, minnow_session_config_init, (minnow_session_config*, size_t));
  FUNCTION(int32_t, minnow_session_memory_needed, (const minnow_model*, const minnow_session_config*, size_t*));
  FUNCTION(int32_t, minnow_session_create,
           (const minnow_model*, const minnow_session_config*, void*, size_t, minnow_session**, size_t*));
  FUNCTION(int32_t, minnow_session_feed, (minnow_session*, const int32_t*, size_t));
  FUNCTION(int32_t, minnow_session_feed_all, (minnow_session*, const int32_t*, size_t, float*, size_t));
  FUNCTION(int32_t, minnow_session_logits, (const minnow_session*, const float**, size_t*));
  FUNCTION(uint32_t, minnow_session_position, (const minnow_session*));
  FUNCTION(uint32_t, minnow_session_context, (const minnow_session*));
  FUNCTION(uint32_t, minnow_session_isa, (const minnow_session*));
  FUNCTION(uint32_t, minnow_session_kv, (const minnow_session*));
  FUNCTION(int32_t, minnow_session_get_model_info, (const minnow_session*, minnow_model_info*));
  FUNCTION(int32_t, minnow_session_rewind, (minnow_session*, uint32_t));
  FUNCTION(void, minnow_session_reset, (minnow_session*));
  return count;
}

static int text_functions(void) {
  int count = 0;
  FUNCTION(size_t, minnow_tokenizer_bytes, (void));
  FUNCTION(int32_t, minnow_tokenizer_open, (const minnow_model*, void*, size_t, minnow_tokenizer**));
  FUNCTION(void, minnow_encode_config_init, (minnow_encode_config*, size_t));
  FUNCTION(
      int32_t, minnow_tokenizer_encode_with,
      (const minnow_tokenizer*, const char*, size_t, const minnow_encode_config*, int32_t*, size_t, size_t*, size_t*));
  FUNCTION(int32_t, minnow_tokenizer_encode,
           (const minnow_tokenizer*, const char*, size_t, int32_t*, size_t, size_t*, size_t*));
  FUNCTION(int32_t, minnow_tokenizer_cut,
           (const minnow_tokenizer*, const char*, size_t, const minnow_encode_config*, size_t*));
  FUNCTION(int32_t, minnow_tokenizer_piece, (const minnow_tokenizer*, int32_t, const char**, size_t*));
  FUNCTION(int32_t, minnow_tokenizer_piece_after, (const minnow_tokenizer*, int32_t, int32_t, const char**, size_t*));
  FUNCTION(int32_t, minnow_tokenizer_begin_token, (const minnow_tokenizer*));
  FUNCTION(uint32_t, minnow_tokenizer_n_tokens, (const minnow_tokenizer*));
  FUNCTION(void, minnow_sampler_config_init, (minnow_sampler_config*, size_t));
  FUNCTION(size_t, minnow_sampler_bytes, (void));
  FUNCTION(int32_t, minnow_sampler_create, (const minnow_sampler_config*, void*, size_t, minnow_sampler**));
  FUNCTION(int32_t, minnow_sampler_pick, (minnow_sampler*, const float*, size_t, int32_t*));
  FUNCTION(int32_t, minnow_sampler_copy, (const minnow_sampler*, void*, size_t, minnow_sampler**));
  FUNCTION(void, minnow_generate_config_init, (minnow_generate_config*, size_t));
  FUNCTION(int32_t, minnow_generate,
           (minnow_session*, const minnow_tokenizer*, minnow_sampler*, const int32_t*, size_t,
            const minnow_generate_config*, minnow_generate_result*));
  return count;
}

static int hosted_functions(void) {
  int count = 0;
  FUNCTION(size_t, minnow_file_bytes, (void));
  FUNCTION(int32_t, minnow_file_open, (const char*, void*, size_t, minnow_file**, int*));
  FUNCTION(int32_t, minnow_file_read, (const char*, void*, size_t, minnow_file**, int*));
  FUNCTION(int32_t, minnow_file_data, (const minnow_file*, const void**, size_t*));
  FUNCTION(void, minnow_file_close, (minnow_file*));
  FUNCTION(size_t, minnow_pool_bytes, (void));
  FUNCTION(int32_t, minnow_pool_create, (uint32_t, void*, size_t, minnow_pool**));
  FUNCTION(uint32_t, minnow_pool_width, (const minnow_pool*));
  FUNCTION(int32_t, minnow_pool_use, (minnow_pool*, minnow_session_config*));
  FUNCTION(void, minnow_pool_destroy, (minnow_pool*));
  FUNCTION(uint32_t, minnow_usable_cores, (void));
  return count;
}

/* The fields of callbacks. */
static void callback_types(minnow_session_config* session, minnow_generate_config* generate) {
  void (*const run)(void*, uint32_t, void (*)(void*, uint32_t), void*) = session->executor_run_or_null;
  bool (*const on_text)(void*, const char*, size_t) = generate->on_text_or_null;
  bool (*const on_token)(void*, int32_t) = generate->on_token_or_null;
  bool (*const on_prompt)(void*, size_t, size_t) = generate->on_prompt_or_null;
  session->executor_run_or_null = run;
  generate->on_text_or_null = on_text;
  generate->on_token_or_null = on_token;
  generate->on_prompt_or_null = on_prompt;
}

int minnow_abi_functions(void);

int minnow_abi_functions(void) {
  minnow_session_config session = {0};
  minnow_generate_config generate = {0};
  callback_types(&session, &generate);
  return core_functions() + text_functions() + hosted_functions();
}
