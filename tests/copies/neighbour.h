/* Another inference library, as C code in one file is written: its names are the field's own, in the global namespace. It
 * stands beside minnow in one program. */
#ifndef NEIGHBOUR_H
#define NEIGHBOUR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Config {
  int dim, n_layers, vocab_size;
} Config;
typedef struct Model {
  Config config;
  float weights[64];
} Model;
typedef struct Session {
  float x[8], logits[8];
} Session;
typedef struct Tokenizer {
  const char* vocab[8];
} Tokenizer;
typedef struct Sampler {
  unsigned long long rng_state;
  float temperature;
} Sampler;

extern int version;
extern float logits[8];

void build_model(Model* model);
void build_tokenizer(Tokenizer* tokenizer);
void rmsnorm(float* out, const float* x, const float* weight, int size);
void softmax(float* x, int size);
void matmul(float* out, const float* x, const float* w, int n, int d);
void quantise(float* x, int n);
float* forward(Model* model, Session* session, int token);
int sample(Sampler* sampler, float* logits);
const char* decode(Tokenizer* tokenizer, int token);
int encode(Tokenizer* tokenizer, const char* text);
void generate(Model* model, Tokenizer* tokenizer, Sampler* sampler, int steps, char* out);
unsigned crc32(unsigned crc, const void* data, size_t bytes);
void select_kernels(void);

#ifdef __cplusplus
}
#endif

#endif
