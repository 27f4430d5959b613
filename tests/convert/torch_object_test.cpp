// tools/convert/torch_object.cpp and torch_settings.cpp: where weights and settings are, whoever saved them.
#include <doctest/doctest.h>

#include "tests/convert/checkpoint_rig.hpp"

namespace minnow::convert::test {

namespace {

PickleMaker fragment() { return PickleMaker{""}; }

// Opcodes of {name: a tensor of two floats}. The storage "0" holds 1 2 3 4 5 6.
std::string tensor(const std::string& name, std::int64_t offset = 0) {
  PickleMaker p = fragment();
  p.text(name).global("torch._utils", "_rebuild_tensor_v2").op("((").text("storage").global("torch", "FloatStorage");
  p.text("0").text("cpu").integer(6).op("tQ").integer(offset).integers({2}).integers({1});
  return p.op("\x89").global("collections", "OrderedDict").op(")RtR").bytes;
}

std::string dict(const std::string& items) { return "}(" + items + "u"; }
std::string item(const std::string& key, const std::string& value) { return fragment().text(key).bytes + value; }
std::string state(std::int64_t offset = 0) { return dict(tensor("w", offset)); }
std::string text(const std::string& value) { return fragment().text(value).bytes; }
std::string object(const char* module, const char* name, const std::string& fields) {
  return fragment().global(module, name).op(")\x81").op(fields).op("b").bytes;
}
std::string real(const char* eight_bytes) { return "G" + std::string(eight_bytes, 8); }

std::string read(const std::string& root) {
  ZipMaker zip;
  zip.add("archive/data.pkl", PickleMaker().op(root).done());
  zip.add("archive/data/0", raw(std::vector<float>{1, 2, 3, 4, 5, 6}));
  return show_bytes(zip.bytes());
}

const char* const kWeights = "w float32 [2] = 1 2; ";

}  // namespace

TEST_CASE("torch object: the state dict under every name, and under none") {
  for (const char* key : {"model", "state_dict", "model_state_dict", "model_state", "weights", "net"}) {
    CHECK(read(dict(item(key, state()))) == kWeights);
    CHECK(read(dict(item("optimizer", dict(item("state", state(1)))) + item(key, state()) + item("n", "N"))) ==
          kWeights);
  }
  CHECK(read(state()) == kWeights);
  CHECK(read(dict(item("checkpoint", dict(item("model", state()) + item("n", "N"))))) == kWeights);
  CHECK(read(dict(tensor("best_val_loss") + item("model", state()))) == kWeights);
}

TEST_CASE("torch object: of several dicts of tensors the model is taken") {
  CHECK(read(dict(item("ema", state(2)) + item("model", state()))) == kWeights);
  CHECK(read(dict(item("model_state", state(2)) + item("state_dict", state()))) == kWeights);
  CHECK(contains(read(dict(item("a", state()) + item("b", state(2)))), "tensors under both \"a\" and \"b\""));
  // An optimizer's tensors are not looked at.
  CHECK(read(dict(item("optimizer_state_dict", state(2)) + item("b", state()))) == kWeights);
}

TEST_CASE("torch object: files without weights") {
  CHECK(contains(read(dict(item("optimizer", dict(item("state", state()))) + item("iter_num", "K\1"))),
                 "this is a training-state file: an optimizer but no weights"));
  CHECK(
      contains(read(dict(item("state", dict("K\1" + state())) + item("param_groups", "]"))), "a training-state file"));
  CHECK(contains(read("](" + dict(item("state", "}") + item("param_groups", "]")) + "e"), "a training-state file"));
  CHECK(contains(read(dict(item("stoi", "}"))), "no dict of tensors"));
  CHECK(contains(read("}"), "no dict of tensors"));
  CHECK(contains(read("}q\1(" + item("model", "h\1") + "u"), "the checkpoint's 'model' holds no tensors; expected"));
  CHECK(contains(read(item("model", "")), "holds a string"));
  CHECK(contains(read(tensor("x").substr(6)), "is a single tensor"));
  CHECK(contains(read(dict(tensor("x") + item("y", "K\1"))), "\"y\" is made by an integer"));
}

TEST_CASE("torch object: whole models") {
  const std::string model = object("model", "GPT", dict(item("training", "\x88")));
  CHECK(contains(read(model), "the checkpoint is a whole object of \"model.GPT\"; expected a state dict"));
  CHECK(contains(read(dict(item("model", model))), "'model' is a whole object of \"model.GPT\""));
  const std::string reconstructed = fragment()
                                        .global("copy_reg", "_reconstructor")
                                        .op("(")
                                        .global("model", "GPT")
                                        .global("__builtin__", "object")
                                        .op("NtR")
                                        .bytes;
  CHECK(contains(read(reconstructed), "a whole object of \"model.GPT\""));
}

TEST_CASE("torch object: settings in dicts, namespaces and objects") {
  const std::string fields = item("n_head", "K\4") + item("bias", "\x89") + item("name", text("x")) +
                             item("dropout", real("\x3f\xc0\0\0\0\0\0\0")) + item("none", "N") + item("list", "]");
  const std::string shown = "bias=False; dropout=r0.125; list=?; n_head=4; name=x; none=None; by ";
  for (const char* key : {"model_args", "model_config", "config", "hparams", "args"}) {
    CHECK(read(dict(item("model", state()) + item(key, dict(fields)))) == kWeights + shown + key);
    CHECK(read(dict(item("model", state()) + item(key, object("argparse", "Namespace", dict(fields))))) ==
          kWeights + shown + key);
    CHECK(read(dict(item("model", state()) + item(key, object("model", "GPTConfig", "N" + dict(fields) + "\x86")))) ==
          kWeights + shown + key);
  }
  const std::string train = dict(item("lr", "K\1"));
  CHECK(read(dict(item("config", train) + item("model_args", dict(item("n_head", "K\4"))) + item("model", state()))) ==
        std::string(kWeights) + "n_head=4; by model_args");
  CHECK(read(dict(item("model_args", "}") + item("config", train) + item("model", state()))) ==
        std::string(kWeights) + "lr=1; by config");
  // Beside the state dict, or around it.
  CHECK(read(dict(item("a", dict(item("model", state()) + item("config", train))))) ==
        std::string(kWeights) + "lr=1; by config");
  CHECK(read(dict(item("a", dict(item("model", state()) + item("n", "N"))) + item("config", train))) ==
        std::string(kWeights) + "lr=1; by config");
  CHECK(read(dict(item("model", state()) + item("config", text("none")))) == kWeights);
}

TEST_CASE("torch object: settings that are long are not carried") {
  const std::string all =
      read(dict(item("model", state()) +
                item("config", dict(item("a", text(std::string(2000, 'x'))) + item(std::string(2000, 'y'), "N")))));
  CHECK(all == std::string(kWeights) + "a=?; by config");
}

TEST_CASE("torch object: tensors with attributes and of untyped storages") {
  PickleMaker p = fragment();
  p.text("w").global("torch._tensor", "_rebuild_from_type_v2").op("(").global("torch._utils", "_rebuild_tensor_v2");
  p.global("torch.nn.parameter", "Parameter").op("((").text("storage").global("torch", "FloatStorage").text("0");
  p.text("cpu").integer(6).op("tQ").integer(0).integers({2}).integers({1}).op("\x89N").op("t}tR");
  CHECK(read(dict(p.bytes)) == kWeights);

  const auto untyped = [](const char* dtype) {
    PickleMaker q = fragment();
    q.text("w").global("torch._utils", "_rebuild_tensor_v3").op("((").text("storage");
    q.global("torch.storage", "UntypedStorage").text("0").text("cpu").integer(24).op("tQ").integer(0).integers({2});
    return q.integers({1}).op("\x89N").global("torch", dtype).op("tR").bytes;
  };
  CHECK(read(dict(untyped("float32"))) == kWeights);
  CHECK(read(dict(untyped("uint16"))) == "w foreign [2]; ");
}

TEST_CASE("torch object: a dict that is inside another many times") {
  // 2,000 dicts that hold one dict of 2,000 values that are no tensors.
  std::string inner;
  for (int i = 0; i < 2000; ++i) inner += item("k" + std::to_string(i), "N");
  std::string outer = item("first", dict(inner) + "q\1");
  for (int i = 0; i < 2000; ++i) outer += item("o" + std::to_string(i), "h\1");
  CHECK(contains(read(dict(outer)), "repeats its values too often"));
}

}  // namespace minnow::convert::test
