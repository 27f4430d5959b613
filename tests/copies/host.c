/* host MODEL FIRST.so SECOND.so local|global: one process that loads two shared objects, each with its own copy of minnow,
 * and lets both write the same text: in turn, then at the same time on two threads. Prints the text. Needs POSIX. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { kTokens = 60, kRoom = 512, kRounds = 4 };

typedef long (*write_text_function)(const char* path, uint64_t seed, unsigned tokens, unsigned threads, char* out,
                                    size_t room);

struct writer {
  write_text_function write;
  const char* path;
  char text[kRounds][kRoom];
  int failed;
};

static void* write_all(void* argument) {
  struct writer* const writer = argument;
  int i;
  memset(writer->text, 0, sizeof writer->text);
  for (i = 0; i < kRounds; ++i) {
    if (writer->write(writer->path, (uint64_t)i + 1, kTokens, (unsigned)i % 2 + 1, writer->text[i], kRoom - 1) < 0) {
      writer->failed = 1;
    }
  }
  return NULL;
}

static int load(const char* object, int flags, struct writer* writer) {
  void* const library = dlopen(object, flags);
  void* const symbol = library == NULL ? NULL : dlsym(library, "write_text");
  if (symbol == NULL) return fprintf(stderr, "host: %s\n", dlerror()), 1;
  memcpy(&writer->write, &symbol, sizeof symbol);
  return 0;
}

int main(int argc, char** argv) {
  static struct writer first, second;
  static char in_turn[kRounds][kRoom];
  pthread_t threads[2];
  int flags = RTLD_NOW;
  if (argc != 5) return 2;
  flags |= strcmp(argv[4], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
  first.path = second.path = argv[1];
  if (load(argv[2], flags, &first) != 0 || load(argv[3], flags, &second) != 0) return 1;
  if (first.write == second.write) return fprintf(stderr, "host: one copy, expected two\n"), 1;

  write_all(&first);
  write_all(&second);
  memcpy(in_turn, first.text, sizeof in_turn);
  if (first.failed || second.failed) return fprintf(stderr, "host: no text\n"), 1;
  if (memcmp(in_turn, second.text, sizeof in_turn) != 0) return fprintf(stderr, "host: two texts\n"), 1;
  if (pthread_create(&threads[0], NULL, write_all, &first) != 0) return 1;
  if (pthread_create(&threads[1], NULL, write_all, &second) != 0) return 1;
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  if (first.failed || second.failed || memcmp(in_turn, first.text, sizeof in_turn) != 0 ||
      memcmp(in_turn, second.text, sizeof in_turn) != 0) {
    return fprintf(stderr, "host: another text on threads\n"), 1;
  }
  return fputs(in_turn[0], stdout) >= 0 && fclose(stdout) == 0 ? 0 : 1;
}
