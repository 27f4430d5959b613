#include "tools/own_path.hpp"

#include <cstdlib>
#include <cstring>

#include "tools/system.hpp"

namespace minnow {
namespace {

// As a shell found it: with a slash as it stands, else in the folders of PATH.
void add_from_name(const char* argv0, std::vector<std::string>* out) {
  if (std::strchr(argv0, '/') != nullptr) {
    out->push_back(argv0);
    return;
  }
  const char* const folders = std::getenv("PATH");
  const std::string all = folders == nullptr ? "" : folders;
  for (std::size_t at = 0; folders != nullptr && at <= all.size();) {
    const std::size_t end = all.find(':', at) == std::string::npos ? all.size() : all.find(':', at);
    out->push_back((end == at ? "." : all.substr(at, end - at)) + "/" + argv0);
    at = end + 1;
  }
}

}  // namespace

std::vector<std::string> own_paths(const char* argv0) {
  std::vector<std::string> out = system::executable_paths();
  if (argv0 != nullptr && *argv0 != '\0') add_from_name(argv0, &out);
  return out;
}

}  // namespace minnow
