/* A story on stdout, in C. Arguments: a model file, the text it begins with. */
#include <stdio.h>
#include <string.h>
#include "minnow/hosted.h" /* minnow_file; the rest needs no operating system */

static unsigned char memory[2u << 20] __attribute__((aligned(MINNOW_ALIGN))); /* of the session */

static bool show(void* user, const char* text, size_t size) { return fwrite(text, 1, size, (FILE*)user) == size; }

int main(int argc, char** argv) {
  uint64_t handles[4][MINNOW_HANDLE_BYTES / 8];
  minnow_file* file = NULL;
  minnow_model* model = NULL;
  minnow_tokenizer* tokenizer = NULL;
  minnow_sampler* sampler = NULL;
  minnow_session* session = NULL;
  minnow_token prompt[64];
  const void* bytes = NULL;
  size_t size = 0, tokens = 0, used = 0;
  minnow_sampler_config greedy;
  minnow_generate_config config;
  if (argc != 3) return fputs("usage: story MODEL TEXT\n", stderr), 2;
  minnow_sampler_config_init(&greedy, sizeof greedy);
  greedy.temperature = 0;
  minnow_generate_config_init(&config, sizeof config);
  config.on_text_or_null = show;
  config.user = stdout;
  minnow_status status = minnow_file_open(argv[1], handles[0], sizeof handles[0], &file, NULL);
  if (status == MINNOW_OK) status = minnow_file_data(file, &bytes, &size);
  if (status == MINNOW_OK) status = minnow_model_open(bytes, size, handles[1], sizeof handles[1], &model, NULL);
  if (status == MINNOW_OK) status = minnow_session_create(model, NULL, memory, sizeof memory, &session, NULL);
  if (status == MINNOW_OK) status = minnow_tokenizer_open(model, handles[2], sizeof handles[2], &tokenizer);
  if (status == MINNOW_OK) status = minnow_sampler_create(&greedy, handles[3], sizeof handles[3], &sampler);
  if (status == MINNOW_OK) status = minnow_tokenizer_encode(tokenizer, argv[2], strlen(argv[2]), prompt, 64, &tokens, &used);
  if (status == MINNOW_OK) fputs(argv[2], stdout);
  if (status == MINNOW_OK) status = minnow_generate(session, tokenizer, sampler, prompt, tokens, &config, NULL);
  if (status != MINNOW_OK) fprintf(stderr, "story: %s\n", minnow_status_text(status));
  minnow_file_close(file);
  return status == MINNOW_OK ? 0 : 1;
}
