// Values and layouts of the C++ headers, as abi_test.c pins those of the C headers, and that neither list has gaps.
#include <doctest/doctest.h>

#include <type_traits>

#include "minnow/hosted.hpp"
#include "minnow/minnow.h"
#include "tests/api/headers.hpp"

extern "C" int minnow_abi_functions(void);

namespace minnow {
namespace {

template <class Enum>
constexpr bool is(Enum value, int number) {
  return static_cast<int>(value) == number;
}

static_assert(std::is_same_v<std::underlying_type_t<Status>, std::int32_t>);
static_assert(is(Status::ok, 0) && is(Status::bad_argument, 1) && is(Status::memory_too_small, 2));
static_assert(is(Status::misaligned, 3) && is(Status::context_full, 4) && is(Status::output_too_small, 5));
static_assert(is(Status::cancelled, 6) && is(Status::wrong_state, 7) && is(Status::io_error, 10));
static_assert(is(Status::not_a_model, 20) && is(Status::unsupported, 21) && is(Status::corrupt, 22));
static_assert(is(Status::numeric, 30));
static_assert(std::is_same_v<std::underlying_type_t<WeightType>, std::uint32_t>);
static_assert(is(WeightType::f32, 0) && is(WeightType::f16, 1) && is(WeightType::q8, 2) && is(WeightType::q4, 3));
static_assert(std::is_same_v<std::underlying_type_t<KvType>, std::uint32_t>);
static_assert(is(KvType::automatic, 0) && is(KvType::f32, 1) && is(KvType::f16, 2) && is(KvType::q8, 3));
static_assert(std::is_same_v<std::underlying_type_t<Isa>, std::uint32_t>);
static_assert(is(Isa::best, 0) && is(Isa::reference, 1) && is(Isa::avx2, 2) && is(Isa::vnni, 3));
static_assert(is(Isa::neon, 4) && is(Isa::dotprod, 5) && is(Isa::armv7, 6));
static_assert(std::is_same_v<std::underlying_type_t<WhenFull>, std::uint32_t>);
static_assert(is(WhenFull::half, 0) && is(WhenFull::slide, 1) && is(WhenFull::ring, 2) && is(WhenFull::stop, 3));
static_assert(kAlign == 64 && kDefaultBatch == 32 && kMaxBatch == 1024 && kMaxWorkers == 256 && kIsaCount == 6);

// Sizes and offsets in pointers (p) and bytes, where 8-byte integers are aligned to 8.
struct Wide {
  char narrow;
  std::uint64_t wide;
};
constexpr std::size_t p = sizeof(void*);
constexpr bool usual = offsetof(Wide, wide) == 8;
#define LAYOUT(condition) static_assert(!usual || (condition))
LAYOUT(sizeof(Span<int>) == 2 * p);
LAYOUT(sizeof(Model) == 2 * p && sizeof(Session) == p && sizeof(Tokenizer) == 2 * p + 96 && sizeof(Sampler) == 32);
LAYOUT(sizeof(FileMap) == 2 * p && sizeof(ThreadPool) == p);
LAYOUT(sizeof(Fault) == 24 && offsetof(Fault, what) == 0 && offsetof(Fault, offset) == 8);
LAYOUT(offsetof(Fault, found) == 16);
LAYOUT(offsetof(ModelInfo, n_layer) == 0 && offsetof(ModelInfo, n_head) == 4 && offsetof(ModelInfo, n_kv_head) == 8);
LAYOUT(offsetof(ModelInfo, n_embd) == 12 && offsetof(ModelInfo, head_size) == 16 &&
       offsetof(ModelInfo, n_hidden) == 20);
LAYOUT(offsetof(ModelInfo, block_size) == 24 && offsetof(ModelInfo, vocab_size) == 28);
LAYOUT(offsetof(ModelInfo, n_tokens) == 32 && offsetof(ModelInfo, type) == 36 && offsetof(ModelInfo, has_text) == 40);
LAYOUT(offsetof(ModelInfo, n_parameters) == 48 && offsetof(ModelInfo, file_bytes) == 56);
LAYOUT(offsetof(ModelInfo, provenance) == 64 && sizeof(ModelInfo) == 64 + 2 * p);
LAYOUT(sizeof(Executor) == 3 * p && offsetof(Executor, self) == p && offsetof(Executor, width) == 2 * p);
LAYOUT(offsetof(SessionConfig, context) == 0 && offsetof(SessionConfig, batch) == 4 &&
       offsetof(SessionConfig, kv) == 8);
LAYOUT(offsetof(SessionConfig, when_full) == 12 && offsetof(SessionConfig, isa) == 16);
LAYOUT(offsetof(SessionConfig, executor) == (p == 8 ? 24 : 20) && sizeof(SessionConfig) == (p == 8 ? 48 : 32));
LAYOUT(sizeof(EncodeConfig) == 2 && offsetof(EncodeConfig, special) == 0 && offsetof(EncodeConfig, begin) == 1);
LAYOUT(sizeof(EncodeResult) == 2 * p && offsetof(EncodeResult, tokens) == 0 && offsetof(EncodeResult, bytes) == p);
LAYOUT(sizeof(SamplerConfig) == 24 && offsetof(SamplerConfig, temperature) == 0 && offsetof(SamplerConfig, top_k) == 4);
LAYOUT(offsetof(SamplerConfig, top_p) == 8 && offsetof(SamplerConfig, min_p) == 12);
LAYOUT(offsetof(SamplerConfig, seed) == 16);
LAYOUT(offsetof(GenerateConfig, max_tokens) == 0 && offsetof(GenerateConfig, stop) == p);
LAYOUT(offsetof(GenerateConfig, stop_token) == 3 * p && offsetof(GenerateConfig, on_text) == 4 * p);
LAYOUT(offsetof(GenerateConfig, on_token) == 5 * p && offsetof(GenerateConfig, on_prompt) == 6 * p);
LAYOUT(offsetof(GenerateConfig, user) == 7 * p && sizeof(GenerateConfig) == 8 * p);
LAYOUT(sizeof(GenerateResult) == 8 && offsetof(GenerateResult, tokens) == 0 && offsetof(GenerateResult, stopped) == 4);

// Handles are values: copied by copying their bytes.
static_assert(std::is_trivially_copyable_v<Model> && std::is_trivially_copyable_v<Session>);
static_assert(std::is_trivially_copyable_v<Tokenizer> && std::is_trivially_copyable_v<Sampler>);
static_assert(std::is_nothrow_move_constructible_v<FileMap> && !std::is_copy_constructible_v<FileMap>);
static_assert(std::is_nothrow_move_constructible_v<ThreadPool> && !std::is_copy_constructible_v<ThreadPool>);

template <class Type, class Function>
constexpr bool has_type(Function) {
  return std::is_same_v<Type, Function>;
}
using FeedAll = Status (Session::*)(Span<const Token>, Span<float>) noexcept;
using Feed = Status (Session::*)(Span<const Token>) noexcept;
static_assert(has_type<Status (*)(Span<const std::byte>, Model*, Fault*) noexcept>(&Model::open));
static_assert(has_type<Status (Model::*)(Fault*) const noexcept>(&Model::verify));
static_assert(has_type<ModelInfo (Model::*)() const noexcept>(&Model::info));
static_assert(has_type<Span<const std::byte> (Model::*)() const noexcept>(&Model::file));
static_assert(has_type<Status (*)(const Model&, const SessionConfig&, std::size_t*) noexcept>(&Session::memory_needed));
static_assert(has_type<Status (*)(const Model&, const SessionConfig&, Span<std::byte>, Session*,
                                  std::size_t*) noexcept>(&Session::create));
[[maybe_unused]] constexpr FeedAll kFeedAll = &Session::feed;
[[maybe_unused]] constexpr Feed kFeed = &Session::feed;
static_assert(has_type<Span<const float> (Session::*)() const noexcept>(&Session::logits));
static_assert(has_type<Status (Session::*)(std::uint32_t) noexcept>(&Session::rewind));
static_assert(has_type<void (Session::*)() noexcept>(&Session::reset));
static_assert(has_type<Status (*)(const Model&, Tokenizer*) noexcept>(&Tokenizer::open));
static_assert(
    has_type<std::size_t (Tokenizer::*)(std::string_view, const EncodeConfig&) const noexcept>(&Tokenizer::cut));
static_assert(has_type<Status (*)(const SamplerConfig&, Sampler*) noexcept>(&Sampler::create));
static_assert(has_type<Status (Sampler::*)(Span<const float>, Token*) noexcept>(&Sampler::pick));
static_assert(has_type<Status (*)(Session&, const Tokenizer*, Sampler&, Span<const Token>, const GenerateConfig&,
                                  GenerateResult*) noexcept>(&generate));

// Every number from first to last has a text of its own when `known`, and else one that begins with "unknown".
void check_texts(const char* (*text)(std::int32_t), std::int32_t first, std::int32_t last,
                 const std::set<std::int32_t>& known) {
  std::set<std::string> seen;
  for (std::int32_t i = first; i <= last; ++i) {
    CAPTURE(i);
    REQUIRE(text(i) != nullptr);
    const std::string told = text(i);
    CHECK(!told.empty());
    CHECK((told.rfind("unknown", 0) == 0) == (known.count(i) == 0));
    if (known.count(i) != 0) CHECK(seen.insert(told).second);
  }
}

}  // namespace

TEST_CASE("abi: every function and value of the C headers is pinned, and the library has it") {
  const std::string pins = test::text_of("tests/api/abi_test.c");
  const std::set<std::string> functions = test::public_c_functions();
  for (const std::string& name : functions) {
    CAPTURE(name);
    CHECK(pins.find(" " + name + ",") != std::string::npos);
  }
  CHECK(minnow_abi_functions() == static_cast<int>(functions.size()));
  CHECK(functions.size() >= 53);
  const std::set<std::string> values = test::words_before(test::public_c_headers(), "MINNOW_", '=');
  CHECK(values.size() >= 32);
  for (const std::string& name : values) {
    CAPTURE(name);
    CHECK(pins.find("VALUE(" + name + ", ") != std::string::npos);
  }
}

TEST_CASE("abi: every status and value has its text, and no other value has one") {
  check_texts(minnow_status_text, -3, 40, {0, 1, 2, 3, 4, 5, 6, 7, 10, 20, 21, 22, 30});
  check_texts([](std::int32_t i) { return minnow_isa_text(static_cast<minnow_isa>(i)); }, -2, 20,
              {0, 1, 2, 3, 4, 5, 6});
  check_texts([](std::int32_t i) { return minnow_weight_type_text(static_cast<minnow_weight_type>(i)); }, -2, 20,
              {0, 1, 2, 3});
  check_texts([](std::int32_t i) { return minnow_kv_type_text(static_cast<minnow_kv_type>(i)); }, -2, 20, {0, 1, 2, 3});
  check_texts([](std::int32_t i) { return minnow_when_full_text(static_cast<minnow_when_full>(i)); }, -2, 20,
              {0, 1, 2, 3});
  CHECK(std::string(to_string(static_cast<Status>(INT32_MIN))) == "unknown status");
  CHECK(std::string(to_string(static_cast<Status>(INT32_MAX))) == "unknown status");
}

}  // namespace minnow
