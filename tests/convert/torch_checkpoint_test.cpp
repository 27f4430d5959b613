// tools/convert/torch_checkpoint.cpp: what a checkpoint says, and the ways in which it can contradict itself.
#include <doctest/doctest.h>

#include "tests/convert/support.hpp"
#include "tools/convert/checkpoint.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert::test {

namespace {

// Empty, or the refusal's text.
std::string fault_of(const ZipMaker& zip) {
  const TemporaryFolder folder;
  zip.to_file(folder / "x.pt");
  try {
    read_torch_checkpoint(std::make_shared<const InputFile>(folder / "x.pt"));
    return {};
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
}

std::string fault_of_pickle(const std::string& pickle) {
  ZipMaker zip;
  zip.add("archive/data.pkl", pickle);
  zip.add("archive/data/0", std::string(48, '\0'));
  return fault_of(zip);
}

// A storage of 12 floats is there.
std::string fault_of_tensor(HandTensor tensor) {
  tensor.name = "t";
  tensor.key = "0";
  if (tensor.elements == 0) tensor.elements = 12;
  return fault_of_pickle(pickle_checkpoint({tensor}, 2));
}

std::string fault_of_view(std::vector<std::int64_t> size, std::vector<std::int64_t> stride, std::int64_t offset = 0) {
  HandTensor tensor;
  tensor.size = std::move(size);
  tensor.stride = std::move(stride);
  tensor.offset = offset;
  return fault_of_tensor(tensor);
}

}  // namespace

TEST_CASE("checkpoint: what nanoGPT saved") {
  const Checkpoint c = read_torch_checkpoint(std::make_shared<const InputFile>(fixture("random-2x48/ckpt.pt")));
  CHECK(c.settings.at("n_layer").integer == 2);
  CHECK(c.settings.at("n_head").integer == 4);
  CHECK(c.settings.at("n_embd").integer == 48);
  CHECK(c.settings.at("block_size").integer == 24);
  CHECK(c.settings.at("vocab_size").integer == 37);
  CHECK(c.dataset == "random");
  CHECK(c.iter_num == 250);
  CHECK(c.best_val_loss == 1.25);
  REQUIRE(c.tensors.size() == 2 + 2 * 12 + 2 + 1);
  CHECK(c.tensors[0].name == "_orig_mod.transformer.wte.weight");
  CHECK(c.tensors[0].storage == "ckpt/data/0");
  CHECK(is_same_view(c.tensors[0], c.tensors.back()));  // the tied lm_head
  CHECK_FALSE(is_same_view(c.tensors[0], c.tensors[1]));
}

TEST_CASE("checkpoint: views inside and outside their storage") {
  CHECK(fault_of_view({3, 4}, {4, 1}).empty());
  CHECK(fault_of_view({4, 3}, {1, 4}).empty());
  CHECK(fault_of_view({12}, {1}).empty());
  CHECK(fault_of_view({}, {}, 11).empty());
  CHECK(fault_of_view({1000, 12}, {0, 1}).empty());
  CHECK(fault_of_view({1, 12}, {INT64_MAX, 1}).empty());
  CHECK(contains(fault_of_view({13}, {1}), "reaches beyond its storage"));
  CHECK(contains(fault_of_view({12}, {1}, 1), "reaches beyond its storage"));
  CHECK(contains(fault_of_view({}, {}, 12), "reaches beyond its storage"));
  CHECK(contains(fault_of_view({3, 4}, {5, 1}), "reaches beyond its storage"));
  CHECK(contains(fault_of_view({INT64_MAX, 4}, {INT64_MAX, 1}), "reaches beyond its storage"));
  CHECK(contains(fault_of_view({3, 3}, {INT64_MAX, INT64_MAX}, 3), "reaches beyond its storage"));
  CHECK(contains(fault_of_view({2}, {1}, INT64_MAX), "reaches beyond its storage"));
  CHECK(contains(fault_of_view({2}, {-1}, 1), "negative"));
  CHECK(contains(fault_of_view({-2}, {1}), "negative"));
  CHECK(contains(fault_of_view({2}, {1}, -1), "negative"));
  CHECK(contains(fault_of_view({0, 4}, {4, 1}), "is empty"));
  CHECK(contains(fault_of_view({3, 4}, {1}), "another number of strides"));
  CHECK(contains(fault_of_view({1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}), "5 dimensions"));
}

TEST_CASE("checkpoint: storages that are not what the pickle says") {
  HandTensor tensor;
  tensor.size = {4};
  tensor.stride = {1};
  tensor.elements = 13;
  CHECK(contains(fault_of_tensor(tensor), "has 48 bytes; expected 13 numbers of float32"));
  tensor.elements = INT64_MAX;
  CHECK(contains(fault_of_tensor(tensor), "has 48 bytes; expected"));
  tensor.elements = -1;
  CHECK(contains(fault_of_tensor(tensor), "negative"));
  tensor.elements = 7;
  tensor.storage_class = "DoubleStorage";
  CHECK(contains(fault_of_tensor(tensor), "7 numbers of float64"));
  tensor.elements = 6;
  CHECK(fault_of_tensor(tensor).empty());
  for (const char* name : {"LongStorage", "ByteStorage", "HalfStorage", "BFloat16Storage", "BoolStorage"}) {
    tensor.storage_class = name;
    CHECK(fault_of_tensor(tensor).empty());  // masks are such; a weight is refused when it is read
  }
  tensor.storage_class = "QInt8Storage";
  CHECK(contains(fault_of_tensor(tensor), "a storage of \"torch.QInt8Storage\""));

  ZipMaker zip;
  tensor.storage_class = "FloatStorage";
  tensor.name = "t";
  tensor.key = "../0";
  zip.add("archive/data.pkl", pickle_checkpoint({tensor}, 2));
  zip.add("archive/0", std::string(48, '\0'));
  CHECK(contains(fault_of(zip), "which the archive lacks"));
}

TEST_CASE("checkpoint: damaged weights are found by their checksum") {
  ZipMaker zip;
  std::vector<HandTensor> tensors;
  make_model(1, 8, 6, 7, &tensors, &zip);
  zip.add("archive/data.pkl", pickle_checkpoint(tensors, 2));
  CHECK(fault_of(zip).empty());
  zip.entries[3].data[17] ^= 1;
  CHECK(contains(fault_of(zip), "the checksum of \"archive/data/3\" is wrong"));
}

TEST_CASE("checkpoint: progress covers every storage once, and only where they are checked") {
  const TemporaryFolder folder;
  ZipMaker zip;
  std::vector<HandTensor> tensors;
  make_model(1, 256, 64, 65, &tensors, &zip);
  std::uint64_t bytes = 0;
  for (const ZipMaker::Entry& entry : zip.entries) bytes += entry.data.size();
  tensors.push_back(tensors.front());
  tensors.back().name = "lm_head.weight";
  zip.add("archive/data.pkl", pickle_checkpoint(tensors, 2));
  zip.to_file(folder / "x.pt");
  const auto file = std::make_shared<const InputFile>(folder / "x.pt");
  std::uint64_t calls = 0, last = 0;
  ReadOptions options;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    CHECK(total == bytes);
    CHECK(done > last);
    last = done;
    ++calls;
  };
  read_torch_checkpoint(file, options);
  CHECK(last == bytes);
  CHECK(calls > zip.entries.size());  // a large one in pieces
  calls = 0;
  options.check_crcs = false;
  read_torch_checkpoint(file, options);
  CHECK(calls == 0);
}

TEST_CASE("checkpoint: things that are no plain tensor") {
  const auto call = [](const char* module, const char* name) {
    PickleMaker q;
    q.bytes.clear();
    return q.global(module, name).op(")R").bytes;
  };
  CHECK(contains(fault_of_pickle(pickle_one_tensor(call("torch._utils", "_rebuild_qtensor"))),
                 "\"t\" is made by \"torch._utils._rebuild_qtensor\""));
  CHECK(contains(fault_of_pickle(pickle_one_tensor(call("torch._utils", "_rebuild_tensor_v2"))), "has no storage"));
  CHECK(contains(fault_of_pickle(pickle_one_tensor(call("torch._utils", "_rebuild_parameter"))), "is made by nothing"));
  CHECK(contains(fault_of_pickle(pickle_one_tensor("K\7")), "is made by an integer"));
  CHECK(contains(fault_of_pickle(pickle_one_tensor(call("os", "system"))), "os.system"));
  CHECK(contains(fault_of_pickle(pickle_one_tensor("K\7Q")), "is made by a storage"));
}

TEST_CASE("checkpoint: outer shapes that are not nanoGPT's") {
  CHECK(contains(fault_of_pickle("]."), "holds a list"));
  CHECK(contains(fault_of_pickle(PickleMaker().op("}").text("optimizer").op("}s").done()),
                 "a training-state file: an optimizer but no weights"));
  CHECK(contains(fault_of_pickle(PickleMaker().op("}").text("model").op("]s").done()), "'model' is a list"));
  CHECK(contains(fault_of_pickle(PickleMaker().op("}").text("model").op("}K\1K\2ss").done()),
                 "a tensor's name is an integer"));
  CHECK(contains(fault_of_pickle(pickle_checkpoint({}, 2) + "more"), "4 bytes behind its end"));
  HandTensor tensor;
  tensor.name = "t";
  tensor.key = "0";
  tensor.elements = 1;
  CHECK(contains(fault_of_pickle(pickle_checkpoint({tensor, tensor}, 2)), "\"t\" is there twice"));
}

TEST_CASE("checkpoint: archives that are not a checkpoint's") {
  ZipMaker zip;
  zip.add("archive/version", "3\n");
  CHECK(contains(fault_of(zip), "without a data.pkl"));
  zip.add("archive/data.pkl", pickle_checkpoint({}, 2));
  CHECK(fault_of(zip).empty());
  ZipMaker bare;  // packed again without the folder
  bare.add("data.pkl", pickle_checkpoint({}, 2));
  CHECK(fault_of(bare).empty());
  zip.add("archive/byteorder", "little");
  CHECK(fault_of(zip).empty());
  zip.entries.back().data = "big";
  zip.entries.back().crc = 0;
  CHECK(contains(fault_of(zip), "big-endian"));
  zip.entries.pop_back();
  zip.add("archive/code/__torch__.py", "");
  CHECK(contains(fault_of(zip), "TorchScript"));
  zip.entries.pop_back();
  zip.add("other/data.pkl", "N.");
  CHECK(contains(fault_of(zip), "holds both"));
}

TEST_CASE("checkpoint: iteration and loss, where they are known") {
  const auto training = [](const std::string& more) {
    const TemporaryFolder folder;
    ZipMaker zip;
    zip.add("archive/data.pkl", pickle_checkpoint({}, 2, more));
    zip.to_file(folder / "x.pt");
    return read_torch_checkpoint(std::make_shared<const InputFile>(folder / "x.pt"));
  };
  const auto put = [](const char* name, const std::string& value) {
    PickleMaker p;
    p.bytes.clear();
    return p.text(name).op(value).bytes;
  };
  CHECK_FALSE(training("").iter_num.has_value());
  CHECK(training(put("iter_num", "M\x39\x30")).iter_num == 12345);
  CHECK(training(put("best_val_loss", std::string("G\x3f\xf8\0\0\0\0\0\0", 9))).best_val_loss == 1.5);
  // 1e9: never evaluated.
  CHECK_FALSE(training(put("best_val_loss", std::string("G\x41\xcd\xcd\x65\0\0\0\0", 9))).best_val_loss.has_value());
}

}  // namespace minnow::convert::test
