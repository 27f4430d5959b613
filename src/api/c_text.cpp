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

Status check_piece(const minnow_tokenizer* tokenizer, const char** bytes, std::size_t* size) noexcept {
  return first_error(check_handle(tokenizer), check_pointer(bytes), check_pointer(size));
}

}  // namespace
}  // namespace minnow

using minnow::c_status;
using minnow::Status;

size_t minnow_tokenizer_bytes(void) { return sizeof(minnow_tokenizer); }

minnow_status minnow_tokenizer_open(const minnow_model* model, void* memory, size_t memory_size,
                                    minnow_tokenizer** out) {
  const Status callable =
      minnow::first_error(minnow::check_handle(model), minnow::check_place(memory, memory_size, out));
  if (callable != Status::ok) return c_status(callable);
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
  minnow::EncodeConfig config;
  const Status callable = minnow::first_error(
      minnow::check_handle(tokenizer), minnow::check_input(text, text_size), minnow::check_room(out, room),
      minnow::check_pointer(count), minnow::check_pointer(used), minnow::read_encode_config(config_or_null, &config));
  if (callable != Status::ok) return c_status(callable);
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
  minnow::EncodeConfig config;
  const Status callable =
      minnow::first_error(minnow::check_handle(tokenizer), minnow::check_input(text, text_size),
                          minnow::check_pointer(cut), minnow::read_encode_config(config_or_null, &config));
  if (callable != Status::ok) return c_status(callable);
  *cut = tokenizer->tokenizer.cut({text, text_size}, config);
  return MINNOW_OK;
}

minnow_status minnow_tokenizer_piece(const minnow_tokenizer* tokenizer, minnow_token token, const char** bytes,
                                     size_t* size) {
  const Status callable = minnow::check_piece(tokenizer, bytes, size);
  if (callable != Status::ok) return c_status(callable);
  const std::string_view piece = tokenizer->tokenizer.piece(token);
  *bytes = piece.data();
  *size = piece.size();
  return MINNOW_OK;
}

minnow_status minnow_tokenizer_piece_after(const minnow_tokenizer* tokenizer, minnow_token token, minnow_token previous,
                                           const char** bytes, size_t* size) {
  const Status callable = minnow::check_piece(tokenizer, bytes, size);
  if (callable != Status::ok) return c_status(callable);
  const std::string_view piece = tokenizer->tokenizer.piece(token, previous);
  *bytes = piece.data();
  *size = piece.size();
  return MINNOW_OK;
}

minnow_token minnow_tokenizer_begin_token(const minnow_tokenizer* tokenizer) {
  return minnow::check_handle(tokenizer) == Status::ok ? tokenizer->tokenizer.begin_token() : -1;
}

uint32_t minnow_tokenizer_n_tokens(const minnow_tokenizer* tokenizer) {
  return minnow::check_handle(tokenizer) == Status::ok ? tokenizer->tokenizer.n_tokens() : 0;
}

void minnow_sampler_config_init(minnow_sampler_config* config, size_t struct_size) {
  minnow::init_config(config, struct_size, minnow::default_sampler_config());
}

size_t minnow_sampler_bytes(void) { return sizeof(minnow_sampler); }

minnow_status minnow_sampler_create(const minnow_sampler_config* config_or_null, void* memory, size_t memory_size,
                                    minnow_sampler** out) {
  minnow_sampler_config config = minnow::default_sampler_config();
  minnow_sampler handle;
  Status status =
      minnow::first_error(minnow::check_place(memory, memory_size, out), minnow::read_config(config_or_null, &config));
  if (status == Status::ok) {
    status = minnow::Sampler::create({config.temperature, config.top_k, config.top_p, config.min_p, config.seed},
                                     &handle.sampler);
  }
  return c_status(status != Status::ok ? status : minnow::place(handle, memory, memory_size, out));
}

minnow_status minnow_sampler_pick(minnow_sampler* sampler, const float* logits, size_t count, minnow_token* out) {
  const Status callable = minnow::first_error(minnow::check_handle(sampler), minnow::check_pointer(out));
  return c_status(callable != Status::ok ? callable : sampler->sampler.pick({logits, count}, out));
}

minnow_status minnow_sampler_copy(const minnow_sampler* sampler, void* memory, size_t memory_size,
                                  minnow_sampler** out) {
  const Status callable = minnow::check_handle(sampler);
  return c_status(callable != Status::ok ? callable : minnow::place(*sampler, memory, memory_size, out));
}
