// tools/convert/sha256.cpp: the examples of FIPS 180-4, and pieces of every size.
#include "tools/convert/sha256.hpp"

#include <doctest/doctest.h>

namespace minnow::convert::test {

namespace {

std::string hash(const std::string& text, std::size_t piece) {
  Sha256 sha;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    sha.update(text.data() + at, piece < text.size() - at ? piece : text.size() - at);
  }
  return sha.finish();
}

}  // namespace

TEST_CASE("sha256: known answers") {
  CHECK(hash("", 1) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash("abc", 3) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 99) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hash(std::string(1000000, 'a'), 1000) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256: how the bytes come makes no difference") {
  for (std::size_t size = 0; size < 200; ++size) {
    const std::string text(size, 'x');
    const std::string whole = hash(text, 200);
    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{7}, std::size_t{63}, std::size_t{64}, std::size_t{65}}) {
      CHECK(hash(text, piece) == whole);
    }
  }
}

}  // namespace minnow::convert::test
