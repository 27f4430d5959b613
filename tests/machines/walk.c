/* walk MODEL: from a model file to text through minnow.h in C99, linked with the core alone. stdout: the text, the same on
 * every machine; stderr: "isa NAME", or one line that says what failed. No doctest, so that it is built in no time. */
#include <stdio.h>

#include "minnow/minnow.h"

static uint64_t file_memory[(4 << 20) / 8];
static uint64_t session_memory[(2 << 20) / 8];

static bool show(void* user, const char* text, size_t size) {
  (void)user;
  return fwrite(text, 1, size, stdout) == size;
}

static int failed(const char* call, minnow_status status, const char* why) {
  fprintf(stderr, "walk: %s: %s%s%s\n", call, minnow_status_text(status), *why != 0 ? ": " : "", why);
  return 1;
}

/* To the first multiple of `align` in `memory`. */
static char* aligned(void* memory, size_t align) {
  return (char*)memory + (align - (uintptr_t)memory % align) % align;
}

static size_t read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  size_t size = 0;
  if (file == NULL) return 0;
  size = fread(aligned(file_memory, 16), 1, sizeof file_memory - 16, file);
  return fclose(file) == 0 ? size : 0;
}

static int generate(const minnow_model* model) {
  static const char text[] = "ROMEO:";
  uint64_t tokenizer_memory[MINNOW_HANDLE_BYTES / 8], sampler_memory[MINNOW_HANDLE_BYTES / 8];
  minnow_session* session = NULL;
  minnow_tokenizer* tokenizer = NULL;
  minnow_sampler* sampler = NULL;
  minnow_generate_config config;
  minnow_token prompt[sizeof text];
  size_t count = 0, used = 0, bytes = 0;

  minnow_status status = minnow_session_memory_needed(model, NULL, &bytes);
  if (status != MINNOW_OK) return failed("minnow_session_memory_needed", status, "");
  if (bytes > sizeof session_memory - MINNOW_ALIGN) return failed("walk", MINNOW_MEMORY_TOO_SMALL, "a model too large for it");
  status = minnow_session_create(model, NULL, aligned(session_memory, MINNOW_ALIGN), bytes, &session, NULL);
  if (status != MINNOW_OK) return failed("minnow_session_create", status, "");
  fprintf(stderr, "isa %s\n", minnow_isa_text(minnow_session_isa(session)));
  status = minnow_tokenizer_open(model, tokenizer_memory, sizeof tokenizer_memory, &tokenizer);
  if (status != MINNOW_OK) return failed("minnow_tokenizer_open", status, "");
  status = minnow_tokenizer_encode(tokenizer, text, sizeof text - 1, prompt, sizeof text, &count, &used);
  if (status != MINNOW_OK) return failed("minnow_tokenizer_encode", status, "");
  status = minnow_sampler_create(NULL, sampler_memory, sizeof sampler_memory, &sampler);
  if (status != MINNOW_OK) return failed("minnow_sampler_create", status, "");
  minnow_generate_config_init(&config, sizeof config);
  config.max_tokens = 24;
  config.on_text_or_null = show;
  status = minnow_generate(session, tokenizer, sampler, prompt, count, &config, NULL);
  if (status != MINNOW_OK) return failed("minnow_generate", status, "");
  return fclose(stdout) == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  uint64_t model_memory[MINNOW_HANDLE_BYTES / 8];
  minnow_model* model = NULL;
  minnow_fault fault;
  minnow_status status;
  const size_t size = argc == 2 ? read_file(argv[1]) : 0;
  if (size == 0) return failed("walk MODEL", MINNOW_IO_ERROR, "no model was read");
  status = minnow_model_open(aligned(file_memory, 16), size, model_memory, sizeof model_memory, &model, &fault);
  if (status != MINNOW_OK) return failed("minnow_model_open", status, fault.what);
  return generate(model);
}
