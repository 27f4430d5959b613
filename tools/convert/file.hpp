// Files as the converter needs them: positioned reads of one input, and an output that appears under its name only when
// it is whole. Depends on refusal and on tools/system.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace minnow::convert {

class InputFile {
 public:
  explicit InputFile(const std::string& path);  // throws Refusal
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  // Reads exactly `bytes` bytes. Throws Refusal, also when the file has become shorter.
  void read_at(std::uint64_t offset, void* out, std::size_t bytes) const;
  std::string read_all(std::uint64_t limit) const;

  // Throws Refusal if the file was written to since it was opened. `remedy`: what the user can do then.
  void require_unchanged(const char* remedy = "convert again when training has saved it") const;
  // Whether `path` is this very file, by whatever name.
  bool is_same_file(const std::string& path) const;

 private:
  friend class TemporaryFile;
  InputFile(int descriptor, std::string path);
  bool look();  // false: no regular file

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t device_ = 0;
  std::uint64_t number_ = 0;
  std::int64_t modified_ = 0;
};

// Where a model is written.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void expect(std::uint64_t total) = 0;  // how much it will be, before the first byte
  virtual void append(const void* data, std::size_t bytes) = 0;
  virtual void write_at(std::uint64_t offset, const void* data, std::size_t bytes) = 0;
  virtual std::uint64_t size() const = 0;
};

// Written under another name in the target's folder. commit() gives it the target's name; without it nothing is left.
class OutputFile : public ByteSink {
 public:
  enum class Kind { data, program };  // a program can be executed by all who can read it
  // A symbolic link is followed. Throws Refusal.
  explicit OutputFile(const std::string& target, Kind kind = Kind::data);
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& target() const { return target_; }
  void expect(std::uint64_t) override {}
  void append(const void* data, std::size_t bytes) override;
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes) override;
  std::uint64_t size() const override { return size_; }
  void commit();

 private:
  [[noreturn]] void fail(const char* action);

  std::string target_;
  std::string temporary_;  // empty: nothing to remove
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// Room on disk for what had to be unpacked. It has no name, so nothing can be left behind.
class TemporaryFile {
 public:
  // In `folder`; empty: in the system's. Throws Refusal.
  explicit TemporaryFile(const std::string& folder = {});
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void append(const void* data, std::size_t bytes);
  std::uint64_t size() const { return size_; }
  // What was appended, to be read; `path` names it in messages. Nothing can be appended afterwards.
  std::shared_ptr<const InputFile> finish(const std::string& path);

 private:
  std::string folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// Throws Interrupted once a signal has arrived; see tools/signals.hpp.
void check_interrupted();

bool file_exists(const std::string& path);  // a regular file
bool folder_exists(const std::string& path);
std::vector<std::string> names_in(const std::string& folder);  // ascending; empty if it cannot be read
std::string folder_of(std::string_view path);                  // "." if it has none
std::string file_name_of(std::string_view path);

}  // namespace minnow::convert
