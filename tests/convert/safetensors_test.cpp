// tools/convert/safetensors.cpp: what a header may say, and the ways in which it can contradict the file.
#include <doctest/doctest.h>

#include "tests/convert/checkpoint_rig.hpp"
#include "tools/convert/json_reader.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert::test {

namespace {

// One tensor of a kind.
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "{\"t\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}";
}

std::string read(const std::string& header, std::size_t data_bytes) {
  return show_bytes(safetensors_bytes(header, std::string(data_bytes, '\0')));
}

}  // namespace

TEST_CASE("safetensors: tensors in the order of their data") {
  const std::string header = R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
                             R"( "a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                             R"("scalar":{"data_offsets":[16,20],"dtype":"F32","shape":[]}}   )";
  const std::string data = raw(std::vector<float>{1, 2, 3, 4, 5});
  CHECK(show_bytes(safetensors_bytes(header, data)) ==
        "a float32 [2, 1] = 1 2; b float32 [2] = 3 4; scalar float32 [] = 5; ");
}

TEST_CASE("safetensors: no tensors, no metadata") {
  CHECK(read("{}", 0).empty());
  CHECK(read("{\"__metadata__\":{}}", 0).empty());
  CHECK(contains(read("{}", 1), "1 bytes behind its last tensor"));
}

TEST_CASE("safetensors: every kind of number") {
  CHECK(contains(read(one("F32", "[2,2]", "[0,16]"), 16), "t float32 [2, 2] = 0 0 0 0"));
  CHECK(contains(read(one("F64", "[2,2]", "[0,32]"), 32), "t float64 [2, 2] = 0 0 0 0"));
  CHECK(contains(read(one("F16", "[2,2]", "[0,8]"), 8), "t float16 [2, 2] = 0 0 0 0"));
  CHECK(contains(read(one("BF16", "[2,2]", "[0,8]"), 8), "t bfloat16 [2, 2] = 0 0 0 0"));
  CHECK(read(one("I64", "[2]", "[0,16]"), 16) == "t int64 [2]; ");
  CHECK(read(one("I32", "[2]", "[0,8]"), 8) == "t int32 [2]; ");
  CHECK(read(one("I16", "[2]", "[0,4]"), 4) == "t int16 [2]; ");
  CHECK(read(one("I8", "[2]", "[0,2]"), 2) == "t int8 [2]; ");
  CHECK(read(one("U8", "[2]", "[0,2]"), 2) == "t uint8 [2]; ");
  CHECK(read(one("BOOL", "[1,1,2,2]", "[0,4]"), 4) == "t bool [1, 1, 2, 2]; ");
  for (const char* dtype : {"F8_E4M3", "F8_E5M2"}) CHECK(read(one(dtype, "[2]", "[0,2]"), 2) == "t foreign [2]; ");
  CHECK(read(one("U16", "[2]", "[0,4]"), 4) == "t foreign [2]; ");
  CHECK(read(one("F4", "[4]", "[0,2]"), 2) == "t foreign [4]; ");  // a size that is not known is not judged
  CHECK(contains(read(one("F8_E4M3", "[3]", "[0,2]"), 2), "has 2 bytes"));
}

TEST_CASE("safetensors: a kind of number that is not read is named when it is needed") {
  const TemporaryFolder folder;
  write_file(folder / "x", safetensors_bytes(one("F8_E4M3", "[2]", "[0,2]"), "ab"));
  const Checkpoint c = read_safetensors(std::make_shared<const InputFile>(folder / "x"));
  float out[2];
  try {
    RowReader(c.file_of(c.tensors[0]), c.tensors[0]).read(0, 1, out);
    FAIL("it was read");
  } catch (const Refusal& refusal) {
    CHECK(contains(refusal.what(), "\"t\" holds \"F8_E4M3\" numbers"));
  }
}

TEST_CASE("safetensors: sizes and places that contradict each other") {
  CHECK(contains(read(one("F32", "[2]", "[0,7]"), 7), "\"t\" [2] of F32 has 7 bytes"));
  CHECK(contains(read(one("F32", "[3]", "[0,8]"), 8), "[3] of F32 has 8 bytes"));
  CHECK(contains(read(one("F32", "[2]", "[0,8]"), 7), "leaves the file"));
  CHECK(contains(read(one("F32", "[2]", "[8,0]"), 8), "leaves the file"));
  CHECK(contains(read(one("F32", "[2]", "[0,9223372036854775807]"), 8), "leaves the file"));
  CHECK(contains(read(one("F32", "[2]", "[0,9223372036854775808]"), 8), "no whole number"));
  CHECK(contains(read(one("F32", "[-2]", "[0,8]"), 8), "no whole number"));
  CHECK(contains(read(one("F32", "[2.0]", "[0,8]"), 8), "no whole number"));
  CHECK(contains(read(one("F32", "[0]", "[0,0]"), 0), "is empty"));
  CHECK(contains(read(one("F32", "[1,1,1,1,1]", "[0,4]"), 4), "5 dimensions"));
  CHECK(contains(read(one("F32", "[4294967296,4294967296]", "[0,8]"), 8), "more elements than can be counted"));
  CHECK(contains(read(one("F32", "[4611686018427387906]", "[0,8]"), 8), "has 8 bytes"));
  CHECK(contains(read(one("F32", "[2]", "[4,12]"), 12), "a gap between them"));
  CHECK(contains(read(one("F32", "[2]", "[0,8]"), 9), "1 bytes behind"));
  const std::string a = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)";
  CHECK(contains(read(a + R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12), "two tensors overlap"));
  CHECK(contains(read(a + R"("b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8), "two tensors overlap"));
  CHECK(contains(read(a + R"("b":{"dtype":"F32","shape":[2],"data_offsets":[12,20]}})", 20), "a gap between them"));
  CHECK(contains(read(a + R"("a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})", 16), "\"a\" is there twice"));
}

TEST_CASE("safetensors: headers that are none") {
  CHECK(contains(read("{\"t\":1}", 0), "lacks its dtype"));
  CHECK(contains(read("{\"t\":{}}", 0), "lacks its dtype"));
  CHECK(contains(read("{\"t\":{\"dtype\":\"F32\",\"shape\":[1]}}", 0), "lacks its dtype"));
  CHECK(contains(read(one("F32", "[1]", "[0,4,8]"), 4), "lacks its dtype"));
  CHECK(contains(read(one("F32", "1", "[0,4]"), 4), "lacks its dtype"));
  CHECK(contains(read("{\"t\":", 4), "the header, byte 5"));
  CHECK(contains(show_bytes(number(50, 8) + "{}"), "the header has 50 bytes, but the file ends before"));
  CHECK(contains(show_bytes(number(2, 8) + "{}" + std::string(9, '\0')), "9 bytes behind"));
  CHECK(is_refusal(show_bytes(number(UINT64_MAX, 8) + "{}")));
}

TEST_CASE("safetensors: names are as long as names are") {
  const auto named = [](std::size_t bytes) {
    return read("{\"" + std::string(bytes, 'n') + "\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1);
  };
  CHECK_FALSE(is_refusal(named(1000)));
  CHECK(contains(named(1001), "a very long name"));
}

TEST_CASE("safetensors: a header larger than the limit is not read") {
  const TemporaryFolder folder;
  write_file(folder / "x", number(kMaxJsonBytes + 1, 8) + "{" + std::string(kMaxJsonBytes, ' '));
  CHECK(contains(show_file(folder / "x"), "expected at most 33554432"));
}

TEST_CASE("safetensors: cut and damaged everywhere") {
  const std::string header = R"({"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
                             R"("b":{"dtype":"F16","shape":[3],"data_offsets":[16,22]}})";
  const std::string bytes = safetensors_bytes(header, std::string(22, '\1'));
  check_cut_and_damaged(bytes, bytes.size());
}

}  // namespace minnow::convert::test
