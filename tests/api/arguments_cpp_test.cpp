// What the C++ functions say to every wrong argument: null and misaligned spans, impossible sizes, values out of range,
// handles that were never made or were moved from. Nothing may change.
#include <functional>
#include <utility>

#include "tests/api/arguments.hpp"

using namespace minnow;
using namespace minnow::test;

namespace {

// Handles in C++ over the bytes of a world, and some that were never made.
struct Handles {
  World w;
  Model model = open_model(w.file);
  Model no_model;
  Session session;
  Session no_session;
  Tokenizer tokenizer;
  Tokenizer no_tokenizer;
  Sampler sampler;
  Token token = 1;

  Handles() {
    REQUIRE(Session::create(model, {}, w.session_memory.span(), &session) == Status::ok);
    REQUIRE(Tokenizer::open(model, &tokenizer) == Status::ok);
    REQUIRE(Sampler::create({}, &sampler) == Status::ok);
  }

  // The call fails so and changes nothing: of the world's bytes, of the handles' own, of the session's.
  void fails(const char* what, Status expected, const std::function<Status()>& call,
             std::initializer_list<Exempt> exempt = {}) {
    CAPTURE(std::string(what));
    const std::vector<unsigned char> before = w.bytes();
    const auto own = [&] {
      return std::tuple(model.file().data(), session.position(), session.logits().data(), sampler_bytes());
    };
    const auto mine = own();
    const Status status = call();
    CHECK(status == expected);
    CHECK(w.same(before, exempt));
    CHECK(own() == mine);
    CHECK(no_model.file().data() == nullptr);
    CHECK(no_session.context() == 0);
    CHECK(no_tokenizer.n_tokens() == 0);
  }
  std::string sampler_bytes() const { return {reinterpret_cast<const char*>(&sampler), sizeof sampler}; }
};

template <class T>
Span<T> off_by_one(T* data, std::size_t size) {
  return {reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(data) + 1), size};
}

template <class T>
Span<T> none(std::size_t size) {
  return {static_cast<T*>(nullptr), size};
}

}  // namespace

TEST_CASE("arguments of C++: models") {
  Handles h;
  const Span<const std::byte> file = h.w.file.view();
  const auto open = [&](Span<const std::byte> bytes, Model* out) { return [=] { return Model::open(bytes, out); }; };
  h.fails("no out", Status::bad_argument, open(file, nullptr));
  h.fails("null", Status::bad_argument, open(none<const std::byte>(100), &h.model));
  h.fails("too large", Status::bad_argument, open({file.data(), SIZE_MAX}, &h.model));
  h.fails("empty", Status::not_a_model, open({}, &h.model));
  h.fails("misaligned", Status::misaligned, open(off_by_one(file.data(), file.size() - 1), &h.model));
  h.fails("short", Status::corrupt, open(file.first(file.size() - 1), &h.model));
  h.fails("never opened", Status::wrong_state, [&] { return h.no_model.verify(); });
  CHECK(h.no_model.info().n_layer == 0);
  CHECK(h.no_model.file().empty());
}

TEST_CASE("arguments of C++: making sessions") {
  Handles h;
  std::size_t bytes = 0;
  const SessionConfig config;
  h.fails("no figure", Status::bad_argument, [&] { return Session::memory_needed(h.model, config, nullptr); });
  h.fails("no model", Status::wrong_state, [&] { return Session::memory_needed(h.no_model, config, &bytes); });
  const auto create = [&](const Model& model, Span<std::byte> memory, Session* out) {
    return [&model, memory, out] { return Session::create(model, {}, memory, out); };
  };
  const Span<std::byte> spare = h.w.spare.span();
  h.fails("no out", Status::bad_argument, create(h.model, spare, nullptr));
  h.fails("no model", Status::wrong_state, create(h.no_model, spare, &h.session));
  h.fails("no memory", Status::memory_too_small, create(h.model, {}, &h.session));
  h.fails("null memory", Status::memory_too_small, create(h.model, none<std::byte>(1 << 30), &h.session));
  h.fails("small", Status::memory_too_small, create(h.model, spare.first(h.w.session_bytes - 1), &h.session));
  h.fails("misaligned", Status::misaligned, create(h.model, off_by_one(spare.data(), spare.size()), &h.session));
  const auto with = [&](auto change) {
    SessionConfig wrong;
    change(wrong);
    return [&h, &spare, wrong] { return Session::create(h.model, wrong, spare, &h.session); };
  };
  h.fails("context", Status::bad_argument, with([](SessionConfig& c) { c.context = 17; }));
  h.fails("batch", Status::bad_argument, with([](SessionConfig& c) { c.batch = kMaxBatch + 1; }));
  h.fails("kv", Status::bad_argument, with([](SessionConfig& c) { c.kv = static_cast<KvType>(4); }));
  h.fails("when_full", Status::bad_argument, with([](SessionConfig& c) { c.when_full = static_cast<WhenFull>(4); }));
  h.fails("isa", Status::bad_argument, with([](SessionConfig& c) { c.isa = static_cast<Isa>(7); }));
  for (const std::uint32_t width : {0u, kMaxWorkers + 1, UINT32_MAX}) {
    const auto run = [](void*, std::uint32_t, Job, void*) {};
    h.fails("width", Status::bad_argument, with([&](SessionConfig& c) { c.executor = {run, nullptr, width}; }));
  }
}

TEST_CASE("arguments of C++: feeding and rewinding") {
  Handles h;
  Session& s = h.session;
  float* const rows = h.w.out.rows;
  const Token tokens[] = {1, 2, 3};
  const Token wrong[] = {1, 2, 11};
  const auto feed = [&](Session& session, Span<const Token> t) { return [&session, t] { return session.feed(t); }; };
  const auto keep = [&](Session& session, Span<const Token> t, Span<float> out) {
    return [&session, t, out] { return session.feed(t, out); };
  };
  for (int round = 0; round < 2; ++round) {  // before and after the first tokens
    h.fails("never made", Status::wrong_state, feed(h.no_session, {tokens, 3}));
    h.fails("never made", Status::wrong_state, keep(h.no_session, {tokens, 3}, {rows, 33}));
    h.fails("never made", Status::wrong_state, [&] { return h.no_session.rewind(0); });
    h.fails("null", Status::bad_argument, feed(s, none<const Token>(1)));
    h.fails("too large", Status::bad_argument, feed(s, {tokens, SIZE_MAX}));
    h.fails("misaligned", Status::misaligned, feed(s, off_by_one(tokens, 2)));
    h.fails("unknown id", Status::bad_argument, feed(s, {wrong, 3}));
    h.fails("null", Status::bad_argument, keep(s, none<const Token>(1), {rows, 33}));
    h.fails("misaligned", Status::misaligned, keep(s, off_by_one(tokens, 2), {rows, 33}));
    h.fails("no room", Status::output_too_small, keep(s, {tokens, 3}, {}));
    h.fails("no room", Status::output_too_small, keep(s, {tokens, 3}, {rows, 32}));
    h.fails("null room", Status::bad_argument, keep(s, {tokens, 3}, none<float>(33)));
    h.fails("misaligned room", Status::misaligned, keep(s, {tokens, 3}, off_by_one(rows, 33)));
    h.fails("too many", Status::bad_argument, [&] { return s.rewind(s.position() + 1); });
    h.fails("too many", Status::bad_argument, [&] { return s.rewind(UINT32_MAX); });
    REQUIRE(s.feed({tokens, 3}) == Status::ok);
  }
  h.no_session.reset();
  CHECK(h.no_session.logits().empty());
  CHECK(h.no_session.isa() == Isa::best);
  CHECK(h.no_session.kv() == KvType::automatic);
  CHECK(h.no_session.model().n_layer == 0);
}

TEST_CASE("arguments of C++: text") {
  Handles h;
  EncodeResult result = {99, 99};
  Token* const ids = h.w.out.tokens;
  const auto encode = [&](const Tokenizer& tokenizer, std::string_view text, Span<Token> out, EncodeResult* to) {
    return [&tokenizer, text, out, to] { return tokenizer.encode(text, out, to); };
  };
  h.fails("no out", Status::bad_argument, [&] { return Tokenizer::open(h.model, nullptr); });
  h.fails("no model", Status::wrong_state, [&] { return Tokenizer::open(h.no_model, &h.tokenizer); });
  h.fails("never opened", Status::wrong_state, encode(h.no_tokenizer, "abc", {ids, 16}, &result));
  h.fails("no result", Status::bad_argument, encode(h.tokenizer, "abc", {ids, 16}, nullptr));
  h.fails("null text", Status::bad_argument, encode(h.tokenizer, {nullptr, 3}, {ids, 16}, &result));
  h.fails("too large", Status::bad_argument, encode(h.tokenizer, {"abc", SIZE_MAX}, {ids, 16}, &result));
  h.fails("null room", Status::bad_argument, encode(h.tokenizer, "abc", none<Token>(16), &result));
  h.fails("misaligned room", Status::misaligned, encode(h.tokenizer, "abc", off_by_one(ids, 15), &result));
  CHECK(result.tokens == 99);
  CHECK(result.bytes == 99);
  CHECK(h.no_tokenizer.cut("abc") == 0);
  CHECK(h.tokenizer.cut({nullptr, 3}) == 0);
  CHECK(h.tokenizer.cut({"abc", SIZE_MAX}) == 0);
  for (const Token none : {-1, 9, 11, INT32_MIN, INT32_MAX}) {
    CHECK(h.tokenizer.piece(none).empty());
    CHECK(h.tokenizer.piece(none, none).empty());
    CHECK(h.no_tokenizer.piece(none).empty());
  }
  CHECK(h.no_tokenizer.piece(0).empty());
  CHECK(h.no_tokenizer.begin_token() == -1);
}

TEST_CASE("arguments of C++: sampling and generating") {
  Handles h;
  const float* const logits = h.w.out.rows;
  const auto pick = [&](Span<const float> from, Token* out) {
    return [&, from, out] { return h.sampler.pick(from, out); };
  };
  h.fails("no out", Status::bad_argument, [&] { return Sampler::create({}, nullptr); });
  h.fails("temperature", Status::bad_argument, [&] { return Sampler::create({-1.0f, 0, 1, 0, 1}, &h.sampler); });
  h.fails("no out", Status::bad_argument, pick({logits, 3}, nullptr));
  h.fails("none", Status::bad_argument, pick({}, &h.token));
  h.fails("null", Status::bad_argument, pick(none<const float>(3), &h.token));
  h.fails("misaligned", Status::misaligned, pick(off_by_one(logits, 3), &h.token));
  h.fails("too large", Status::bad_argument, pick({logits, SIZE_MAX}, &h.token));
  CHECK(h.token == 1);

  const Token prompt[] = {1, 2};
  GenerateConfig config;
  config.max_tokens = 2;
  GenerateResult result = {77, false};
  const auto run = [&](Session& session, Span<const Token> tokens) {
    return [&, tokens] { return generate(session, &h.tokenizer, h.sampler, tokens, config, &result); };
  };
  h.fails("never made", Status::wrong_state, run(h.no_session, {prompt, 2}));
  h.fails("no prompt", Status::bad_argument, run(h.session, {}));
  h.fails("null", Status::bad_argument, run(h.session, none<const Token>(2)));
  h.fails("misaligned", Status::misaligned, run(h.session, off_by_one(prompt, 1)));
  h.fails("too large", Status::bad_argument, run(h.session, {prompt, SIZE_MAX}));
  config.stop = {nullptr, 3};
  h.fails("null stop", Status::bad_argument, run(h.session, {prompt, 2}));
  config.stop = "a";
  h.fails("no tokenizer", Status::bad_argument, [&] {
    return generate(h.session, nullptr, h.sampler, {prompt, 2}, config, &result);
  });
  h.fails("tokenizer never opened", Status::bad_argument, [&] {
    return generate(h.session, &h.no_tokenizer, h.sampler, {prompt, 2}, config, &result);
  });
  CHECK(result.tokens == 77);
}

TEST_CASE("arguments of C++: files and pools, and what was moved from") {
  Handles h;
  FileMap file;
  h.fails("no path", Status::bad_argument, [&] { return FileMap::open(nullptr, &file); });
  h.fails("no out", Status::bad_argument, [] { return FileMap::open("README.md", nullptr); });
  h.fails("no path", Status::bad_argument, [&] { return FileMap::read(nullptr, &file); });
  h.fails("no out", Status::bad_argument, [] { return FileMap::read("README.md", nullptr); });
  h.fails("no file", Status::io_error, [&] { return FileMap::open("no/such/file", &file); });
  REQUIRE(FileMap::open("README.md", &file) == Status::ok);
  const std::byte* const bytes = file.bytes().data();
  h.fails("no file", Status::io_error, [&] { return FileMap::read("no/such/file", &file); });
  CHECK(file.bytes().data() == bytes);  // untouched
  FileMap other(std::move(file));
  CHECK(other.bytes().data() == bytes);
  CHECK(file.bytes().empty());
  file = std::move(other);
  CHECK(other.bytes().empty());

  ThreadPool pool;
  for (const std::uint32_t width : {0u, kMaxWorkers + 1, UINT32_MAX}) {
    h.fails("width", Status::bad_argument, [&] { return ThreadPool::create(width, &pool); });
  }
  h.fails("no out", Status::bad_argument, [] { return ThreadPool::create(2, nullptr); });
  REQUIRE(ThreadPool::create(2, &pool) == Status::ok);
  ThreadPool owner(std::move(pool));
  SessionConfig config;
  config.executor = pool.executor();  // moved from: the calling thread alone
  CHECK(config.executor.width == 1);
  Session session;
  REQUIRE(Session::create(h.model, config, h.w.spare.span(), &session) == Status::ok);
  CHECK(session.feed({&h.token, 1}) == Status::ok);
}
