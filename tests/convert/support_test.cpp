// The helpers of the converter's tests, and that what they make by hand is what torch.save makes.
#include "tests/convert/support.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/crc32.hpp"
#include "minnow/minnow.hpp"
#include "model/format.hpp"
#include "tools/commands.hpp"
#include "tools/convert/checkpoint.hpp"

namespace minnow::convert::test {

std::string comparable_model(const std::string& path) {
  const std::string bytes = read_file(path);
  std::vector<std::uint64_t> aligned((bytes.size() + 15) / 16 * 2);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  const Span<const std::byte> file(reinterpret_cast<const std::byte*>(aligned.data()), bytes.size());
  Model model;
  Fault fault;
  const bool opened = Model::open(file, &model, &fault) == Status::ok;
  REQUIRE_MESSAGE(opened, path, ": ", fault.what);
  const bool verified = model.verify(&fault) == Status::ok;
  CHECK_MESSAGE(verified, path, ": ", fault.what);
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::vector<TensorEntry> entries(header.tensor_count);
  std::memcpy(entries.data(), &bytes[header.header_bytes], entries.size() * sizeof(TensorEntry));
  for (TensorEntry& entry : entries) entry.offset -= header.data_offset;
  return bytes.substr(offsetof(FileHeader, config), sizeof(Config)) + raw(entries) +
         bytes.substr(header.tokenizer_offset, header.tokenizer_bytes) + bytes.substr(header.data_offset);
}

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  REQUIRE(out.good());
}

std::size_t from_proc(const char* key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key, 0) == 0) return std::stoul(line.substr(std::strlen(key)));
  }
  return 0;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), path);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

std::string number(std::uint64_t value, unsigned bytes) {
  std::string out;
  for (unsigned i = 0; i < bytes; ++i) out += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  return out;
}

ZipMaker::Entry& ZipMaker::add(const std::string& name, const std::string& data) {
  entries.emplace_back();
  entries.back().name = name;
  entries.back().data = data;
  entries.back().crc = crc32(0, data.data(), data.size());
  return entries.back();
}

std::vector<ZipMaker::Piece> ZipMaker::pieces() const {
  std::vector<Piece> out(1, Piece{"", 0});
  std::string directory;
  std::uint64_t at = 0;
  const auto append = [&](const std::string& bytes) {
    out.back().data += bytes;
    at += bytes.size();
  };
  for (const Entry& e : entries) {
    const std::string& local = e.local_name.empty() ? e.name : e.local_name;
    const std::uint64_t header = e.header_offset == UINT64_MAX ? at : e.header_offset;
    const std::uint64_t bytes = e.bytes == UINT64_MAX ? e.data.size() + e.hole : e.bytes;
    const std::uint64_t stored = e.method == 8 ? e.data.size() : bytes;
    const std::size_t padding = (64 - (at + 30 + local.size() + 4) % 64) % 64;
    append("PK\x03\x04" + number(0, 2) + number(e.flags, 2) + number(e.method, 2) + number(0, 4) + number(0, 8) +
           number(0, 4) + number(local.size(), 2) + number(4 + padding, 2) + local + "FB" + number(padding, 2) +
           std::string(padding, 'Z'));
    append(e.data);
    out.back().hole = e.hole;
    out.push_back({"", 0});
    at += e.hole;
    append("PK\x07\x08" + number(e.crc, 4) + number(stored, 4) + number(bytes, 4));
    const std::string extra =
        zip64_sizes ? number(1, 2) + number(24, 2) + number(bytes, 8) + number(stored, 8) + number(header, 8) : "";
    const auto narrow = [&](std::uint64_t value) { return number(zip64_sizes ? 0xffffffff : value, 4); };
    directory += "PK\x01\x02" + number(0, 4) + number(e.flags, 2) + number(e.method, 2) + number(0, 4) +
                 number(e.crc, 4) + narrow(stored) + narrow(bytes) + number(e.name.size(), 2) +
                 number(extra.size(), 2) + number(0, 2) + number(0, 8) + narrow(header) + e.name + extra;
  }
  const std::uint64_t directory_at = at;
  const std::uint64_t count = directory_entries == UINT64_MAX ? entries.size() : directory_entries;
  append(directory);
  const std::uint64_t end64_at = at;
  if (zip64_end) {
    append("PK\x06\x06" + number(44, 8) + number(0, 4) + number(0, 8) + number(count, 8) + number(count, 8) +
           number(directory.size(), 8) + number(directory_at, 8));
    append("PK\x06\x07" + number(0, 4) + number(end64_at, 8) + number(1, 4));
  }
  const auto narrow = [&](std::uint64_t value, unsigned bytes) {
    return number(zip64_sizes ? 0xffffffff : value, bytes);
  };
  append("PK\x05\x06" + number(0, 4) + narrow(count, 2) + narrow(count, 2) + narrow(directory.size(), 4) +
         narrow(directory_at, 4) + number(comment.size(), 2) + comment);
  return out;
}

void ZipMaker::to_file(const std::string& path) const {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  REQUIRE(file >= 0);
  off_t at = 0;
  for (const Piece& piece : pieces()) {
    REQUIRE(pwrite(file, piece.data.data(), piece.data.size(), at) == static_cast<ssize_t>(piece.data.size()));
    at += static_cast<off_t>(piece.data.size() + piece.hole);
  }
  REQUIRE(close(file) == 0);
}

std::string ZipMaker::bytes() const {
  std::string out;
  for (const Piece& piece : pieces()) out += piece.data + std::string(static_cast<std::size_t>(piece.hole), '\0');
  return out;
}

PickleMaker& PickleMaker::integers(const std::vector<std::int64_t>& values) {
  op("(");
  for (const std::int64_t value : values) integer(value);
  return op("t");
}

namespace {

void append_tensor(const HandTensor& t, PickleMaker* p) {
  p->global("torch._utils", "_rebuild_tensor_v2").op("((").text("storage").global("torch", t.storage_class);
  p->text(t.key).text("cpu").integer(t.elements).op("tQ");
  p->integer(t.offset).integers(t.size).integers(t.stride).op("\x89");
  p->global("collections", "OrderedDict").op(")RtR");
}

}  // namespace

std::string pickle_checkpoint(const std::vector<HandTensor>& tensors, std::int64_t n_head, std::string_view more) {
  PickleMaker p;
  p.op("}(").text("model").global("collections", "OrderedDict").op(")R(");
  for (const HandTensor& tensor : tensors) {
    p.text(tensor.name);
    append_tensor(tensor, &p);
  }
  p.op("u").text("model_args").op("}").text("n_head").integer(n_head).op("s").op(more).op("u");
  return p.done();
}

std::string pickle_one_tensor(std::string_view tensor) {
  PickleMaker p;
  return p.op("}").text("model").op("}").text("t").op(tensor).op("ss").done();
}

void make_model(std::int64_t n_layer, std::int64_t n_embd, std::int64_t block_size, std::int64_t vocab_size,
                std::vector<HandTensor>* tensors, ZipMaker* zip) {
  const auto add = [&](const std::string& name, std::vector<std::int64_t> size) {
    HandTensor t;
    t.name = name;
    t.key = std::to_string(tensors->size());
    t.elements = size[0] * (size.size() > 1 ? size[1] : 1);
    t.stride = size.size() > 1 ? std::vector<std::int64_t>{size[1], 1} : std::vector<std::int64_t>{1};
    t.size = std::move(size);
    std::vector<float> values;
    for (std::int64_t i = 0; i < t.elements; ++i) values.push_back(static_cast<float>(i % 251 - 125) / 128.0f);
    zip->add("archive/data/" + t.key, raw(values));
    tensors->push_back(t);
  };
  add("transformer.wte.weight", {vocab_size, n_embd});
  add("transformer.wpe.weight", {block_size, n_embd});
  for (std::int64_t i = 0; i < n_layer; ++i) {
    const std::string h = "transformer.h." + std::to_string(i) + ".";
    add(h + "ln_1.weight", {n_embd});
    add(h + "attn.c_attn.weight", {3 * n_embd, n_embd});
    add(h + "attn.c_proj.weight", {n_embd, n_embd});
    add(h + "ln_2.weight", {n_embd});
    add(h + "mlp.c_fc.weight", {4 * n_embd, n_embd});
    add(h + "mlp.c_proj.weight", {n_embd, 4 * n_embd});
  }
  add("transformer.ln_f.weight", {n_embd});
}

std::string pickle_meta(int symbols) {
  PickleMaker p;
  p.op("}").text("itos").op("}(");
  for (int i = 0; i < symbols; ++i) {
    const int code = 0x80 + i;
    const std::string wide = {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
    p.integer(i).text(i < 26 ? std::string(1, static_cast<char>('a' + i)) : wide);
  }
  return p.op("us").done();
}

namespace {

int call_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"convert"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(&word[0]);
  argv.push_back(nullptr);
  return convert_command(static_cast<int>(words.size()), argv.data());
}

}  // namespace

int convert_into(const std::vector<std::string>& arguments, const std::string& stderr_path) {
  const int file = open(stderr_path.c_str(), O_WRONLY | O_CREAT, 0666);
  if (file < 0 || dup2(file, 2) != 2) return 99;
  const int status = call_command(arguments);
  std::fflush(stderr);
  return status;
}

Outcome convert(const std::vector<std::string>& arguments) {
  std::fflush(stderr);
  std::FILE* const caught = std::tmpfile();
  REQUIRE(caught != nullptr);
  const int saved = dup(2);
  REQUIRE(dup2(fileno(caught), 2) == 2);
  Outcome outcome;
  outcome.status = call_command(arguments);
  std::fflush(stderr);
  dup2(saved, 2);
  close(saved);
  std::rewind(caught);
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, caught)) > 0;) outcome.message.append(buffer, got);
  std::fclose(caught);
  return outcome;
}

int fork_child() {
  std::fflush(nullptr);
  const int process = fork();
  REQUIRE(process >= 0);
  return process;
}

void leave_child(int status) { _exit(status); }

int wait_for(int process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_CASE("convert support: a checkpoint made by hand reads like one of torch.save") {
  const TemporaryFolder folder;
  ZipMaker zip;
  std::vector<HandTensor> tensors;
  make_model(2, 8, 6, 7, &tensors, &zip);
  zip.add("archive/data.pkl", pickle_checkpoint(tensors, 2));
  zip.to_file(folder / "hand.pt");
  CHECK(read_file(folder / "hand.pt") == zip.bytes());
  const auto file = std::make_shared<const InputFile>(folder / "hand.pt");
  const Checkpoint checkpoint = read_torch_checkpoint(file);
  REQUIRE(checkpoint.tensors.size() == 15);
  CHECK(checkpoint.tensors[1].name == "transformer.wpe.weight");
  CHECK(shape_text(checkpoint.tensors[1]) == "[6, 8]");
  CHECK(checkpoint.settings.at("n_head").integer == 2);
  float row[8] = {};
  RowReader(*file, checkpoint.tensors[1]).read(1, 1, row);
  CHECK(row[0] == -117.0f / 128.0f);
}

}  // namespace minnow::convert::test
