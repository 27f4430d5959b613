// A locale with a decimal comma, from the system or made for the test. Needs POSIX to make one.
#pragma once

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/temporary.hpp"

namespace minnow::test {

class CommaLocale {
 public:
  CommaLocale() {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "German_Germany.1252"}) {
      if (sets(name)) return;
    }
#if defined(__unix__)
    const std::string made = folder_ / "de_DE.UTF-8";
    if (std::system(("localedef -i de_DE -f UTF-8 " + made + " > /dev/null 2>&1").c_str()) != 0) return;
    setenv("LOCPATH", folder_.path().c_str(), 1);
    path_set_ = true;
    if (!sets("de_DE.UTF-8")) std::fprintf(stderr, "a locale that localedef made cannot be used\n");
#endif
  }
  ~CommaLocale() {
    std::setlocale(LC_ALL, "C");
#if defined(__unix__)
    if (path_set_) unsetenv("LOCPATH");
#endif
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

  // Set for the process as long as this lives; empty: there is none on this system.
  const std::string& name() const { return name_; }

 private:
  bool sets(const char* name) {
    if (std::setlocale(LC_ALL, name) == nullptr || *std::localeconv()->decimal_point != ',') return false;
    name_ = name;
    return true;
  }

  TemporaryFolder folder_;
  std::string name_;
  bool path_set_ = false;
};

}  // namespace minnow::test
