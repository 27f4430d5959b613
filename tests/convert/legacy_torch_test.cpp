// tools/convert/legacy_torch.cpp: checkpoints of torch.save before PyTorch 1.6, made by hand.
#include <doctest/doctest.h>

#include <fstream>

#include "tests/convert/checkpoint_rig.hpp"
#include "tests/tools/child.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert::test {

namespace {

const std::string kMagic("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20j\xa8P\x19.", 15);

// The parts, open so that a test can break them. By default: "a" is [[1, 2], [3, 4]], "b" the second half of its
// storage, "c" two halves.
struct LegacyMaker {
  std::string magic = kMagic;
  std::string protocol = PickleMaker().integer(1001).done();
  std::string system =
      PickleMaker().op("}(").text("protocol_version").integer(1001).text("little_endian").op("\x88").op("u").done();
  std::string object;
  std::string keys = PickleMaker().op("](").text("k0").text("k1").op("e").done();
  std::string storages = number(4, 8) + raw(std::vector<float>{1, 2, 3, 4}) + number(2, 8) +
                         raw(std::vector<std::uint16_t>{0x3c00, 0xc000});

  LegacyMaker() {
    PickleMaker p;
    p.op("}").text("model").op("}(");
    add(&p, "a", "FloatStorage", "k0", 4, "N", 0, {2, 2}, {2, 1});
    // A storage that is itself a view: elements 2 and 3 of k0.
    add(&p, "b", "FloatStorage", "k0", 4, PickleMaker{""}.op("(").text("v").integer(2).integer(2).op("t").bytes, 1, {1},
        {1});
    add(&p, "c", "HalfStorage", "k1", 2, "", 0, {2}, {1});
    object = p.op("us").done();
  }

  static void add(PickleMaker* p, const char* name, const char* storage, const char* key, std::int64_t elements,
                  const std::string& view, std::int64_t offset, const std::vector<std::int64_t>& size,
                  const std::vector<std::int64_t>& stride) {
    p->text(name).global("torch._utils", "_rebuild_tensor_v2").op("((").text("storage").global("torch", storage);
    p->text(key).text("cuda:0").integer(elements).op(view).op("tQ");
    p->integer(offset).integers(size).integers(stride).op("\x89").global("collections", "OrderedDict").op(")RtR");
  }

  std::string head() const { return magic + protocol + system + object + keys; }
  std::string bytes() const { return head() + storages; }
};

}  // namespace

TEST_CASE("legacy torch: tensors, and storages that are views") {
  CHECK(show_bytes(LegacyMaker().bytes()) == "a float32 [2, 2] = 1 2 3 4; b float32 [1] = 4; c float16 [2] = 1 -2; ");
}

TEST_CASE("legacy torch: the first form of the call, and parameters") {
  LegacyMaker maker;
  PickleMaker p;
  p.op("}").text("w").global("torch._utils", "_rebuild_parameter").op("(");
  p.global("torch._utils", "_rebuild_tensor").op("((").text("storage").global("torch.cuda", "FloatStorage");
  p.text("k0").text("cuda:0").integer(4).op("NtQ").integer(1).integers({3}).integers({1}).op("tR");
  maker.object = p.op("\x88").global("collections", "OrderedDict").op(")RtRs").done();
  maker.keys = PickleMaker().op("](").text("k0").op("e").done();
  maker.storages = number(4, 8) + raw(std::vector<float>{1, 2, 3, 4});
  CHECK(show_bytes(maker.bytes()) == "w float32 [3] = 2 3 4; ");
}

TEST_CASE("legacy torch: every protocol's magic number") {
  LegacyMaker maker;
  const std::string whole = show_bytes(maker.bytes());
  maker.magic = "L119547037146038801333356L\n.";
  CHECK(show_bytes(maker.bytes()) == whole);
  maker.magic = "\x80\x04\x95" + number(13, 8) + kMagic.substr(2);
  CHECK(show_bytes(maker.bytes()) == whole);
  maker.magic = kMagic.substr(2);
  CHECK(show_bytes(maker.bytes()) == whole);
  maker.magic[3] ^= 1;
  CHECK(is_refusal(show_bytes(maker.bytes())));
}

TEST_CASE("legacy torch: other machines and protocols") {
  LegacyMaker maker;
  maker.system = PickleMaker().op("}").text("little_endian").op("\x89s").done();
  CHECK(contains(show_bytes(maker.bytes()), "big-endian"));
  maker.system = PickleMaker().op("}").done();
  CHECK(contains(show_bytes(maker.bytes()), "lacks little_endian"));
  maker = LegacyMaker();
  maker.protocol = PickleMaker().integer(1002).done();
  CHECK(contains(show_bytes(maker.bytes()), "another protocol than 1001"));
}

TEST_CASE("legacy torch: storages that are not what the object says") {
  LegacyMaker maker;
  maker.storages[0] = 3;
  CHECK(is_refusal(show_bytes(maker.bytes())));
  maker.storages = number(3, 8) + std::string(12, '\0') + number(2, 8) + std::string(4, '\0');
  CHECK(contains(show_bytes(maker.bytes()), "\"k0\" has 3 numbers of float32; expected 4"));
  maker.storages = number(UINT64_MAX / 2, 8) + std::string(100, '\0');
  CHECK(contains(show_bytes(maker.bytes()), "leaves the file"));
  maker.storages = number(UINT64_MAX / 4 + 5, 8) + std::string(100, '\0');
  CHECK(contains(show_bytes(maker.bytes()), "leaves the file"));
  maker = LegacyMaker();
  maker.storages += 'x';
  CHECK(contains(show_bytes(maker.bytes()), "1 bytes behind its last storage"));
  maker = LegacyMaker();
  maker.keys = PickleMaker().op("](").text("k0").text("k0").op("e").done();
  CHECK(contains(show_bytes(maker.bytes()), "or one twice"));
  maker.keys = PickleMaker().op("](").text("k0").text("k2").op("e").done();
  CHECK(contains(show_bytes(maker.bytes()), "does not use"));
  maker.keys = PickleMaker().op("](").text("k0").op("e").done();
  maker.storages.resize(24);
  CHECK(contains(show_bytes(maker.bytes()), "the storage \"k1\", which the file lacks"));
  maker.keys = "N.";
  CHECK(contains(show_bytes(maker.bytes()), "the list of storages is missing"));
  maker = LegacyMaker();
  PickleMaker p;
  p.op("}(");
  LegacyMaker::add(&p, "a", "FloatStorage", "k0", 4, "N", 0, {2, 2}, {2, 1});
  LegacyMaker::add(&p, "b", "IntStorage", "k0", 4, "N", 0, {2, 2}, {2, 1});
  maker.object = p.op("u").done();
  CHECK(contains(show_bytes(maker.bytes()), "two kinds of numbers"));
}

TEST_CASE("legacy torch: views outside of their storage") {
  LegacyMaker maker;
  PickleMaker p;
  p.op("}(");
  const std::string view = PickleMaker{""}.op("(").text("v").integer(3).integer(2).op("t").bytes;
  LegacyMaker::add(&p, "a", "FloatStorage", "k0", 4, view, 0, {2}, {1});
  LegacyMaker::add(&p, "c", "HalfStorage", "k1", 2, "N", 0, {2}, {1});
  maker.object = p.op("u").done();
  CHECK(contains(show_bytes(maker.bytes()), "reaches beyond its storage"));
}

TEST_CASE("legacy torch: pickles of any length") {
  for (const std::size_t length : {100000u, 262144u, 3000000u}) {
    LegacyMaker maker;
    const std::string notes = PickleMaker{""}.text("notes").text(std::string(length, 'x')).op("s").bytes;
    maker.object.insert(maker.object.size() - 1, notes);
    CHECK(show_bytes(maker.bytes()) == show_bytes(LegacyMaker().bytes()));
  }
}

TEST_CASE("legacy torch: what follows the pickles is not read with them" * doctest::skip(minnow::test::kSanitized)) {
  const TemporaryFolder folder;
  LegacyMaker maker;
  PickleMaker p;
  p.op("}(");
  LegacyMaker::add(&p, "a", "FloatStorage", "k0", 8 << 20, "N", 0, {2, 2}, {2, 1});
  maker.object = p.op("u").done();
  maker.keys = PickleMaker().op("]").text("k0").op("a").done();
  maker.storages = number(8 << 20, 8) + std::string(32 << 20, '\0');
  write_file(folder / "ckpt.pt", maker.bytes());
  const int status = in_child([&] {
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak counts from here
    const std::size_t before = from_proc("VmRSS:");
    read_checkpoint(std::make_shared<const InputFile>(folder / "ckpt.pt"));
    const std::size_t peak = from_proc("VmHWM:");
    if (before == 0 || peak == 0) return 9;  // no /proc
    return peak - before <= 2048 ? 7 : 6;
  });
  if (status != 9) CHECK(status == 7);
}

TEST_CASE("legacy torch: a whole model") {
  LegacyMaker maker;
  PickleMaker p;
  p.op("(").text("module").global("model", "GPT").text("model.py").text("class GPT: ..").op("tQ)\x81}b");
  maker.object = p.done();
  maker.keys = PickleMaker().op("]").done();
  maker.storages.clear();
  CHECK(contains(show_bytes(maker.bytes()), "a whole object of \"model.GPT\"; expected a state dict"));
}

TEST_CASE("legacy torch: cut and damaged everywhere") {
  const LegacyMaker maker;
  check_cut_and_damaged(maker.bytes(), maker.head().size() + 8);
}

}  // namespace minnow::convert::test
