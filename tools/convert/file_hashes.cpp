// Depends on file_hashes, sha256 and hosted's blocked_signals.
#include "tools/convert/file_hashes.hpp"

#include <chrono>
#include <system_error>

#include "hosted/blocked_signals.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/sha256.hpp"

namespace minnow::convert {

void FileHashes::start(const std::vector<std::shared_ptr<const InputFile>>& files) {
  if (files.empty()) return;
  for (const auto& file : files) total_ += file->size();
  batches_.reserve(batches_.size() + 1);  // a future that cannot be kept would wait for its thread
  if (beside_) {
    const BlockedSignals blocked;
    try {
      batches_.push_back(std::async(std::launch::async, [this, files] { return hash(files, false); }));
      return;
    } catch (const std::system_error&) {  // no more threads for this user
    }
  }
  batches_.push_back(std::async(std::launch::deferred, [this, files] { return hash(files, true); }));
}

std::vector<std::string> FileHashes::hash(const std::vector<std::shared_ptr<const InputFile>>& files, bool show) {
  std::vector<std::string> out;
  for (const auto& file : files) {
    std::uint64_t counted = 0;
    out.push_back(hash_file(*file, [&](std::uint64_t done, std::uint64_t) {
      if (stop_) throw Interrupted();
      done_ += done - counted;
      counted = done;
      if (show && progress_) progress_(done_, total_);
    }));
  }
  return out;
}

std::vector<std::string> FileHashes::finish(const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  progress_ = progress;
  std::vector<std::string> out;
  for (auto& batch : batches_) {
    while (batch.wait_for(std::chrono::milliseconds(100)) == std::future_status::timeout) {
      if (progress) progress(done_, total_);
    }
    const std::vector<std::string> hashes = batch.get();
    out.insert(out.end(), hashes.begin(), hashes.end());
  }
  return out;
}

}  // namespace minnow::convert
