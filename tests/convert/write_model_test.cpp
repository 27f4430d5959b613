// tools/convert/write_model.cpp: a tensor is the same bytes wherever its rows come from.
#include "tools/convert/write_model.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "tests/convert/made_up.hpp"

namespace minnow::convert::test {

namespace {

StoredTensor rows_of(const StoredTensor& tensor, std::uint64_t begin, std::uint64_t count) {
  StoredTensor out = tensor;
  out.offset += begin * out.stride[0];
  out.shape[0] = count;
  return out;
}

StoredTensor turned(const StoredTensor& tensor) {
  StoredTensor out = tensor;
  std::swap(out.shape[0], out.shape[1]);
  std::swap(out.stride[0], out.stride[1]);
  return out;
}

// A model file of this one tensor, from its weights on.
std::string written(const Checkpoint& checkpoint, PlannedTensor planned, std::uint64_t rows, std::uint64_t columns,
                    bool matrix = true) {
  planned.role = Role::wte;
  planned.layer = kNoLayer;
  planned.spec = {"wte.weight", false, matrix, Presence::required, rows, columns};
  ModelPlan plan;
  plan.tensors = {planned};
  const TemporaryFolder folder;
  OutputFile out(folder / "m");
  write_model(checkpoint, plan, {}, {}, {}, &out);
  out.commit();
  const std::string bytes = read_file(folder / "m");
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return bytes.substr(static_cast<std::size_t>(header.data_offset));
}

PlannedTensor from(std::vector<StoredTensor> sources, WeightType type = WeightType::f32) {
  return {Role::wte, kNoLayer, {}, type, std::move(sources), {}};
}

}  // namespace

TEST_CASE("write_model: transposed matrices, also those that are read in several pieces") {
  constexpr std::uint64_t kRows = 30001, kColumns = 41;  // more than kTransposedFloats
  static_assert(kRows * kColumns > kTransposedFloats);
  std::vector<float> plain(kRows * kColumns), transposed(plain.size());
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      plain[r * kColumns + c] = static_cast<float>(r) + static_cast<float>(c) / 64;
      transposed[c * kRows + r] = plain[r * kColumns + c];
    }
  }
  Checkpoint checkpoint = made_up({{"plain", {kRows, kColumns}}, {"transposed", {kColumns, kRows}}});
  const TemporaryFolder folder;
  write_file(folder / "x", raw(plain) + raw(transposed));
  checkpoint.files[0] = std::make_shared<const InputFile>(folder / "x");
  for (const WeightType type : {WeightType::f32, WeightType::q8}) {
    const std::string expected = written(checkpoint, from({checkpoint.tensors[0]}, type), kRows, kColumns);
    CHECK(written(checkpoint, from({turned(checkpoint.tensors[1])}, type), kRows, kColumns) == expected);
  }
}

TEST_CASE("write_model: several sources are one matrix, whatever their rows") {
  const Checkpoint checkpoint = made_up({{"t", {29, 35}}});
  const StoredTensor& t = checkpoint.tensors[0];
  const std::string expected = written(checkpoint, from({t}), 29, 35);
  CHECK(written(checkpoint, from({rows_of(t, 0, 3), rows_of(t, 3, 13), rows_of(t, 16, 13)}), 29, 35) == expected);
  CHECK(written(checkpoint, from({rows_of(t, 3, 26), rows_of(t, 0, 3)}), 29, 35) != expected);
}

TEST_CASE("write_model: several sources are one vector, and computed numbers are as read ones") {
  const Checkpoint checkpoint = made_up({{"t", {13}}, {"a", {5}}, {"b", {8}}});
  const std::string expected = written(checkpoint, from({checkpoint.tensors[0]}), 1, 13, false);
  float last = 0;
  std::memcpy(&last, &expected[12 * sizeof last], sizeof last);
  CHECK(last == 12);
  PlannedTensor computed = from({});
  for (int i = 0; i < 13; ++i) computed.values.push_back(static_cast<float>(i));
  CHECK(written(checkpoint, computed, 1, 13, false) == expected);
  for (float& value : computed.values) value += 13;
  CHECK(written(checkpoint, from({checkpoint.tensors[1], checkpoint.tensors[2]}), 1, 13, false) ==
        written(checkpoint, computed, 1, 13, false));
}

TEST_CASE("write_model: a computed table may have more rows than are written at once") {
  const Checkpoint checkpoint = made_up({{"t", {3, 40000}}});
  PlannedTensor computed = from({});
  for (int i = 0; i < 3 * 40000; ++i) computed.values.push_back(static_cast<float>(i));
  CHECK(written(checkpoint, computed, 30000, 4, false) != written(checkpoint, computed, 3, 40000, false));
  CHECK(written(checkpoint, computed, 3, 40000, false) ==
        written(checkpoint, from({checkpoint.tensors[0]}), 3, 40000, false));
  const std::string narrow = written(checkpoint, computed, 30000, 4, false);
  float last = 0;
  std::memcpy(&last, &narrow[(29999 * 8 + 3) * sizeof last], sizeof last);  // rows are padded to 8
  CHECK(last == 119999);
}

}  // namespace minnow::convert::test
