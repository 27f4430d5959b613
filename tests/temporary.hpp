// A folder that is gone after the test, and the files in it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace minnow::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const std::filesystem::path above = std::filesystem::temp_directory_path();
    std::random_device random;
    std::filesystem::path made;
    do {
      made = above / ("minnow-test-" + std::to_string(random()));
    } while (!std::filesystem::create_directory(made));
    folder_ = made.generic_string();
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return folder_; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string operator/(const std::string& name) const { return path(name); }
  std::vector<std::string> names() const {  // of what is in it, sorted
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      out.push_back(entry.path().filename().string());
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  std::string write(const std::string& name, const std::string& contents) const {
    std::ofstream(path(name), std::ios::binary) << contents;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(path(name), std::ios::binary).rdbuf();
    return out.str();
  }

 private:
  std::string folder_;
};

}  // namespace minnow::test
