// minnow.h in terms of minnow.hpp; tokenizers and samplers are in c_text.cpp.
#include <type_traits>

#include "api/c_handles.hpp"
#include "base/check.hpp"
#include "session/state.hpp"

namespace minnow {
namespace {

template <class Enum>
constexpr bool agrees(Enum cpp, int c) {
  return static_cast<int>(cpp) == c;
}
static_assert(agrees(Status::ok, MINNOW_OK) && agrees(Status::bad_argument, MINNOW_BAD_ARGUMENT) &&
              agrees(Status::memory_too_small, MINNOW_MEMORY_TOO_SMALL) &&
              agrees(Status::misaligned, MINNOW_MISALIGNED) && agrees(Status::context_full, MINNOW_CONTEXT_FULL) &&
              agrees(Status::output_too_small, MINNOW_OUTPUT_TOO_SMALL) &&
              agrees(Status::cancelled, MINNOW_CANCELLED) && agrees(Status::wrong_state, MINNOW_WRONG_STATE) &&
              agrees(Status::io_error, MINNOW_IO_ERROR) && agrees(Status::not_a_model, MINNOW_NOT_A_MODEL) &&
              agrees(Status::unsupported, MINNOW_UNSUPPORTED) && agrees(Status::corrupt, MINNOW_CORRUPT) &&
              agrees(Status::numeric, MINNOW_NUMERIC));
static_assert(agrees(WeightType::f32, MINNOW_WEIGHT_F32) && agrees(WeightType::f16, MINNOW_WEIGHT_F16) &&
              agrees(WeightType::q8, MINNOW_WEIGHT_Q8) && agrees(WeightType::q4, MINNOW_WEIGHT_Q4));
static_assert(agrees(KvType::automatic, MINNOW_KV_AUTOMATIC) && agrees(KvType::f32, MINNOW_KV_F32) &&
              agrees(KvType::f16, MINNOW_KV_F16) && agrees(KvType::q8, MINNOW_KV_Q8));
static_assert(agrees(Isa::best, MINNOW_ISA_BEST) && agrees(Isa::reference, MINNOW_ISA_REFERENCE) &&
              agrees(Isa::avx2, MINNOW_ISA_AVX2) && agrees(Isa::vnni, MINNOW_ISA_VNNI) &&
              agrees(Isa::neon, MINNOW_ISA_NEON) && agrees(Isa::dotprod, MINNOW_ISA_DOTPROD) &&
              agrees(Isa::armv7, MINNOW_ISA_ARMV7));
static_assert(agrees(WhenFull::half, MINNOW_WHEN_FULL_HALF) && agrees(WhenFull::slide, MINNOW_WHEN_FULL_SLIDE) &&
              agrees(WhenFull::ring, MINNOW_WHEN_FULL_RING) && agrees(WhenFull::stop, MINNOW_WHEN_FULL_STOP));
static_assert(std::is_same_v<Token, minnow_token> && std::is_same_v<Job, minnow_job>);
static_assert(MINNOW_ALIGN == kAlign && MINNOW_DEFAULT_BATCH == kDefaultBatch && MINNOW_MAX_BATCH == kMaxBatch &&
              MINNOW_MAX_WORKERS == kMaxWorkers && MINNOW_ISA_COUNT == kIsaCount);
static_assert(sizeof(minnow_model) <= MINNOW_HANDLE_BYTES && sizeof(minnow_tokenizer) <= MINNOW_HANDLE_BYTES &&
              sizeof(minnow_sampler) <= MINNOW_HANDLE_BYTES);

// A minnow_session* is a pointer to the Session at the front of the block, under another name.
Session& unwrap(minnow_session* session) noexcept { return *reinterpret_cast<Session*>(session); }
const Session& unwrap(const minnow_session* session) noexcept { return *reinterpret_cast<const Session*>(session); }

// A session points to itself: neither zeros nor a block that was moved do.
Status check_session(const minnow_session* session) noexcept {
  if (session == nullptr) return Status::bad_argument;
  if (!is_aligned(session, kAlign)) return Status::misaligned;
  return SessionAccess::is_at(unwrap(session), session) ? Status::ok : Status::wrong_state;
}
bool is_session(const minnow_session* session) noexcept { return check_session(session) == Status::ok; }

minnow_session_config default_session_config() noexcept {
  minnow_session_config config = {};
  config.executor_width = 1;
  return config;
}

minnow_generate_config default_generate_config() noexcept {
  minnow_generate_config config = {};
  config.max_tokens = GenerateConfig().max_tokens;
  config.stop_token = GenerateConfig().stop_token;
  return config;
}

Status read_session_config(const minnow_session_config* given_or_null, SessionConfig* out) noexcept {
  minnow_session_config config = default_session_config();
  MINNOW_TRY(read_config(given_or_null, &config));
  out->context = config.context;
  out->batch = config.batch;
  out->kv = static_cast<KvType>(config.kv);
  out->when_full = static_cast<WhenFull>(config.when_full);
  out->isa = static_cast<Isa>(config.isa);
  out->executor.run = config.executor_run_or_null;
  out->executor.self = config.executor_self;
  out->executor.width = config.executor_width;
  return Status::ok;
}

void write_fault(const Fault& fault, Status status, minnow_fault* out_or_null) noexcept {
  if (status == Status::ok || out_or_null == nullptr) return;
  out_or_null->what = fault.what;
  out_or_null->offset = fault.offset;
  out_or_null->found = fault.found;
}

Status check_info(const minnow_model_info* info) noexcept { return check_struct(info, sizeof info->struct_size); }

// Writes as much as the caller's struct has room for.
void write_info(const ModelInfo& from, minnow_model_info* info) noexcept {
  minnow_model_info to = {};
  to.n_layer = from.n_layer;
  to.n_head = from.n_head;
  to.n_kv_head = from.n_kv_head;
  to.n_embd = from.n_embd;
  to.head_size = from.head_size;
  to.n_hidden = from.n_hidden;
  to.block_size = from.block_size;
  to.vocab_size = from.vocab_size;
  to.n_tokens = from.n_tokens;
  to.type = static_cast<minnow_weight_type>(from.type);
  to.has_text = from.has_text ? 1 : 0;
  to.n_parameters = from.n_parameters;
  to.file_bytes = from.file_bytes;
  to.provenance = from.provenance.data();
  to.provenance_size = from.provenance.size();
  init_config(info, info->struct_size, to);
}

// The caller's sinks behind the C++ ones; `user` is the caller's config.
bool pass_text(void* user, std::string_view text) {
  const auto& config = *static_cast<const minnow_generate_config*>(user);
  return config.on_text_or_null(config.user, text.data(), text.size());
}

bool pass_prompt(void* user, std::size_t done, std::size_t total) {
  const auto& config = *static_cast<const minnow_generate_config*>(user);
  return config.on_prompt_or_null(config.user, done, total);
}

bool pass_token(void* user, Token token) {
  const auto& config = *static_cast<const minnow_generate_config*>(user);
  return config.on_token_or_null(config.user, token);
}

}  // namespace
}  // namespace minnow

using minnow::c_status;
using minnow::Status;

const char* minnow_version(void) { return minnow::version(); }

const char* minnow_status_text(minnow_status status) { return minnow::to_string(static_cast<Status>(status)); }

size_t minnow_available_isas(minnow_isa* out, size_t room) {
  minnow::Isa isas[minnow::kIsaCount];
  const std::size_t count = minnow::available_isas({isas, minnow::kIsaCount});
  std::size_t written = 0;
  if (minnow::check_pointer(out) != Status::ok) return 0;
  for (; written < count && written < room; ++written) out[written] = static_cast<minnow_isa>(isas[written]);
  return written;
}

const char* minnow_isa_text(minnow_isa isa) { return minnow::to_string(static_cast<minnow::Isa>(isa)); }

const char* minnow_weight_type_text(minnow_weight_type type) {
  return minnow::to_string(static_cast<minnow::WeightType>(type));
}

const char* minnow_kv_type_text(minnow_kv_type kv) { return minnow::to_string(static_cast<minnow::KvType>(kv)); }

const char* minnow_when_full_text(minnow_when_full when) {
  return minnow::to_string(static_cast<minnow::WhenFull>(when));
}

size_t minnow_model_bytes(void) { return sizeof(minnow_model); }

minnow_status minnow_model_open(const void* file, size_t file_size, void* memory, size_t memory_size,
                                minnow_model** out, minnow_fault* fault_or_null) {
  const auto* const bytes = static_cast<const std::byte*>(file);
  const Status callable =
      minnow::first_error(minnow::check_input(bytes, file_size), minnow::check_place(memory, memory_size, out),
                          minnow::check_optional(fault_or_null));
  if (callable != Status::ok) return c_status(callable);
  minnow_model handle;
  minnow::Fault fault;
  const Status status = minnow::Model::open({bytes, file_size}, &handle.model, &fault);
  minnow::write_fault(fault, status, fault_or_null);
  return c_status(status != Status::ok ? status : minnow::place(handle, memory, memory_size, out));
}

minnow_status minnow_model_verify(const minnow_model* model, minnow_fault* fault_or_null) {
  const Status callable = minnow::first_error(minnow::check_handle(model), minnow::check_optional(fault_or_null));
  if (callable != Status::ok) return c_status(callable);
  minnow::Fault fault;
  const Status status = model->model.verify(&fault);
  minnow::write_fault(fault, status, fault_or_null);
  return c_status(status);
}

minnow_status minnow_model_get_info(const minnow_model* model, minnow_model_info* info) {
  const Status callable = minnow::first_error(minnow::check_handle(model), minnow::check_info(info));
  if (callable == Status::ok) minnow::write_info(model->model.info(), info);
  return c_status(callable);
}

minnow_status minnow_model_file(const minnow_model* model, const void** file, size_t* file_size) {
  const Status callable =
      minnow::first_error(minnow::check_handle(model), minnow::check_pointer(file), minnow::check_pointer(file_size));
  if (callable != Status::ok) return c_status(callable);
  *file = model->model.file().data();
  *file_size = model->model.file().size();
  return MINNOW_OK;
}

void minnow_session_config_init(minnow_session_config* config, size_t struct_size) {
  minnow::init_config(config, struct_size, minnow::default_session_config());
}

minnow_status minnow_session_memory_needed(const minnow_model* model, const minnow_session_config* config_or_null,
                                           size_t* bytes) {
  Status status = minnow::first_error(minnow::check_handle(model), minnow::check_pointer(bytes));
  minnow::SessionConfig config;
  if (status == Status::ok) status = minnow::read_session_config(config_or_null, &config);
  if (status == Status::ok) status = minnow::Session::memory_needed(model->model, config, bytes);
  return c_status(status);
}

minnow_status minnow_session_create(const minnow_model* model, const minnow_session_config* config_or_null,
                                    void* memory, size_t memory_size, minnow_session** out, size_t* needed_or_null) {
  const minnow::Span<std::byte> block(static_cast<std::byte*>(memory), memory_size);
  Status status = minnow::first_error(minnow::check_handle(model), minnow::check_room(block.data(), memory_size),
                                      minnow::check_pointer(out), minnow::check_optional(needed_or_null));
  minnow::SessionConfig config;
  minnow::Session session;
  if (status == Status::ok) status = minnow::read_session_config(config_or_null, &config);
  if (status == Status::ok) status = minnow::Session::create(model->model, config, block, &session, needed_or_null);
  if (status == Status::ok) *out = reinterpret_cast<minnow_session*>(minnow::SessionAccess::self(session));
  return c_status(status);
}

minnow_status minnow_session_feed(minnow_session* session, const minnow_token* tokens, size_t count) {
  const Status callable = minnow::check_session(session);
  return c_status(callable != Status::ok ? callable : minnow::unwrap(session).feed({tokens, count}));
}

minnow_status minnow_session_feed_all(minnow_session* session, const minnow_token* tokens, size_t count, float* logits,
                                      size_t room) {
  const Status callable = minnow::first_error(minnow::check_session(session), minnow::check_room(logits, room));
  return c_status(callable != Status::ok ? callable : minnow::unwrap(session).feed({tokens, count}, {logits, room}));
}

minnow_status minnow_session_logits(const minnow_session* session, const float** logits, size_t* count) {
  const Status callable =
      minnow::first_error(minnow::check_session(session), minnow::check_pointer(logits), minnow::check_pointer(count));
  if (callable != Status::ok) return c_status(callable);
  const minnow::Span<const float> span = minnow::unwrap(session).logits();
  *logits = span.data();
  *count = span.size();
  return MINNOW_OK;
}

uint32_t minnow_session_position(const minnow_session* session) {
  return minnow::is_session(session) ? minnow::unwrap(session).position() : 0;
}

uint32_t minnow_session_context(const minnow_session* session) {
  return minnow::is_session(session) ? minnow::unwrap(session).context() : 0;
}

minnow_isa minnow_session_isa(const minnow_session* session) {
  return minnow::is_session(session) ? static_cast<minnow_isa>(minnow::unwrap(session).isa()) : 0;
}

minnow_kv_type minnow_session_kv(const minnow_session* session) {
  return minnow::is_session(session) ? static_cast<minnow_kv_type>(minnow::unwrap(session).kv()) : 0;
}

minnow_status minnow_session_get_model_info(const minnow_session* session, minnow_model_info* info) {
  const Status callable = minnow::first_error(minnow::check_session(session), minnow::check_info(info));
  if (callable == Status::ok) minnow::write_info(minnow::unwrap(session).model(), info);
  return c_status(callable);
}

minnow_status minnow_session_rewind(minnow_session* session, uint32_t tokens) {
  const Status callable = minnow::check_session(session);
  return c_status(callable != Status::ok ? callable : minnow::unwrap(session).rewind(tokens));
}

void minnow_session_reset(minnow_session* session) {
  if (minnow::is_session(session)) minnow::unwrap(session).reset();
}

void minnow_generate_config_init(minnow_generate_config* config, size_t struct_size) {
  minnow::init_config(config, struct_size, minnow::default_generate_config());
}

minnow_status minnow_generate(minnow_session* session, const minnow_tokenizer* tokenizer_or_null,
                              minnow_sampler* sampler, const minnow_token* prompt, size_t prompt_size,
                              const minnow_generate_config* config_or_null, minnow_generate_result* result_or_null) {
  minnow_generate_config given = minnow::default_generate_config();
  const Status callable =
      minnow::first_error(minnow::check_session(session),
                          tokenizer_or_null == nullptr ? Status::ok : minnow::check_handle(tokenizer_or_null),
                          minnow::check_handle(sampler), minnow::check_optional(result_or_null),
                          minnow::read_config(config_or_null, &given));
  if (callable != Status::ok) return c_status(callable);
  if (given.reserved != 0 || given.reserved2 != 0) return MINNOW_UNSUPPORTED;

  minnow::GenerateConfig config;
  config.max_tokens = given.max_tokens;
  config.stop = {given.stop_or_null, given.stop_size};
  config.stop_token = given.stop_token;
  config.on_text = given.on_text_or_null != nullptr ? minnow::pass_text : nullptr;
  config.on_token = given.on_token_or_null != nullptr ? minnow::pass_token : nullptr;
  config.on_prompt = given.on_prompt_or_null != nullptr ? minnow::pass_prompt : nullptr;
  config.user = &given;
  minnow::GenerateResult result;
  const Status status =
      minnow::generate(minnow::unwrap(session), tokenizer_or_null != nullptr ? &tokenizer_or_null->tokenizer : nullptr,
                       sampler->sampler, {prompt, prompt_size}, config, &result);
  const bool written = status == Status::ok || status == Status::cancelled || status == Status::context_full ||
                       status == Status::numeric;
  if (written && result_or_null != nullptr) *result_or_null = {result.tokens, result.stopped ? 1u : 0u};
  return c_status(status);
}
