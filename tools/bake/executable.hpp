// What an executable file is for, from its own headers. Depends on nothing.
#pragma once

#include <string>
#include <string_view>

namespace minnow::bake {

struct Executable {
  enum class Format { none, elf, pe, macho };

  Format format = Format::none;
  std::string description;  // "x86_64 ELF"
  bool needs_libraries = false;
};

// format none: `file` is no program that a system starts: an object file, a shared library of Windows, something else.
Executable describe_executable(std::string_view file);

}  // namespace minnow::bake
