/* No heap and no operating system: the model is part of the program (`minnow bake MODEL --object model.o --name model`),
 * the session a static block, and what it writes goes where put_text() says, here into a buffer. Only main() is for a
 * computer with an operating system: it shows the buffer. */
#include <stdio.h>

#include "minnow/minnow.h"

extern const unsigned char model[]; /* by `minnow bake`, on a boundary of 64 bytes, in .rodata */
extern const size_t model_size;

/* `minnow info MODEL --threads 1` says how much; _Alignas or an attribute of the compiler puts it on the boundary. */
static unsigned char memory[2u << 20] __attribute__((aligned(MINNOW_ALIGN)));
static uint64_t handles[3][MINNOW_HANDLE_BYTES / 8];
static char written[1024];
static size_t n_written;

static bool put_text(void* user, const char* text, size_t size) {
  (void)user;
  for (size_t i = 0; i < size && n_written < sizeof written; ++i) written[n_written++] = text[i];
  return n_written < sizeof written;
}

static minnow_status tell(void) {
  minnow_model* opened = NULL;
  minnow_tokenizer* tokenizer = NULL;
  minnow_sampler* sampler = NULL;
  minnow_session* session = NULL;
  minnow_token prompt[8];
  size_t tokens = 0, used = 0;
  minnow_sampler_config greedy;
  minnow_generate_config config;
  minnow_sampler_config_init(&greedy, sizeof greedy);
  greedy.temperature = 0;
  minnow_generate_config_init(&config, sizeof config);
  config.on_text_or_null = put_text;

  minnow_status status = minnow_model_open(model, model_size, handles[0], sizeof handles[0], &opened, NULL);
  if (status == MINNOW_OK) status = minnow_session_create(opened, NULL, memory, sizeof memory, &session, NULL);
  if (status == MINNOW_OK) status = minnow_tokenizer_open(opened, handles[1], sizeof handles[1], &tokenizer);
  if (status == MINNOW_OK) status = minnow_sampler_create(&greedy, handles[2], sizeof handles[2], &sampler);
  if (status == MINNOW_OK) status = minnow_tokenizer_encode(tokenizer, "ROMEO:", 6, prompt, 8, &tokens, &used);
  if (status == MINNOW_OK) status = minnow_generate(session, tokenizer, sampler, prompt, tokens, &config, NULL);
  return status;
}

int main(void) {
  const minnow_status status = tell();
  if (status == MINNOW_OK) printf("ROMEO:%.*s", (int)n_written, written);
  else fprintf(stderr, "no_heap: %s\n", minnow_status_text(status));
  return status == MINNOW_OK ? 0 : 1;
}
