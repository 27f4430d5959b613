// The helpers of the tests of checkpoints.
#include "tests/convert/checkpoint_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "tests/sanitized.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert::test {

std::string show(const Checkpoint& checkpoint) {
  std::ostringstream out;
  for (const StoredTensor& tensor : checkpoint.tensors) {
    out << tensor.name << ' ' << dtype_name(tensor.dtype) << ' ' << shape_text(tensor);
    const std::uint64_t columns = tensor.columns();
    if (tensor.rank <= 2 && is_floating(tensor.dtype) && columns < 100000) {
      out << " =";
      std::vector<float> row(static_cast<std::size_t>(columns));
      RowReader reader(checkpoint.file_of(tensor), tensor);
      for (std::uint64_t r = 0; r < tensor.rows(); r = r + 1 < tensor.rows() && r > 8 ? tensor.rows() - 1 : r + 1) {
        reader.read(r, 1, row.data());
        for (std::size_t i = 0; i < std::min<std::size_t>(row.size(), 16); ++i) out << ' ' << row[i];
      }
    }
    out << "; ";
  }
  for (const auto& [name, setting] : checkpoint.settings) {
    out << name << "=";
    if (setting.kind == Setting::Kind::text) out << setting.text;
    if (setting.kind == Setting::Kind::none) out << "None";
    if (setting.kind == Setting::Kind::other) out << "?";
    if (setting.kind == Setting::Kind::real) out << "r" << setting.real;
    if (setting.kind == Setting::Kind::boolean) out << (setting.integer != 0 ? "True" : "False");
    if (setting.kind == Setting::Kind::integer) out << setting.integer;
    out << "; ";
  }
  if (!checkpoint.settings_source.empty()) out << "by " << checkpoint.settings_source;
  return out.str();
}

std::string show_file(const std::string& path) {
  try {
    return show(read_checkpoint(std::make_shared<const InputFile>(path)));
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
}

std::string show_bytes(const std::string& bytes) {
  const TemporaryFolder folder;
  write_file(folder / "x", bytes);
  return show_file(folder / "x");
}

void check_cut_and_damaged(const std::string& bytes, std::size_t metadata_bytes) {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  const auto shown = [&](const std::string& content) {
    write_file(path, content);
    return show_file(path);
  };
  const std::string whole = shown(bytes);
  REQUIRE_MESSAGE(!is_refusal(whole), whole);
  for (std::size_t size = 0; size < bytes.size(); size += minnow::test::kSanitized ? 3 : 1) {
    const std::string cut = shown(bytes.substr(0, size));
    CHECK_MESSAGE(is_refusal(cut), size, ": ", cut);
  }
  for (std::size_t at = 0; at < metadata_bytes; at += minnow::test::kSanitized ? 3 : 1) {
    for (const int flip : {1, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      CHECK_MESSAGE(!shown(damaged).empty(), at);
    }
  }
}

std::string safetensors_bytes(const std::string& header, const std::string& data) {
  return number(header.size(), 8) + header + data;
}

TEST_CASE("checkpoint rig: a checkpoint as a text") {
  CHECK(show_bytes(safetensors_bytes(R"({"t":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})",
                                     raw(std::vector<float>{1, 2.5}))) == "t float32 [1, 2] = 1 2.5; ");
  CHECK(is_refusal(show_bytes("")));
}

}  // namespace minnow::convert::test
