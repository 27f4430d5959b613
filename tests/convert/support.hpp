// For the tests of the converter: archives and pickles made by hand, and the command run with its
// messages caught.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/temporary.hpp"

namespace minnow::convert::test {

using minnow::test::TemporaryFolder;

void write_file(const std::string& path, std::string_view bytes);
std::string read_file(const std::string& path);

// What /proc/self/status says under `key` ("VmHWM:"), in KiB.
std::size_t from_proc(const char* key);

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
inline std::string fixture(const std::string& name) { return "tests/fixtures/" + name; }

// Config, tensor table, tokenizer and weights, after the file was opened as a model and its checksums held; without the
// provenance, which names the source, and what follows from its length.
std::string comparable_model(const std::string& path);

std::string number(std::uint64_t value, unsigned bytes);  // little-endian
template <class T>
std::string raw(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// A zip archive as torch.save writes it: stored entries, sizes behind the data, zip64 records at the end. The fields
// are open so that a test can break them.
struct ZipMaker {
  struct Entry {
    std::string name;
    std::string data;
    std::uint64_t hole = 0;  // zero bytes that follow data, and that to_file() leaves out of the file's blocks
    std::uint32_t crc = 0;   // 0: not recorded
    std::uint16_t method = 0;
    std::uint16_t flags = 0x808;
    std::string local_name;                    // empty: name
    std::uint64_t header_offset = UINT64_MAX;  // as the directory says; UINT64_MAX: the right one
    std::uint64_t bytes = UINT64_MAX;
    // A deflated entry's data are deflate already, and `bytes` is what they inflate to.
  };
  std::vector<Entry> entries;
  std::string comment;
  bool zip64_end = true;     // the records
  bool zip64_sizes = false;  // and all sizes and offsets in zip64 fields
  std::uint64_t directory_entries = UINT64_MAX;

  Entry& add(const std::string& name, const std::string& data);
  void to_file(const std::string& path) const;
  std::string bytes() const;  // holes must be small

 private:
  struct Piece {
    std::string data;
    std::uint64_t hole;
  };
  std::vector<Piece> pieces() const;
};

// The opcodes of protocol 2, in the order of calls.
struct PickleMaker {
  std::string bytes = std::string("\x80\x02", 2);
  PickleMaker& op(std::string_view raw_bytes) { return bytes += raw_bytes, *this; }
  PickleMaker& text(std::string_view s) { return op("X").op(number(s.size(), 4)).op(s); }
  PickleMaker& integer(std::int64_t n) { return op("\x8a\x08").op(number(static_cast<std::uint64_t>(n), 8)); }
  PickleMaker& global(std::string_view module, std::string_view name) {
    return op("c").op(module).op("\n").op(name).op("\n");
  }
  PickleMaker& integers(const std::vector<std::int64_t>& values);  // a tuple
  std::string done() { return bytes + "."; }
};

struct HandTensor {
  std::string name;
  std::string key;  // of the storage
  std::int64_t elements = 0;
  std::vector<std::int64_t> size;
  std::vector<std::int64_t> stride;
  std::int64_t offset = 0;
  std::string storage_class = "FloatStorage";
};
// {'model': {..tensors..}, 'model_args': {..}} as a pickle; `more` puts further keys into the outer dict.
std::string pickle_checkpoint(const std::vector<HandTensor>& tensors, std::int64_t n_head, std::string_view more = {});
// {'model': {'t': tensor}} around what `tensor` leaves on the stack.
std::string pickle_one_tensor(std::string_view tensor);

// A nanoGPT without biases: its tensors with storages of their own, filled with small numbers.
void make_model(std::int64_t n_layer, std::int64_t n_embd, std::int64_t block_size, std::int64_t vocab_size,
                std::vector<HandTensor>* tensors, ZipMaker* zip);

std::string pickle_meta(int symbols);  // itos alone: the lower-case alphabet, then characters of two bytes

struct Outcome {
  int status = -1;
  std::string message;  // stderr
};
// Runs `minnow convert arguments..` in this process.
Outcome convert(const std::vector<std::string>& arguments);

// The same with stderr going to a file; for a child process. Returns the status.
int convert_into(const std::vector<std::string>& arguments, const std::string& stderr_path);

int wait_for(int process);  // its exit status, or 128 + the signal that ended it
int fork_child();           // fork(); a child that does not call leave_child() is a bug
[[noreturn]] void leave_child(int status);

// Runs `body` in a forked child and waits for it.
template <class Body>
int in_child(Body body) {
  const int process = fork_child();
  if (process == 0) leave_child(body());
  return wait_for(process);
}

}  // namespace minnow::convert::test
