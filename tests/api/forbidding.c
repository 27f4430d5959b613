/* A host that forbids everything: once a model's bytes are in memory, none of the functions below may be called, and no
 * system call be made, while minnow.h opens, encodes, generates, rewinds and picks. Defines each forbidden function
 * itself, so that calls from inside shared libraries count too. For Linux; started by forbidding.sh.
 *
 * forbidding MODEL        prints the text that it generates
 * forbidding MODEL NAME   calls the function NAME meanwhile (`syscall`: makes a system call), and so must die
 * forbidding --names      prints those names */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "minnow/minnow.h"

static volatile int forbidden;

static void say(int descriptor, const char* text, size_t size) {
  while (size > 0) {
    const long n = syscall(SYS_write, descriptor, text, size);
    if (n <= 0) return;
    text += n;
    size -= (size_t)n;
  }
}

static void end(int status) {
  while (1) syscall(SYS_exit, status); /* what seccomp allows */
}

static void refuse(const char* name) {
  if (!forbidden) return;
  say(2, "forbidden: ", 11);
  say(2, name, strlen(name));
  say(2, "\n", 1);
  end(3);
}

/* ---- What is forbidden. Before that, only what runs ahead of main needs any of it. ---- */

static unsigned char heap[1 << 20] __attribute__((aligned(64)));
static size_t heap_used;

static void* take(size_t size) {
  void* const out = heap + heap_used;
  heap_used += (size + 63) / 64 * 64;
  if (heap_used > sizeof heap / 2) end(4); /* realloc may copy too much, but stays inside */
  return out;
}

#pragma GCC visibility push(default)

void* malloc(size_t size) {
  refuse("malloc");
  return take(size);
}
void* calloc(size_t count, size_t size) {
  refuse("calloc");
  return take(count * size);
}
void* realloc(void* old, size_t size) {
  void* out;
  refuse("realloc");
  out = take(size);
  if (old != NULL) memmove(out, old, size);
  return out;
}
void free(void* old) {
  refuse("free");
  (void)old;
}
#if UINTPTR_MAX > 0xffffffffu
void* operator_new(size_t size) __asm__("_Znwm");
#else
void* operator_new(size_t size) __asm__("_Znwj");
#endif
void* operator_new(size_t size) {
  refuse("operator_new");
  return take(size);
}
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  refuse("mmap");
  (void)at, (void)size, (void)protection, (void)flags, (void)file, (void)offset;
  return MAP_FAILED;
}
ssize_t write(int file, const void* bytes, size_t size) {
  refuse("write");
  (void)file, (void)bytes;
  return (ssize_t)size;
}
int open(const char* path, int flags, ...) {
  refuse("open");
  (void)path, (void)flags;
  return -1;
}
void exit(int status) {
  refuse("exit");
  end(status);
  __builtin_unreachable();
}
void (*signal(int number, void (*handler)(int)))(int) {
  refuse("signal");
  (void)number, (void)handler;
  return SIG_ERR;
}
int sigaction(int number, const struct sigaction* action, struct sigaction* old) {
  refuse("sigaction");
  (void)number, (void)action, (void)old;
  return -1;
}
char* getenv(const char* name) {
  refuse("getenv");
  (void)name;
  return NULL;
}
char* setlocale(int category, const char* name) {
  refuse("setlocale");
  (void)category, (void)name;
  return NULL;
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* arg) {
  refuse("pthread_create");
  (void)thread, (void)attributes, (void)run, (void)arg;
  return EAGAIN;
}
int pthread_mutex_lock(pthread_mutex_t* mutex) {
  refuse("pthread_mutex_lock");
  (void)mutex;
  return 0;
}

#pragma GCC visibility pop

/* ---- That each can be noticed. ---- */

static void* volatile sink; /* else calls whose results nobody uses may be left out */
static pthread_t thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction action;

static void call_malloc(void) { sink = malloc(1); }
static void call_calloc(void) { sink = calloc(1, 1); }
static void call_realloc(void) { sink = realloc(sink, 1); }
static void call_free(void) { free(sink); }
static void call_operator_new(void) { sink = operator_new(1); }
static void call_mmap(void) { sink = mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
static void call_write(void) { sink = write(1, "", 0) != 0 ? sink : NULL; }
static void call_open(void) { sink = open("/", O_RDONLY) != 0 ? sink : NULL; }
static void call_exit(void) { exit(0); }
static void call_signal(void) { signal(SIGINT, SIG_IGN); }
static void call_sigaction(void) { sigaction(SIGINT, NULL, &action); }
static void call_getenv(void) { sink = getenv("HOME"); }
static void call_setlocale(void) { sink = setlocale(LC_ALL, ""); }
static void* nothing(void* arg) { return arg; }
static void call_pthread_create(void) { pthread_create(&thread, NULL, nothing, NULL); }
static void call_pthread_mutex_lock(void) { pthread_mutex_lock(&mutex); }
static void call_syscall(void) { syscall(SYS_getppid); }

static const struct {
  const char* name;
  void (*call)(void);
} breaches[] = {
    {"malloc", call_malloc},
    {"calloc", call_calloc},
    {"realloc", call_realloc},
    {"free", call_free},
    {"operator_new", call_operator_new},
    {"mmap", call_mmap},
    {"write", call_write},
    {"open", call_open},
    {"exit", call_exit},
    {"signal", call_signal},
    {"sigaction", call_sigaction},
    {"getenv", call_getenv},
    {"setlocale", call_setlocale},
    {"pthread_create", call_pthread_create},
    {"pthread_mutex_lock", call_pthread_mutex_lock},
    {"syscall", call_syscall},
};
enum { BREACHES = sizeof breaches / sizeof breaches[0] };

/* ---- What the host does with the library. ---- */

static unsigned char file[16 << 20] __attribute__((aligned(64)));
static unsigned char block[16 << 20] __attribute__((aligned(MINNOW_ALIGN)));
static uint64_t handles[4][MINNOW_HANDLE_BYTES / 8];
static char text[4096];
static size_t text_size;

static bool on_text(void* user, const char* bytes, size_t size) {
  (void)user;
  if (size > sizeof text - text_size) return false;
  memcpy(text + text_size, bytes, size);
  text_size += size;
  return true;
}

/* The line that went wrong, or 0. */
#define EXPECT(condition)              \
  do {                                 \
    if (!(condition)) return __LINE__; \
  } while (0)

static int generate(const void* bytes, size_t size, void (*breach_or_null)(void)) {
  minnow_model* model;
  minnow_session* session;
  minnow_tokenizer* tokenizer;
  minnow_sampler *sampler, *fork;
  minnow_sampler_config sampling;
  minnow_generate_config config;
  minnow_token prompt[16], token;
  size_t count, used, needed;
  const float* logits;
  const char* piece;

  EXPECT(minnow_model_open(bytes, size, handles[0], sizeof handles[0], &model, NULL) == MINNOW_OK);
  EXPECT(minnow_model_verify(model, NULL) == MINNOW_OK);
  EXPECT(minnow_session_memory_needed(model, NULL, &needed) == MINNOW_OK && needed <= sizeof block);
  EXPECT(minnow_session_create(model, NULL, block, sizeof block, &session, NULL) == MINNOW_OK);
  EXPECT(minnow_tokenizer_open(model, handles[1], sizeof handles[1], &tokenizer) == MINNOW_OK);
  minnow_sampler_config_init(&sampling, sizeof sampling);
  sampling.seed = 7;
  EXPECT(minnow_sampler_create(&sampling, handles[2], sizeof handles[2], &sampler) == MINNOW_OK);
  EXPECT(minnow_tokenizer_encode(tokenizer, "ROMEO:", 6, prompt, 16, &count, &used) == MINNOW_OK && used == 6);
  minnow_generate_config_init(&config, sizeof config);
  config.max_tokens = 60;
  config.on_text_or_null = on_text;
  EXPECT(minnow_generate(session, tokenizer, sampler, prompt, count, &config, NULL) == MINNOW_OK);
  if (breach_or_null != NULL) breach_or_null();
  EXPECT(minnow_session_rewind(session, 5) == MINNOW_OK);
  EXPECT(minnow_session_feed(session, prompt, count) == MINNOW_OK);
  EXPECT(minnow_session_logits(session, &logits, &count) == MINNOW_OK && count > 0);
  EXPECT(minnow_sampler_copy(sampler, handles[3], sizeof handles[3], &fork) == MINNOW_OK);
  EXPECT(minnow_sampler_pick(fork, logits, count, &token) == MINNOW_OK);
  EXPECT(minnow_tokenizer_piece(tokenizer, token, &piece, &count) == MINNOW_OK && count > 0);
  minnow_session_reset(session);
  return 0;
}

static size_t read_file(const char* path) {
  size_t size = 0;
  long n = 1;
  const long descriptor = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
  while (n > 0 && size < sizeof file) {
    n = syscall(SYS_read, descriptor, file + size, sizeof file - size);
    if (n > 0) size += (size_t)n;
  }
  return size;
}

int main(int argc, char** argv) {
  void (*breach)(void) = NULL;
  size_t i, size;
  int line;
  if (argc < 2) return 2;
  if (strcmp(argv[1], "--names") == 0) {
    for (i = 0; i < BREACHES; ++i) {
      say(1, breaches[i].name, strlen(breaches[i].name));
      say(1, "\n", 1);
    }
    end(0);
  }
  for (i = 0; argc > 2 && i < BREACHES; ++i) {
    if (strcmp(argv[2], breaches[i].name) == 0) breach = breaches[i].call;
  }
  size = read_file(argv[1]);
  forbidden = 1;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) say(2, "no seccomp here\n", 16);
  line = generate(file, size, breach);
  if (line != 0) {
    char digits[5] = {(char)('0' + line / 100 % 10), (char)('0' + line / 10 % 10), (char)('0' + line % 10), '\n', 0};
    say(2, "forbidding.c:", 13);
    say(2, digits, 4);
    end(1);
  }
  say(1, text, text_size);
  end(0);
}
