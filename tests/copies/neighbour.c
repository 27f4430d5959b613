/* The other library. What it computes is of no use, but always the same. */
#include "neighbour.h"

#include <string.h>

int version = 7;
float logits[8];

void build_model(Model* model) {
  int i;
  model->config.dim = model->config.vocab_size = 8;
  model->config.n_layers = 1;
  for (i = 0; i < 64; ++i) model->weights[i] = (float)((i * 37 + 11) % 23) / 23.0f - 0.5f;
}
void build_tokenizer(Tokenizer* tokenizer) {
  static const char* const kPieces[8] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  memcpy(tokenizer->vocab, kPieces, sizeof kPieces);
}
void rmsnorm(float* out, const float* x, const float* weight, int size) {
  float sum = 1e-5f;
  int i;
  for (i = 0; i < size; ++i) sum += x[i] * x[i];
  for (i = 0; i < size; ++i) out[i] = weight[i] * x[i] / sum;
}
void softmax(float* x, int size) {
  float sum = 0;
  int i;
  for (i = 0; i < size; ++i) sum += x[i] * x[i] + 0.01f;
  for (i = 0; i < size; ++i) x[i] = (x[i] * x[i] + 0.01f) / sum;
}
void matmul(float* out, const float* x, const float* w, int n, int d) {
  int i, j;
  for (i = 0; i < d; ++i) {
    out[i] = 0;
    for (j = 0; j < n; ++j) out[i] += w[i * n + j] * x[j];
  }
}
void quantise(float* x, int n) {
  int i;
  for (i = 0; i < n; ++i) x[i] = (float)(int)(x[i] * 127.0f) / 127.0f;
}
float* forward(Model* model, Session* session, int token) {
  int i;
  for (i = 0; i < 8; ++i) session->x[i] = (float)((i + token) % 8) / 8.0f;
  rmsnorm(session->x, session->x, model->weights, 8);
  quantise(session->x, 8);
  matmul(session->logits, session->x, model->weights, 8, 8);
  softmax(session->logits, 8);
  memcpy(logits, session->logits, sizeof logits);
  return session->logits;
}
int sample(Sampler* sampler, float* from) {
  float r;
  int i;
  sampler->rng_state = sampler->rng_state * 6364136223846793005ULL + 1442695040888963407ULL;
  r = (float)(sampler->rng_state >> 40) / 16777216.0f;
  for (i = 0; i < 7; ++i) {
    r -= from[i];
    if (r < 0) break;
  }
  return i;
}
const char* decode(Tokenizer* tokenizer, int token) { return tokenizer->vocab[token]; }
int encode(Tokenizer* tokenizer, const char* text) {
  int i;
  for (i = 0; i < 8; ++i) {
    if (strcmp(tokenizer->vocab[i], text) == 0) return i;
  }
  return 0;
}
void generate(Model* model, Tokenizer* tokenizer, Sampler* sampler, int steps, char* out) {
  Session session;
  int token = encode(tokenizer, "c");
  select_kernels();
  *out = 0;
  for (; steps > 0; --steps) {
    token = sample(sampler, forward(model, &session, token));
    strcat(out, decode(tokenizer, token));
  }
}
unsigned crc32(unsigned crc, const void* data, size_t bytes) { return crc + (unsigned)bytes + *(const unsigned char*)data; }
void select_kernels(void) {}
