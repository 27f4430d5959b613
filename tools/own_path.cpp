#include "tools/own_path.hpp"

#include <cstdlib>
#include <cstring>

#if defined(__linux__)
#include <sys/auxv.h>
#elif defined(__APPLE__)
#include <mach-o/dyld.h>
#elif defined(_WIN32)
#include <windows.h>
#endif

namespace minnow {
namespace {

// What the system says, whatever argv[0] is.
void add_from_system(std::vector<std::string>* out) {
#if defined(__linux__)
  out->push_back("/proc/self/exe");  // opens also when the file was renamed or removed meanwhile
  // Without /proc: the path that was executed, where argv[0] was the caller's to choose.
  const auto* const executed = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (executed != nullptr) out->push_back(executed);
#elif defined(__APPLE__)
  std::uint32_t bytes = 0;
  _NSGetExecutablePath(nullptr, &bytes);
  std::string path(bytes, '\0');
  if (_NSGetExecutablePath(path.data(), &bytes) == 0) out->push_back(path.c_str());
#elif defined(_WIN32)
  std::wstring wide(32768, L'\0');  // the longest that the system has
  wide.resize(GetModuleFileNameW(nullptr, wide.data(), static_cast<DWORD>(wide.size())));
  const int from = static_cast<int>(wide.size());
  const int bytes = WideCharToMultiByte(CP_UTF8, 0, wide.data(), from, nullptr, 0, nullptr, nullptr);
  std::string path(static_cast<std::size_t>(bytes), '\0');
  WideCharToMultiByte(CP_UTF8, 0, wide.data(), from, path.data(), bytes, nullptr, nullptr);
  if (!path.empty()) out->push_back(path);
#else
  static_cast<void>(out);
#endif
}

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
  std::vector<std::string> out;
  add_from_system(&out);
  if (argv0 != nullptr && *argv0 != '\0') add_from_name(argv0, &out);
  return out;
}

}  // namespace minnow
