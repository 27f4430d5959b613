/* A program that carries a baked model: `baked bytes` writes the model's bytes, `baked text` what it says, both to stdout.
 * C99, linked with the core alone. No doctest, so that it is built in no time. */
#include <stdio.h>
#include <string.h>

#include "minnow/minnow.h"

extern const unsigned char model_bytes[];
extern const size_t model_bytes_size;

static uint64_t session_memory[(2 << 20) / 8];

static bool show(void* user, const char* text, size_t size) {
  (void)user;
  return fwrite(text, 1, size, stdout) == size;
}

static int failed(const char* call, minnow_status status) {
  fprintf(stderr, "baked: %s: %s\n", call, minnow_status_text(status));
  return 1;
}

static int write_text(const minnow_model* model) {
  uint64_t tokenizer_memory[MINNOW_HANDLE_BYTES / 8], sampler_memory[MINNOW_HANDLE_BYTES / 8];
  minnow_session* session = NULL;
  minnow_tokenizer* tokenizer = NULL;
  minnow_sampler* sampler = NULL;
  minnow_generate_config config;
  minnow_token prompt[6];
  size_t count = 0, used = 0;
  char* const memory = (char*)session_memory + (MINNOW_ALIGN - (uintptr_t)session_memory % MINNOW_ALIGN) % MINNOW_ALIGN;

  minnow_status status =
      minnow_session_create(model, NULL, memory, sizeof session_memory - MINNOW_ALIGN, &session, NULL);
  if (status != MINNOW_OK) return failed("minnow_session_create", status);
  status = minnow_tokenizer_open(model, tokenizer_memory, sizeof tokenizer_memory, &tokenizer);
  if (status != MINNOW_OK) return failed("minnow_tokenizer_open", status);
  status = minnow_tokenizer_encode(tokenizer, "ROMEO:", 6, prompt, 6, &count, &used);
  if (status != MINNOW_OK) return failed("minnow_tokenizer_encode", status);
  status = minnow_sampler_create(NULL, sampler_memory, sizeof sampler_memory, &sampler); /* seed 1 */
  if (status != MINNOW_OK) return failed("minnow_sampler_create", status);
  minnow_generate_config_init(&config, sizeof config);
  config.max_tokens = 40;
  config.on_text_or_null = show;
  status = minnow_generate(session, tokenizer, sampler, prompt, count, &config, NULL);
  return status == MINNOW_OK ? 0 : failed("minnow_generate", status);
}

int main(int argc, char** argv) {
  uint64_t model_memory[MINNOW_HANDLE_BYTES / 8];
  minnow_model* model = NULL;
  minnow_status status;
  if ((uintptr_t)model_bytes % 64 != 0) return failed("alignment", MINNOW_MISALIGNED);
  if (argc == 2 && strcmp(argv[1], "bytes") == 0) {
    return fwrite(model_bytes, 1, model_bytes_size, stdout) == model_bytes_size && fclose(stdout) == 0 ? 0 : 1;
  }
  status = minnow_model_open(model_bytes, model_bytes_size, model_memory, sizeof model_memory, &model, NULL);
  if (status != MINNOW_OK) return failed("minnow_model_open", status);
  return write_text(model) == 0 && fclose(stdout) == 0 ? 0 : 1;
}
