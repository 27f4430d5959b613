// tools/convert/read_checkpoint.cpp and not_a_checkpoint.cpp: the reader is chosen by content, and what no reader takes
// is named for what it is.
#include <doctest/doctest.h>

#include "tests/convert/checkpoint_rig.hpp"

namespace minnow::convert::test {

TEST_CASE("read_checkpoint: files that lie beside weights") {
  const std::pair<std::string, const char*> strangers[] = {
      {R"({"version": "1.0", "added_tokens": [], "model": {"type": "BPE"}})", "this is a tokenizer.json"},
      {R"({"architectures": ["GPT2LMHeadModel"], "n_embd": 768})", "this is a model's config.json"},
      {R"({"step": 7, "model_config": {"n_head": 2}})", "this is a model's config.json"},
      {R"({"the": 12, "of": 13})", "this is a vocab.json"},
      {"{\"a\": ", "this is a JSON text"},
      {"[1, 2]", "this is a JSON text"},
      {"#version: 0.2\nt h\n", "this is a tokenizer"},
      {std::string("\x1b\0\0\0\0\0\0\0\5\0\0\0<unk>\0\0\0", 20), "this is a tokenizer"},
      {std::string("\x88\xd8\x34\x01\1\0\0\0", 8), "training data of llm.c"},
      {std::string("\x8f\xd8\x34\x01\1\0\0\0", 8), "training state of llm.c, without weights"},
      {"\x93NUMPY\x01", "a file of NumPy"},
      {"\x89HDF\r\n\x1a\n", "an HDF5 file"},
      {"import torch\n", "this is a text file, it begins with \"import t\""},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "a pointer file of Git LFS"},
      {std::string("\x80\x04\x95\x05\0\0\0\0\0\0\0", 11) + "}\x94.", "a bare pickle"},
      {std::string(100, '\0'), "of no kind that is known"},
      {std::string(100, '\xff'), "of no kind that is known"},
  };
  for (const auto& [bytes, what] : strangers) {
    const std::string outcome = show_bytes(bytes);
    CHECK_MESSAGE(contains(outcome, what), outcome);
    CHECK_MESSAGE(contains(outcome, "; expected a checkpoint; "), outcome);
  }
}

TEST_CASE("read_checkpoint: one part of several") {
  const TemporaryFolder folder;
  const std::string bytes = safetensors_bytes(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abcd");
  for (const char* name : {"model-00001-of-00002.safetensors", "pytorch_model-00001-of-00003.bin"}) {
    write_file(folder / name, bytes);
    CHECK(contains(show_file(folder / name), "this is one part of several; expected the index beside it"));
  }
  write_file(folder / "model-00001-of-00001.safetensors", bytes);
  write_file(folder / "best-of-luck.safetensors", bytes);
  write_file(folder / "model.safetensors", bytes);
  for (const char* name : {"model-00001-of-00001.safetensors", "best-of-luck.safetensors", "model.safetensors"}) {
    CHECK(contains(show_file(folder / name), "t float32 [1] = "));
  }
  // Through the index it is what it should be.
  write_file(folder / "i", R"({"weight_map":{"t":"model-00001-of-00002.safetensors"}})");
  CHECK(contains(show_file(folder / "i"), "t float32 [1] = "));
}

}  // namespace minnow::convert::test
