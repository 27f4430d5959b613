// A model as part of another program: as C source, or as an object file. Depends on minnow.hpp and tools/convert/file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "minnow/minnow.hpp"
#include "tools/convert/file.hpp"

namespace minnow::bake {

// Both forms define two symbols, to be declared as
//
//     extern const unsigned char NAME[];  // on a boundary of kAlign
//     extern const size_t NAME_size;
struct BakedModel {
  Span<const std::byte> bytes;
  std::string name;         // NAME, an identifier
  std::string source;       // the model's file name, for the comment
  std::string description;  // what it is, in words
};

// C99 that is C++11 too.
void write_c(const BakedModel& model, convert::ByteSink* out);

// The object files that can be written. All hold data only, so that they suit every calling convention.
struct Target {
  enum class Format { elf, coff, macho };

  const char* name;
  Format format;
  bool is_64_bit;
  std::uint32_t machine;  // as the format numbers it: e_machine, Machine, cputype
  std::uint32_t flags;    // ELF: e_flags; Mach-O: cpusubtype
};
const std::vector<Target>& targets();
const Target* own_target();  // what this program itself was built for; null: none of targets()

// Needs no tool: section .rodata (__TEXT,__const of Mach-O) on kAlign, no relocations, no executable stack, and nothing
// that takes CET or BTI from the program.
// Throws Refusal for a model that is too large for the format.
void write_object(const BakedModel& model, const Target& target, convert::ByteSink* out);

// Why a model cannot have this name, as in "found 'int', which .."; null: it can. Letters, digits and _, nothing that C
// or C++ keeps for itself, nothing that the linker would take for minnow's or the C library's.
const char* name_fault(std::string_view name);
// From a file's name: without its ending, _ for what no identifier has, model_ in front where the rest is not free.
std::string identifier_from(std::string_view file_name);

}  // namespace minnow::bake
