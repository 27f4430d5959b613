// Files hashed on a thread beside what else is done with them. Depends on sha256.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "tools/convert/file.hpp"

namespace minnow::convert {

class FileHashes {
 public:
  // `beside`: on a thread of its own; else, and where none can be had, in finish().
  explicit FileHashes(bool beside) : beside_(beside) {}
  ~FileHashes() { stop_ = true; }  // then a batch's future waits for its thread
  FileHashes(const FileHashes&) = delete;
  FileHashes& operator=(const FileHashes&) = delete;

  // Begins with these files, one after the other, beside those of earlier calls.
  void start(const std::vector<std::shared_ptr<const InputFile>>& files);

  // The SHA-256 of every file, in the order of the calls, once all are known. `progress`: bytes hashed, of how many.
  // Throws what reading them threw: Refusal, Interrupted.
  std::vector<std::string> finish(const std::function<void(std::uint64_t, std::uint64_t)>& progress);

 private:
  // `show`: this is finish()'s own thread.
  std::vector<std::string> hash(const std::vector<std::shared_ptr<const InputFile>>& files, bool show);

  bool beside_;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> stop_{false};
  std::function<void(std::uint64_t, std::uint64_t)> progress_;  // of what finish() hashes itself; its thread's
  std::vector<std::future<std::vector<std::string>>> batches_;
};

}  // namespace minnow::convert
