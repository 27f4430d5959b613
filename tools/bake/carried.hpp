// The model that a program carries behind its own code, and how it finds it (`minnow bundle`; models/FORMAT.md has the
// bytes). Depends on tools/load.hpp, tools/own_path.hpp and
// tools/system.hpp.
#pragma once

#include <string>
#include <string_view>

#include "tools/load.hpp"

namespace minnow::bake {

// program | zeros | model | zeros | trailer
inline constexpr std::size_t kTrailerBytes = 64;
inline constexpr std::uint64_t kModelBoundary = 65536;  // no system has larger pages

struct Trailer {
  std::uint64_t file_bytes = 0;     // of the whole, the trailer included
  std::uint64_t program_bytes = 0;  // in front
  std::uint64_t model_offset = 0;
  std::uint64_t model_bytes = 0;
};
std::string trailer_bytes(const Trailer& trailer);
// `end`: the last kTrailerBytes of a file of file_bytes. False: *why says what is wrong.
bool read_trailer(std::string_view end, std::uint64_t file_bytes, Trailer* out, std::string* why);
bool has_trailer(std::string_view end);  // whole or damaged

// A text in every minnow program, once; its last character says whether the program carries a model, '0' or '1'.
// Without that one the text is the same in all of them.
std::string own_mark();

enum class Carried { none, model, damaged };
// Whether this program carries a model, and where. damaged: *why is a line for the user. Reads no file where the mark
// says no.
Carried find_carried(const char* argv0, ModelPlace* out, std::string* why);

}  // namespace minnow::bake
