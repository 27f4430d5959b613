// tools/convert/sharded.cpp: an index and its files, of either kind, and what does not fit together.
#include <doctest/doctest.h>

#include "tests/convert/checkpoint_rig.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert::test {

namespace {

std::string shard(const std::string& name, float value) {
  return safetensors_bytes("{\"" + name + "\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
                           raw(std::vector<float>{value}));
}

// Two files, and an index with this map.
struct Folder {
  TemporaryFolder folder;
  Folder() {
    write_file(folder / "one", shard("a", 1));
    write_file(folder / "two", shard("b", 2));
  }
  std::string read(const std::string& map) {
    write_file(folder / "index", "{\"metadata\": {\"total_size\": 8}, \"weight_map\": {" + map + "}}");
    try {
      return show(read_checkpoint(std::make_shared<const InputFile>(folder / "index")));
    } catch (const Refusal& refusal) {
      const std::string& path = refusal.path();
      return (path.empty() ? "index" : path.substr(folder.path().size())) + ": " + refusal.what();
    }
  }
};

}  // namespace

TEST_CASE("sharded: tensors out of two files") {
  Folder files;
  CHECK(files.read(R"("a":"one","b":"two")") == "a float32 [1] = 1; b float32 [1] = 2; ");
  CHECK(files.read(R"("b":"two","a":"one")") == "a float32 [1] = 1; b float32 [1] = 2; ");
  CHECK(files.read(R"("b":"two")") == "b float32 [1] = 2; ");
  const Checkpoint c = read_checkpoint(std::make_shared<const InputFile>(files.folder / "index"));
  CHECK(c.files.size() == 2);  // the index itself, and the one that it names
  CHECK(c.tensors[0].file == 1);
}

TEST_CASE("sharded: files of torch.save") {
  Folder files;
  for (const char* name : {"one", "two"}) {
    ZipMaker zip;
    HandTensor tensor;
    tensor.name = name;
    tensor.key = "0";
    tensor.elements = 1;
    zip.add("archive/data.pkl", pickle_checkpoint({tensor}, 2));
    zip.add("archive/data/0", raw(std::vector<float>{7}));
    zip.to_file(files.folder / name);
  }
  CHECK(files.read(R"("one":"one","two":"two")") == "one float32 [] = 7; two float32 [] = 7; n_head=2; by model_args");
  const Checkpoint c = read_checkpoint(std::make_shared<const InputFile>(files.folder / "index"));
  CHECK_FALSE(is_same_view(c.tensors[0], c.tensors[1]));  // equal names and places, in two files
}

TEST_CASE("sharded: every tensor is where the index says, and no other is there") {
  Folder files;
  CHECK(contains(files.read(R"("a":"one","c":"one")"), "/one: lacks the tensor \"c\""));
  CHECK(contains(files.read(R"("a":"two","b":"two")"), "/two: lacks the tensor \"a\""));
  CHECK(contains(files.read(R"("c":"one")"), "/one: holds the tensor \"a\", which the index does not expect"));
  CHECK(contains(files.read(R"("a":"one","a":"two")"), "\"a\" is there twice"));
  write_file(files.folder / "two", shard("b", 2).substr(0, 20));
  CHECK(contains(files.read(R"("a":"one","b":"two")"), "/two: the header has"));
  CHECK(contains(files.read(R"("a":"one","b":"three")"), "/three: cannot be opened"));
}

TEST_CASE("sharded: names that lead elsewhere") {
  Folder files;
  for (const char* name : {"/etc/passwd", "../one", "x/one", "..", ".", "", "a\\\\b", "one\\u0000"}) {
    const std::string outcome = files.read("\"a\":\"" + std::string(name) + "\"");
    CHECK_MESSAGE(contains(outcome, "expected names of files beside it"), outcome);
  }
  CHECK(contains(files.read(R"("a":"index")"),
                 "/index: this is an index itself; expected a file with tensors; copy or download the index again"));
}

TEST_CASE("sharded: indexes that are none") {
  Folder files;
  CHECK(contains(files.read(""), "names no tensor"));
  CHECK(contains(files.read("\"a\":1"), "names no file"));
  write_file(files.folder / "index", "{\"weight_map\":[]}");
  CHECK(contains(show_file(files.folder / "index"), "has no weight_map"));
  write_file(files.folder / "index", "{\"weight_map\":{");
  CHECK(contains(show_file(files.folder / "index"), "the index, byte 15"));
  write_file(files.folder / "index", "{\"first\":{" + std::string(600, ' ') + "},\"weight_map\":{\"a\":\"one\"}}");
  CHECK(show_file(files.folder / "index") == "a float32 [1] = 1; ");
  std::string many;
  for (int i = 0; i < 129; ++i)
    many += (i > 0 ? "," : "") + ("\"t" + std::to_string(i) + "\":\"f") + std::to_string(i) + "\"";
  CHECK(contains(files.read(many), "more than 128 files"));
}

}  // namespace minnow::convert::test
