// One valid call of a C function, and what the function says to other values of each argument. Every byte that the
// function could have changed is compared after each call that fails.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "minnow/hosted.h"
#include "tests/session/rig.hpp"

namespace minnow::test {

// Bytes that a failing call may write all the same.
struct Exempt {
  const void* at = nullptr;
  std::size_t bytes = 0;
};

// What output parameters point to, filled with a pattern.
struct Outputs {
  minnow_model* model;
  minnow_session* session;
  minnow_tokenizer* tokenizer;
  minnow_sampler* sampler;
  minnow_file* file;
  minnow_pool* pool;
  const void* data;
  const char* bytes;
  const float* logits;
  std::size_t size;
  std::size_t used;
  int error;
  minnow_fault fault;
  minnow_model_info info;
  minnow_generate_result result;
  minnow_token token;
  minnow_token tokens[16];
  minnow_isa isas[8];
  float rows[64];
  alignas(64) std::uint64_t handle[MINNOW_HANDLE_BYTES / 8];
};

// A handle of each kind, and everything that functions can write to.
struct World {
  AlignedBytes file;
  alignas(64) std::uint64_t model_memory[MINNOW_HANDLE_BYTES / 8] = {};
  alignas(64) std::uint64_t tokenizer_memory[MINNOW_HANDLE_BYTES / 8] = {};
  alignas(64) std::uint64_t sampler_memory[MINNOW_HANDLE_BYTES / 8] = {};
  alignas(64) unsigned char zeros[256] = {};
  alignas(64) unsigned char garbage[256] = {};
  AlignedBytes session_memory;
  AlignedBytes spare;  // for another session, as large
  minnow_model* model = nullptr;
  minnow_session* session = nullptr;
  minnow_tokenizer* tokenizer = nullptr;
  minnow_sampler* sampler = nullptr;
  std::size_t session_bytes = 0;
  Outputs out;

  World();
  // A byte for each byte above that may be written.
  std::vector<unsigned char> bytes() const;
  // The same bytes but for `exempt`.
  bool same(const std::vector<unsigned char>& before, std::initializer_list<Exempt> exempt) const;

 private:
  std::vector<Exempt> regions() const;
};

template <class T>
struct Same {
  using type = T;
};

template <class Result, class... Arguments>
class Call {
 public:
  using R = std::conditional_t<std::is_void_v<Result>, int, Result>;  // of a function without a result: 0
  template <std::size_t i>
  using Argument = std::tuple_element_t<i, std::tuple<Arguments...>>;

  Call(World& world, const char* name, Result (*function)(Arguments...), typename Same<Arguments>::type... valid)
      : world_(world), name_(name), function_(function), valid_(valid...) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    for (std::size_t i = 0; i < sizeof...(Arguments); ++i) {
      CAPTURE(std::string(name_));
      CAPTURE(i);
      CHECK(tested_[i]);  // no argument was forgotten
    }
  }

  // Argument i is `value`: fails so, and nothing changes but `exempt`.
  template <std::size_t i>
  Call& bad(Argument<i> value, R expected, std::initializer_list<Exempt> exempt = {}) {
    tested_[i] = true;
    CAPTURE(std::string(name_));
    CAPTURE(i);
    const std::vector<unsigned char> before = world_.bytes();
    const R result = call_with<i>(value);
    CHECK(equal(result, expected));
    CHECK(world_.same(before, exempt));
    return *this;
  }

  // Argument i is `value`: another call that succeeds.
  template <std::size_t i>
  Call& good(Argument<i> value, R expected = R{}) {
    tested_[i] = true;
    CAPTURE(std::string(name_));
    CAPTURE(i);
    const R result = call_with<i>(value);
    CHECK(equal(result, expected));
    return *this;
  }

  // The valid call; what it must return.
  Call& valid(R expected = R{}) {
    CAPTURE(std::string(name_));
    const R result = apply(valid_);
    CHECK(equal(result, expected));
    return *this;
  }

  // Argument i is a pointer to one thing.
  template <std::size_t i>
  Call& pointer(R null = MINNOW_BAD_ARGUMENT, R misaligned = MINNOW_MISALIGNED) {
    bad<i>(nullptr, null);
    return off_by_one<i>(misaligned);
  }

  // The same, or null.
  template <std::size_t i>
  Call& optional(R misaligned = MINNOW_MISALIGNED) {
    good<i>(nullptr);
    return off_by_one<i>(misaligned);
  }

  // Argument i is a handle; what is returned of none.
  template <std::size_t i>
  Call& handle(R null = MINNOW_BAD_ARGUMENT, R misaligned = MINNOW_MISALIGNED, R none = MINNOW_WRONG_STATE) {
    pointer<i>(null, misaligned);
    const void* const others[] = {world_.zeros,     world_.garbage, world_.model,
                                  world_.tokenizer, world_.sampler, world_.session};
    for (const void* other : others) {
      if (other != std::get<i>(valid_)) bad<i>(static_cast<Argument<i>>(const_cast<void*>(other)), none);
    }
    return *this;
  }
  template <std::size_t i>
  Call& handle_or(R none) {
    return handle<i>(none, none, none);
  }

  // Argument i points to what argument i + 1 counts, to be read.
  template <std::size_t i>
  Call& input() {
    bad<i>(nullptr, MINNOW_BAD_ARGUMENT);
    off_by_one<i>(MINNOW_MISALIGNED);
    for (const std::size_t count : {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX / 2 + 1}) bad<i + 1>(count, MINNOW_BAD_ARGUMENT);
    return *this;
  }

  // Argument i is memory for a handle, argument i + 1 its size, of which `needed` is enough.
  template <std::size_t i>
  Call& memory(std::size_t needed, std::initializer_list<Exempt> exempt = {}) {
    bad<i>(nullptr, MINNOW_BAD_ARGUMENT);
    bad<i>(static_cast<char*>(std::get<i>(valid_)) + 1, MINNOW_MISALIGNED);
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, needed - 1}) {
      bad<i + 1>(size, MINNOW_MEMORY_TOO_SMALL, exempt);
    }
    good<i + 1>(needed);
    return good<i + 1>(SIZE_MAX);
  }

  // Argument i is a struct that carries its size, or null.
  template <std::size_t i>
  Call& config() {
    optional<i>();
    using Config = std::remove_const_t<std::remove_pointer_t<Argument<i>>>;
    struct Newer {
      Config config;
      std::uint64_t more;
    } newer;
    std::memset(&newer, 0, sizeof newer);
    newer.config = *std::get<i>(valid_);
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, sizeof(Config) - 1, std::size_t{4097}, SIZE_MAX}) {
      newer.config.struct_size = size;
      bad<i>(&newer.config, MINNOW_BAD_ARGUMENT);
    }
    newer.config.struct_size = offsetof(Newer, more) + sizeof newer.more;
    good<i>(&newer.config);
    newer.more = std::uint64_t{1} << 63;
    return bad<i>(&newer.config, MINNOW_UNSUPPORTED);
  }

 private:
  template <class T>
  static bool equal(T a, T b) {
    return a == b;
  }
  static bool equal(const char* a, const char* b) { return std::strcmp(a, b) == 0; }

  R apply(const std::tuple<Arguments...>& arguments) {
    if constexpr (std::is_void_v<Result>) {
      std::apply(function_, arguments);
      return 0;
    } else {
      return std::apply(function_, arguments);
    }
  }

  template <std::size_t i>
  R call_with(Argument<i> value) {
    std::tuple<Arguments...> arguments = valid_;
    std::get<i>(arguments) = value;
    return apply(arguments);
  }

  template <std::size_t i>
  Call& off_by_one(R expected) {
    const auto address = reinterpret_cast<std::uintptr_t>(std::get<i>(valid_));
    if constexpr (!std::is_same_v<Argument<i>, const char*>)
      bad<i>(reinterpret_cast<Argument<i>>(address + 1), expected);
    return *this;
  }

  World& world_;
  const char* name_;
  Result (*function_)(Arguments...);
  std::tuple<Arguments...> valid_;
  bool tested_[sizeof...(Arguments) + 1] = {};
};

}  // namespace minnow::test
