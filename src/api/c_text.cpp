// minnow.h in terms of minnow.hpp: tokenizers and samplers.
#include "api/c_handles.hpp"
#include "base/check.hpp"

namespace minnow {
namespace {

minnow_sampler_config default_sampler_config() noexcept {
  const SamplerConfig defaults;
  minnow_sampler_config config = {};
  config.temperature = defaults.temperature;
  config.top_k = defaults.top_k;
  config.top_p = defaults.top_p;
  config.min_p = defaults.min_p;
  config.seed = defaults.seed;
  return config;
}

Status read_encode_config(const minnow_encode_config* given_or_null, EncodeConfig* out) noexcept {
  minnow_encode_config config = {};
  MINNOW_TRY(read_config(given_or_null, &config));
  if (config.special > 1 || config.begin > 1) return Status::bad_argument;
  *out = {config.special != 0, config.begin != 0};
  return Status::ok;
}

}  // namespace
}  // namespace minnow

using minnow::c_status;
using minnow::Status;

size_t minnow_tokenizer_bytes(void) { return sizeof(minnow_tokenizer); }

minnow_status minnow_tokenizer_open(const minnow_model* model, void* memory, size_t memory_size,
                                    minnow_tokenizer** out) {
  if (model == nullptr || memory == nullptr || out == nullptr) return MINNOW_BAD_ARGUMENT;
  minnow_tokenizer handle;
  const Status status = minnow::Tokenizer::open(model->model, &handle.tokenizer);
  return c_status(status != Status::ok ? status : minnow::place(handle, memory, memory_size, out));
}

void minnow_encode_config_init(minnow_encode_config* config, size_t struct_size) {
  minnow::init_config(config, struct_size, minnow_encode_config());
}

minnow_status minnow_tokenizer_encode_with(const minnow_tokenizer* tokenizer, const char* text, size_t text_size,
                                           const minnow_encode_config* config_or_null, minnow_token* out, size_t room,
                                           size_t* count, size_t* used) {
  if (tokenizer == nullptr || count == nullptr || used == nullptr || (text == nullptr && text_size != 0) ||
      (out == nullptr && room != 0)) {
    return MINNOW_BAD_ARGUMENT;
  }
  minnow::EncodeConfig config;
  const Status readable = minnow::read_encode_config(config_or_null, &config);
  if (readable != Status::ok) return c_status(readable);
  minnow::EncodeResult result;
  const Status status = tokenizer->tokenizer.encode({text, text_size}, config, {out, room}, &result);
  *count = result.tokens;
  *used = result.bytes;
  return c_status(status);
}

minnow_status minnow_tokenizer_encode(const minnow_tokenizer* tokenizer, const char* text, size_t text_size,
                                      minnow_token* out, size_t room, size_t* count, size_t* used) {
  return minnow_tokenizer_encode_with(tokenizer, text, text_size, nullptr, out, room, count, used);
}

minnow_status minnow_tokenizer_cut(const minnow_tokenizer* tokenizer, const char* text, size_t text_size,
                                   const minnow_encode_config* config_or_null, size_t* cut) {
  if (tokenizer == nullptr || cut == nullptr || (text == nullptr && text_size != 0)) return MINNOW_BAD_ARGUMENT;
  minnow::EncodeConfig config;
  const Status readable = minnow::read_encode_config(config_or_null, &config);
  if (readable != Status::ok) return c_status(readable);
  *cut = tokenizer->tokenizer.cut({text, text_size}, config);
  return MINNOW_OK;
}

minnow_status minnow_tokenizer_piece(const minnow_tokenizer* tokenizer, minnow_token token, const char** bytes,
                                     size_t* size) {
  if (tokenizer == nullptr || bytes == nullptr || size == nullptr) return MINNOW_BAD_ARGUMENT;
  const std::string_view piece = tokenizer->tokenizer.piece(token);
  *bytes = piece.data();
  *size = piece.size();
  return MINNOW_OK;
}

minnow_status minnow_tokenizer_piece_after(const minnow_tokenizer* tokenizer, minnow_token token, minnow_token previous,
                                           const char** bytes, size_t* size) {
  if (tokenizer == nullptr || bytes == nullptr || size == nullptr) return MINNOW_BAD_ARGUMENT;
  const std::string_view piece = tokenizer->tokenizer.piece(token, previous);
  *bytes = piece.data();
  *size = piece.size();
  return MINNOW_OK;
}

minnow_token minnow_tokenizer_begin_token(const minnow_tokenizer* tokenizer) {
  return tokenizer == nullptr ? -1 : tokenizer->tokenizer.begin_token();
}

uint32_t minnow_tokenizer_n_tokens(const minnow_tokenizer* tokenizer) {
  return tokenizer == nullptr ? 0 : tokenizer->tokenizer.n_tokens();
}

void minnow_sampler_config_init(minnow_sampler_config* config, size_t struct_size) {
  minnow::init_config(config, struct_size, minnow::default_sampler_config());
}

size_t minnow_sampler_bytes(void) { return sizeof(minnow_sampler); }

minnow_status minnow_sampler_create(const minnow_sampler_config* config_or_null, void* memory, size_t memory_size,
                                    minnow_sampler** out) {
  if (memory == nullptr || out == nullptr) return MINNOW_BAD_ARGUMENT;
  minnow_sampler_config config = minnow::default_sampler_config();
  minnow_sampler handle;
  Status status = minnow::read_config(config_or_null, &config);
  if (status == Status::ok) {
    status = minnow::Sampler::create({config.temperature, config.top_k, config.top_p, config.min_p, config.seed},
                                     &handle.sampler);
  }
  return c_status(status != Status::ok ? status : minnow::place(handle, memory, memory_size, out));
}

minnow_status minnow_sampler_pick(minnow_sampler* sampler, const float* logits, size_t count, minnow_token* out) {
  if (sampler == nullptr) return MINNOW_BAD_ARGUMENT;
  return c_status(sampler->sampler.pick({logits, count}, out));
}
