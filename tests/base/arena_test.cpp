// base/arena.hpp: counting and carving agree to the byte, and nothing overflows.
#include "base/arena.hpp"

#include <doctest/doctest.h>

namespace minnow {
namespace {

struct Taken {
  double* a;
  char* b;
  std::uint32_t* c;
};
Taken lay_out(Arena& arena) { return {arena.take<double>(3), arena.take<char>(65), arena.take<std::uint32_t>(0)}; }

}  // namespace

TEST_CASE("arena: counting and carving use the same bytes") {
  Arena counting;
  CHECK(lay_out(counting).a == nullptr);
  CHECK(counting.used() == 64 + 128);
  CHECK_FALSE(counting.overflowed());

  alignas(kAlign) std::byte block[64 + 128] = {};
  Arena carving(Span<std::byte>(block, sizeof block));
  const Taken taken = lay_out(carving);
  CHECK(reinterpret_cast<std::byte*>(taken.a) == block);
  CHECK(reinterpret_cast<std::byte*>(taken.b) == block + 64);
  CHECK(reinterpret_cast<std::byte*>(taken.c) == block + 192);  // no elements, but a pointer
  CHECK(carving.used() == counting.used());
}

TEST_CASE("arena: one byte less gives null, and the count goes on") {
  alignas(kAlign) std::byte block[128] = {};
  Arena arena(Span<std::byte>(block, 127));
  CHECK(arena.take<char>(64) == reinterpret_cast<char*>(block));
  CHECK(arena.take<char>(1) == nullptr);
  CHECK(arena.used() == 128);
  CHECK_FALSE(arena.overflowed());
}

TEST_CASE("arena: sizes that no integer holds") {
  Arena product;
  CHECK(product.take<double>(UINT64_MAX / 4) == nullptr);
  CHECK(product.overflowed());

  Arena rounding;
  CHECK(rounding.take<char>(UINT64_MAX - 3) == nullptr);
  CHECK(rounding.overflowed());

  Arena sum;  // more than can be addressed
  CHECK(sum.take<char>(SIZE_MAX / 2) == nullptr);
  CHECK_FALSE(sum.overflowed());
  CHECK(sum.take<char>(SIZE_MAX / 2) == nullptr);
  CHECK(sum.overflowed());
  CHECK(sum.used() ==
        round_up(std::uint64_t{SIZE_MAX / 2}, std::uint64_t{kAlign}));  // the take that failed is not counted
}

}  // namespace minnow
