// base/status.cpp: every value has a name of its own, and what is no value has a name too.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "minnow/minnow.hpp"

namespace minnow {

TEST_CASE("status: each has its own text") {
  std::set<std::string> texts;
  for (const Status status :
       {Status::ok, Status::bad_argument, Status::memory_too_small, Status::misaligned, Status::context_full,
        Status::output_too_small, Status::cancelled, Status::wrong_state, Status::io_error, Status::not_a_model,
        Status::unsupported, Status::corrupt, Status::numeric, static_cast<Status>(99)}) {
    texts.insert(to_string(status));
  }
  CHECK(texts.size() == 14);
}

TEST_CASE("status: names of options are what the program takes") {
  std::set<std::string> isas;
  for (std::uint32_t i = 0; i <= 7; ++i) isas.insert(to_string(static_cast<Isa>(i)));
  CHECK(isas == std::set<std::string>{"best", "reference", "avx2", "vnni", "neon", "dotprod", "armv7", "unknown"});
  std::set<std::string> types;
  for (std::uint32_t i = 0; i <= 4; ++i) types.insert(to_string(static_cast<WeightType>(i)));
  CHECK(types == std::set<std::string>{"f32", "f16", "q8", "q4", "unknown"});
  std::set<std::string> kvs;
  for (std::uint32_t i = 0; i <= 4; ++i) kvs.insert(to_string(static_cast<KvType>(i)));
  CHECK(kvs == std::set<std::string>{"automatic", "f32", "f16", "q8", "unknown"});
  std::set<std::string> policies;
  for (std::uint32_t i = 0; i <= 4; ++i) policies.insert(to_string(static_cast<WhenFull>(i)));
  CHECK(policies == std::set<std::string>{"half", "slide", "ring", "stop", "unknown"});
  CHECK(std::string(version()) == "1.0.0");
}

}  // namespace minnow
