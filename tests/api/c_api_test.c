/* minnow.h used from C99: the whole way from file bytes to text. Called from c_api_test.cpp; returns the number of the
 * source line that went wrong, or 0. */
#include <string.h>

#include "minnow/minnow.h"

#define EXPECT(condition)              \
  do {                                 \
    if (!(condition)) return __LINE__; \
  } while (0)

typedef struct {
  char text[256];
  size_t size;
  int tokens;
  size_t prompt;
} Written;

static bool on_text(void* user, const char* text, size_t size) {
  Written* written = (Written*)user;
  if (written->size + size > sizeof written->text) return false;
  memcpy(written->text + written->size, text, size);
  written->size += size;
  return true;
}

static bool on_token(void* user, minnow_token token) {
  ((Written*)user)->tokens += token >= 0;
  return true;
}

static bool on_prompt(void* user, size_t done, size_t total) {
  ((Written*)user)->prompt += done;
  return done <= total;
}

int minnow_c_api_walk(const void* file, size_t file_size, void* memory, size_t memory_size, char* out,
                      size_t* out_size);

int minnow_c_api_walk(const void* file, size_t file_size, void* memory, size_t memory_size, char* out,
                      size_t* out_size) {
  uint64_t model_memory[MINNOW_HANDLE_BYTES / 8];
  uint64_t tokenizer_memory[MINNOW_HANDLE_BYTES / 8];
  uint64_t sampler_memory[MINNOW_HANDLE_BYTES / 8];
  minnow_model* model = NULL;
  minnow_session* session = NULL;
  minnow_tokenizer* tokenizer = NULL;
  minnow_sampler* sampler = NULL;
  minnow_model_info info;
  minnow_session_config session_config;
  minnow_sampler_config sampler_config;
  minnow_generate_config config;
  minnow_generate_result result;
  minnow_token prompt[8];
  size_t count = 0, used = 0, bytes = 0;
  const float* logits = NULL;
  Written written;
  memset(&written, 0, sizeof written);

  EXPECT(minnow_model_open(file, file_size, model_memory, minnow_model_bytes() - 1, &model, NULL) ==
         MINNOW_MEMORY_TOO_SMALL);
  EXPECT(minnow_model_open(file, file_size, (char*)model_memory + 1, MINNOW_HANDLE_BYTES - 1, &model, NULL) ==
         MINNOW_MISALIGNED);
  EXPECT(minnow_model_open(file, file_size, model_memory, sizeof model_memory, &model, NULL) == MINNOW_OK);
  EXPECT(minnow_model_verify(model, NULL) == MINNOW_OK);
  info.struct_size = sizeof info;
  EXPECT(minnow_model_get_info(model, &info) == MINNOW_OK);
  EXPECT(info.n_layer == 2 && info.vocab_size == 11 && info.n_tokens == 9 && info.has_text == 1);
  EXPECT(info.provenance_size == 12 && memcmp(info.provenance, "source=hand\n", 12) == 0);

  minnow_session_config_init(&session_config, sizeof session_config);
  session_config.context = 12;
  EXPECT(minnow_session_memory_needed(model, &session_config, &bytes) == MINNOW_OK);
  EXPECT(bytes <= memory_size);
  EXPECT(minnow_session_create(model, &session_config, memory, bytes - 1, &session, NULL) == MINNOW_MEMORY_TOO_SMALL);
  EXPECT(minnow_session_create(model, &session_config, (char*)memory + 8, bytes, &session, NULL) == MINNOW_MISALIGNED);
  EXPECT(minnow_session_create(model, &session_config, memory, bytes, &session, NULL) == MINNOW_OK);
  EXPECT(minnow_session_context(session) == 12 && minnow_session_position(session) == 0);
  EXPECT(minnow_session_logits(session, &logits, &count) == MINNOW_OK && count == 0);

  EXPECT(minnow_tokenizer_open(model, tokenizer_memory, sizeof tokenizer_memory, &tokenizer) == MINNOW_OK);
  EXPECT(minnow_tokenizer_n_tokens(tokenizer) == 9);
  EXPECT(minnow_tokenizer_encode(tokenizer, "ab?", 3, prompt, 8, &count, &used) == MINNOW_BAD_ARGUMENT);
  EXPECT(count == 1 && used == 2 && prompt[0] == 5);

  minnow_sampler_config_init(&sampler_config, sizeof sampler_config);
  sampler_config.seed = 7;
  EXPECT(minnow_sampler_create(&sampler_config, sampler_memory, sizeof sampler_memory, &sampler) == MINNOW_OK);

  minnow_generate_config_init(&config, sizeof config);
  config.max_tokens = 20;
  config.on_text_or_null = on_text;
  config.on_token_or_null = on_token;
  config.on_prompt_or_null = on_prompt;
  config.user = &written;
  EXPECT(minnow_generate(session, tokenizer, sampler, prompt, 1, &config, &result) == MINNOW_OK);
  EXPECT(result.tokens == 20 && result.stopped == 0 && written.tokens == 20 && written.prompt == 1);
  EXPECT(minnow_session_logits(session, &logits, &count) == MINNOW_OK && count == 11 && logits != NULL);
  EXPECT(minnow_session_rewind(session, 10) == MINNOW_BAD_ARGUMENT);
  EXPECT(minnow_session_rewind(session, 9) == MINNOW_WRONG_STATE);
  EXPECT(minnow_session_rewind(session, 2) == MINNOW_OK);
  EXPECT(minnow_session_logits(session, &logits, &count) == MINNOW_OK && count == 0);
  minnow_session_reset(session);
  EXPECT(minnow_session_position(session) == 0);
  memcpy(out, written.text, written.size);
  *out_size = written.size;
  return 0;
}
