// `minnow convert` as a whole: the same weights in every wrapping, options, and input that is something else.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <limits>

#include "kernels/kernels.hpp"
#include "minnow/minnow.hpp"
#include "model/tensors.hpp"
#include "tests/convert/support.hpp"

namespace minnow::convert::test {

namespace {

std::string provenance_of(const std::string& path) {
  const std::string bytes = read_file(path);
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return bytes.substr(header.provenance_offset, header.provenance_bytes);
}

}  // namespace

TEST_CASE("convert: the same weights in every wrapping give the same model") {
  const TemporaryFolder folder;
  for (const char* type : {"f32", "f16", "q8"}) {
    std::string expected;
    for (const char* name : {"plain", "protocol4", "bfloat16", "float16", "float64", "module", "orig_mod_module",
                             "mask", "copied_head", "views", "old_arguments"}) {
      const std::string model = folder / (std::string(name) + ".minnow");
      const Outcome outcome = convert({fixture("variants/" + std::string(name) + ".pt"), "-o", model, "--type", type});
      CHECK_MESSAGE(outcome.status == 0, name, ": ", outcome.message);
      const std::string bytes = comparable_model(model);
      if (expected.empty()) expected = bytes;
      CHECK_MESSAGE(bytes == expected, name, " as ", type);
    }
  }
}

TEST_CASE("convert: a bare state dict needs --n-head and is then the same model; others do not take another") {
  const TemporaryFolder folder;
  Outcome outcome = convert({fixture("variants/bare.pt"), "-o", folder / "m", "--type", "f32"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.message, "give it with --n-head"));
  outcome = convert({fixture("variants/bare.pt"), "-o", folder / "m", "--type", "f32", "--n-head", "2"});
  CHECK(outcome.status == 0);
  CHECK(convert({fixture("variants/plain.pt"), "-o", folder / "n", "--type", "f32"}).status == 0);
  CHECK(comparable_model(folder / "m") == comparable_model(folder / "n"));
  outcome = convert({fixture("variants/plain.pt"), "-o", folder / "n", "--n-head", "4"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.message, "model_args['n_head'] is 2 but --n-head says 4; expected the same"));
}

TEST_CASE("convert: biases are there or not, as the tensors are") {
  const TemporaryFolder folder;
  const Outcome outcome = convert({fixture("variants/no_bias.pt"), "-o", folder / "m", "-v"});
  CHECK(outcome.status == 0);
  CHECK_FALSE(contains(outcome.message, "bias"));
  CHECK(contains(convert({fixture("variants/plain.pt"), "-o", folder / "n", "-v"}).message, "attn.c_attn.bias"));
}

TEST_CASE("convert: an output matrix of its own is kept") {
  const TemporaryFolder folder;
  REQUIRE(convert({fixture("variants/separate_head.pt"), "-o", folder / "m", "--type", "f32"}).status == 0);
  const std::string model = read_file(folder / "m");
  FileHeader header;
  std::memcpy(&header, model.data(), sizeof header);
  CHECK(header.config.output == Output::separate);
  TensorEntry last;
  std::memcpy(&last, &model[sizeof header + (header.tensor_count - 1) * sizeof last], sizeof last);
  REQUIRE(last.role == Role::lm_head_weight);
  // The fixture's output is its embedding plus one.
  std::vector<float> embedding(8), output(8);
  gather_row(reinterpret_cast<const std::byte*>(&model[header.data_offset]), WeightType::f32, 8, 3, embedding.data());
  gather_row(reinterpret_cast<const std::byte*>(&model[last.offset]), WeightType::f32, 8, 3, output.data());
  for (std::size_t i = 0; i < 8; ++i) CHECK(output[i] == embedding[i] + 1);
}

TEST_CASE("convert: every weight of the random checkpoint lands where its role says") {
  const TemporaryFolder folder;
  REQUIRE(convert({fixture("random-2x48/ckpt.pt"), "-o", folder / "m", "--type", "f32"}).status == 0);
  const std::string model = read_file(folder / "m");
  FileHeader header;
  std::memcpy(&header, model.data(), sizeof header);
  // Storage 0 is wte; torch.save aligns storages to 64 bytes, so its first number is found by its name.
  const std::string checkpoint = read_file(fixture("random-2x48/ckpt.pt"));
  const std::size_t name = checkpoint.find("ckpt/data/0FB");
  REQUIRE(name != std::string::npos);
  const std::size_t data = (name + 63) / 64 * 64;
  std::vector<float> expected(48), row(48);
  for (std::uint32_t r = 0; r < 37; ++r) {
    std::memcpy(expected.data(), &checkpoint[data + r * 48 * 4], 48 * 4);
    gather_row(reinterpret_cast<const std::byte*>(&model[header.data_offset]), WeightType::f32, 48, r, row.data());
    CHECK(row == expected);
  }
}

TEST_CASE("convert: the same input and options give the same bytes; provenance says where from") {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    CHECK(convert({fixture("random-2x48/ckpt.pt"), "-o", folder / name}).status == 0);
  }
  CHECK(read_file(folder / "a") == read_file(folder / "b"));
  const std::string provenance = provenance_of(folder / "a");
  CHECK(contains(provenance, "source=ckpt.pt\nsource_sha256="));
  CHECK(contains(provenance, std::string("\nconverter=minnow ") + version() + "\n"));
  CHECK(contains(provenance, "\niter_num=250\nbest_val_loss=1.25\ntype=q8\n"));
}

TEST_CASE("convert: a file name cannot break the provenance") {
  const TemporaryFolder folder;
  const std::string name = "a\nb=\xff\u00e9\xc2\x9b\xe0\x80\x80\U0001f600\xf0\x9f";
  std::filesystem::copy_file(fixture("variants/plain.pt"), folder / (name + ".pt"));
  std::filesystem::copy_file(fixture("variants/meta.pkl"), folder / "meta.pkl");
  CHECK(convert({folder / (name + ".pt")}).status == 0);
  CHECK(contains(provenance_of(folder / (name + ".minnow")),
                 "source=a\\nb=\\xff\u00e9\\xc2\\x9b\\xe0\\x80\\x80\U0001f600\\xf0\\x9f.pt\nsource_sha256="));
}

TEST_CASE("convert: the default name is the checkpoint's with another ending") {
  const TemporaryFolder folder;
  std::filesystem::copy_file(fixture("variants/meta.pkl"), folder / "meta.pkl");
  for (const char* name : {"x.pt", "y", ".z"}) {
    std::filesystem::copy_file(fixture("variants/plain.pt"), folder / name);
    const Outcome outcome = convert({folder / name});
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.message, "n_layer 1, n_head 2, n_embd 8, block_size 6, q8"));
  }
  CHECK(folder.names() == std::vector<std::string>{".z", ".z.minnow", "meta.pkl", "x.minnow", "x.pt", "y", "y.minnow"});
}

TEST_CASE("convert: GELU's form is an option") {
  const TemporaryFolder folder;
  const auto activation = [&](const char* gelu) {
    CHECK(convert({fixture("variants/plain.pt"), "-o", folder / "m", "--gelu", gelu}).status == 0);
    FileHeader header;
    std::memcpy(&header, read_file(folder / "m").data(), sizeof header);
    return header.config.activation;
  };
  CHECK(activation("erf") == Activation::gelu_erf);
  CHECK(activation("tanh") == Activation::gelu_tanh);
}

TEST_CASE("convert: no name reaches the terminal raw") {
  const TemporaryFolder folder;
  const auto is_plain = [](const std::string& message) {
    return message.find_first_of("\033\r\t\x9b") == std::string::npos && message.find('\n') == message.size() - 1;
  };
  const std::string name = folder / "no\033[31m\xc2\x9b";
  Outcome outcome = convert({name + ".pt"});
  CHECK(outcome.status == 1);
  CHECK_MESSAGE(is_plain(outcome.message), outcome.message);
  CHECK(contains(outcome.message, "minnow convert: " + folder.path() + "/no\\x1b[31m\\xc2\\x9b.pt: cannot be opened"));
  std::filesystem::copy_file(fixture("variants/plain.pt"), name + ".pt");
  for (const std::vector<std::string>& rest : {std::vector<std::string>{"--no-text"},
                                               {"--meta", folder / "no\tmeta"},
                                               {"-o", name + ".pt"},
                                               {"--no-text", "-o", folder / "no\nfolder/m"}}) {
    std::vector<std::string> arguments = {name + ".pt"};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    outcome = convert(arguments);
    CHECK_MESSAGE(is_plain(outcome.message), outcome.message);
    CHECK(outcome.message.rfind("minnow convert: ", 0) == 0);
  }
}

TEST_CASE("convert: misuse is status 2 and touches nothing") {
  const TemporaryFolder folder;
  const std::string checkpoint = fixture("variants/plain.pt");
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {checkpoint, "--type", "q8", "--type"},
                                                    {checkpoint, "--type", "int8"},
                                                    {checkpoint, "--vocab", ""},
                                                    {checkpoint, "--vocab", "bytes", "--no-text"},
                                                    {checkpoint, "--vocab", "bytes", "--meta", "meta.pkl"},
                                                    {checkpoint, "--n-head", "0"},
                                                    {checkpoint, "--n-head", "x"},
                                                    {checkpoint, "--gelu", "new"},
                                                    {checkpoint, "again.pt"},
                                                    {checkpoint, "-o", ""},
                                                    {"none.pt", "-o", ""},
                                                    {checkpoint, "-o", "-"},
                                                    {checkpoint, "--meta", ""},
                                                    {checkpoint, "--meta", "meta.pkl", "--no-text"},
                                                    {checkpoint, "--fast"}}) {
    const Outcome outcome = convert(arguments);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.message, "minnow convert: "));
  }
  CHECK(contains(convert({checkpoint, "-o", "-"}).message, "a model is not written to stdout"));
  CHECK_FALSE(std::filesystem::exists("-"));
  CHECK_FALSE(std::filesystem::exists(fixture("variants/plain.minnow")));
}

TEST_CASE("convert: the model must not replace the checkpoint, by whatever name") {
  const TemporaryFolder folder;
  std::filesystem::copy_file(fixture("variants/plain.pt"), folder / "c.pt");
  std::filesystem::create_symlink("c.pt", folder / "link");
  std::filesystem::create_hard_link(folder / "c.pt", folder / "hard");
  std::filesystem::copy_file(fixture("variants/meta.pkl"), folder / "meta.pkl");
  CHECK(contains(convert({folder / "c.pt", "-o", folder / "meta.pkl"}).message, "is the meta.pkl itself"));
  for (const char* name : {"c.pt", "link", "hard"}) {
    const Outcome outcome = convert({folder / "c.pt", "-o", folder / name, "--no-text"});
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.message, "is the checkpoint itself"));
  }
  CHECK(read_file(folder / "c.pt") == read_file(fixture("variants/plain.pt")));
}

TEST_CASE("convert: NaN and infinite weights are refused by name and place, or kept") {
  const TemporaryFolder folder;
  ZipMaker zip;
  std::vector<HandTensor> tensors;
  make_model(1, 8, 6, 7, &tensors, &zip);
  std::string& weights = zip.entries[3].data;  // attn.c_attn.weight [24, 8]
  const float infinity = std::numeric_limits<float>::infinity();
  std::memcpy(&weights[(9 * 8 + 5) * 4], &infinity, 4);
  zip.entries[3].crc = 0;
  zip.add("archive/data.pkl", pickle_checkpoint(tensors, 2));
  zip.to_file(folder / "c.pt");
  Outcome outcome = convert({folder / "c.pt", "--no-text"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.message, "\"transformer.h.0.attn.c_attn.weight\" has a NaN or infinite weight at [9, 5]"));
  CHECK(folder.names() == std::vector<std::string>{"c.pt"});
  CHECK(convert({folder / "c.pt", "--no-text", "--allow-nonfinite"}).status == 0);
}

TEST_CASE("convert: weights that the type cannot hold are refused by name") {
  const TemporaryFolder folder;
  ZipMaker zip;
  std::vector<HandTensor> tensors;
  make_model(1, 8, 6, 7, &tensors, &zip);
  const float large = 1e7f;
  std::memcpy(&zip.entries[4].data[4], &large, 4);  // attn.c_proj.weight
  zip.entries[4].crc = 0;
  zip.add("archive/data.pkl", pickle_checkpoint(tensors, 2));
  zip.to_file(folder / "c.pt");
  Outcome outcome = convert({folder / "c.pt", "--no-text", "--type", "f16"});
  CHECK(contains(outcome.message, "attn.c_proj.weight\" has a weight at [0, 1] beyond 65504"));
  outcome = convert({folder / "c.pt", "--no-text", "--type", "q8"});
  CHECK(contains(outcome.message, "attn.c_proj.weight\" has a weight near [0, 0] beyond 8 million"));
  CHECK(folder.names() == std::vector<std::string>{"c.pt"});
  CHECK(convert({folder / "c.pt", "--no-text", "--type", "f32"}).status == 0);
}

TEST_CASE("convert: a damaged storage is found, unless checksums are to be ignored") {
  const TemporaryFolder folder;
  std::string bytes = read_file(fixture("variants/plain.pt"));
  bytes[bytes.find("plain/data/0FB") + 70] ^= 4;
  write_file(folder / "c.pt", bytes);
  const Outcome outcome = convert({folder / "c.pt", "--no-text"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.message, "the checksum of \"plain/data/0\" is wrong"));
  CHECK(convert({folder / "c.pt", "--no-text", "--ignore-crc"}).status == 0);
}

TEST_CASE("convert: a wrong checksum of data.pkl is found, unless checksums are to be ignored") {
  const TemporaryFolder folder;
  ZipMaker zip;
  std::vector<HandTensor> tensors;
  make_model(1, 8, 6, 7, &tensors, &zip);
  zip.add("archive/data.pkl", pickle_checkpoint(tensors, 2)).crc ^= 1;
  zip.to_file(folder / "c.pt");
  const Outcome outcome = convert({folder / "c.pt", "--no-text"});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.message, "the checksum of \"archive/data.pkl\" is wrong"));
  CHECK(convert({folder / "c.pt", "--no-text", "--ignore-crc"}).status == 0);
}

TEST_CASE("convert: other kinds of files are named for what they are") {
  const TemporaryFolder folder;
  REQUIRE(convert({fixture("variants/plain.pt"), "-o", folder / "model"}).status == 0);
  const std::pair<std::string, const char*> strangers[] = {
      {"", "the file is empty"},
      {read_file(fixture("variants/plain.pt")).substr(0, 3000), "cut short"},
      {read_file(folder / "model"), "a minnow model already"},
      {"GGUF" + std::string(100, '\0'), "a GGUF file"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "a pointer file of Git LFS"},
      {"<!DOCTYPE html>\n<html>", "a web page"},
      {"\n<HTML>", "a web page"},
      {"\x1f\x8b\x08 and so on", "a gzip file"},
      {std::string(257, '\0') + "ustar" + std::string(300, '\0'), "a tar archive"},
      {std::string("\x80\x04}\x94\x8c\x04stoi", 9), "a bare pickle"},
      {"hello", "begins with \"hello\""},
      {std::string("\x1b[31m\0", 6), "begins with \"\\x1b[31m\\x00\""},
  };
  for (const auto& [bytes, what] : strangers) {
    write_file(folder / "c.pt", bytes);
    const Outcome outcome = convert({folder / "c.pt", "-o", folder / "out"});
    CHECK(outcome.status == 1);
    CHECK_MESSAGE(contains(outcome.message, what), outcome.message);
    CHECK(contains(outcome.message, "; expected a checkpoint; "));
    CHECK(outcome.message.find('\n') == outcome.message.size() - 1);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
  std::filesystem::rename(folder / "model", folder / "m.minnow");  // the name that the output would have
  CHECK(contains(convert({folder / "m.minnow"}).message, "this is a minnow model already; expected a checkpoint"));
  CHECK(contains(convert({folder / "none.pt"}).message, "none.pt: cannot be opened"));
  CHECK(contains(convert({folder.path()}).message, "this is a folder"));
}

}  // namespace minnow::convert::test
