// tools/convert/torch_checkpoint.cpp: archives that were packed again with compression.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/crc32.hpp"
#include "tests/convert/checkpoint_rig.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert::test {

namespace {

// Deflate without compression.
std::string deflated(const std::string& data) {
  std::string out;
  std::size_t at = 0;
  do {
    const std::size_t bytes = std::min<std::size_t>(data.size() - at, 65535);
    const bool last = at + bytes == data.size();
    out += number(last ? 1 : 0, 1) + number(bytes, 2) + number(0xffff ^ bytes, 2) + data.substr(at, bytes);
    at += bytes;
  } while (at < data.size());
  return out;
}

void deflate(ZipMaker::Entry* entry) {
  entry->bytes = entry->data.size();
  entry->data = deflated(entry->data);
  entry->method = 8;
}

ZipMaker model(std::int64_t n_embd = 8) {
  ZipMaker zip;
  std::vector<HandTensor> tensors;
  make_model(1, n_embd, 6, 7, &tensors, &zip);
  tensors.push_back(tensors.front());  // a shared storage
  tensors.back().name = "lm_head.weight";
  zip.add("archive/data.pkl", pickle_checkpoint(tensors, 2));
  return zip;
}

std::string fault_of(const std::string& path, const ReadOptions& options) {
  try {
    read_torch_checkpoint(std::make_shared<const InputFile>(path), options);
    return {};
  } catch (const Refusal& refusal) {
    return refusal.path() + ": " + refusal.what();
  }
}

}  // namespace

TEST_CASE("deflated checkpoint: reads like a stored one") {
  const std::string expected = show_bytes(model().bytes());
  REQUIRE_FALSE(is_refusal(expected));
  ZipMaker all = model(), some = model();
  for (std::size_t i = 0; i < all.entries.size(); ++i) {
    deflate(&all.entries[i]);
    if (i % 2 == 0) deflate(&some.entries[i]);
  }
  CHECK(show_bytes(all.bytes()) == expected);
  CHECK(show_bytes(some.bytes()) == expected);
}

TEST_CASE("deflated checkpoint: unpacked once, into a file without a name") {
  const TemporaryFolder folder;
  ZipMaker zip = model();
  for (ZipMaker::Entry& entry : zip.entries) deflate(&entry);
  zip.to_file(folder / "x");
  ReadOptions options;
  options.temporary_folder = folder.path();
  std::uint64_t last = 0, total = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    CHECK(done > last);
    last = done;
    total = all;
  };
  const Checkpoint c = read_torch_checkpoint(std::make_shared<const InputFile>(folder / "x"), options);
  REQUIRE(c.files.size() == 2);
  CHECK(folder.names() == std::vector<std::string>{"x"});
  CHECK(last == total);
  CHECK(c.files[1]->size() == total);
  CHECK(c.files[1]->path() == folder / "x");
  CHECK(is_same_view(c.tensors.front(), c.tensors.back()));
}

TEST_CASE("deflated checkpoint: what is damaged or says what no tensor needs") {
  ZipMaker zip = model();
  deflate(&zip.entries[3]);
  zip.entries[3].data[40] ^= 1;
  CHECK(contains(show_bytes(zip.bytes()), "the checksum of \"archive/data/3\" is wrong"));
  zip = model();
  deflate(&zip.entries[3]);
  zip.entries[3].bytes += 4;
  CHECK(contains(show_bytes(zip.bytes()), "\"archive/data/3\" has 772 bytes; expected 192 numbers"));
  zip = model();
  deflate(&zip.entries[3]);
  zip.entries[3].data.erase(5, 4);  // the block reaches into nothing
  CHECK(is_refusal(show_bytes(zip.bytes())));
  // The first storage announces a hundred thousand million elements: nothing is unpacked for it.
  HandTensor tensor;
  tensor.name = "t";
  tensor.key = "0";
  tensor.elements = 100000000000;
  tensor.size = {tensor.elements};
  tensor.stride = {1};
  zip = ZipMaker();
  zip.zip64_sizes = true;
  zip.add("archive/data/0", std::string(1000, '\0')).method = 8;
  zip.entries[0].bytes = 4 * static_cast<std::uint64_t>(tensor.elements);
  zip.add("archive/data.pkl", pickle_checkpoint({tensor}, 2));
  CHECK(contains(show_bytes(zip.bytes()), "which cannot become 400000000000"));
}

TEST_CASE("deflated checkpoint: nowhere to unpack, or no room") {
  const TemporaryFolder folder;
  ZipMaker zip = model(64);
  for (ZipMaker::Entry& entry : zip.entries) deflate(&entry);
  zip.to_file(folder / "x");
  ReadOptions options;
  options.temporary_folder = folder / "none";
  CHECK(contains(fault_of(folder / "x", options), "none: cannot hold a temporary file: "));
  const int status = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {20000, 20000};
    setrlimit(RLIMIT_FSIZE, &limit);
    options.temporary_folder = folder.path();
    return contains(fault_of(folder / "x", options), "cannot hold the unpacked checkpoint, after ") ? 7 : 8;
  });
  CHECK(status == 7);
  CHECK(folder.names() == std::vector<std::string>{"x"});
}

}  // namespace minnow::convert::test
