#include "tools/bake/carried.hpp"

#include <cerrno>
#include <cstring>

#include "base/crc32.hpp"
#include "tools/own_path.hpp"
#include "tools/system.hpp"

namespace minnow::bake {
namespace {

// Volatile, since `minnow bundle` changes the last character in the copy that it writes. (Not on macOS, where code that
// was changed after it was signed does not run: there a program looks for a trailer at its end.)
const volatile char mark[] = "minnow program, mark 1, carries a model: 0";
constexpr std::size_t kStateAt = sizeof mark - 2;
#if defined(__APPLE__)
constexpr bool kAlwaysLooks = true;
#else
constexpr bool kAlwaysLooks = false;
#endif

constexpr std::string_view kMagic("\x89MNB\r\n\x1a\n", 8);
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kChecksumAt = kTrailerBytes - 4;

void add(std::uint64_t value, unsigned bytes, std::string* out) {
  for (unsigned i = 0; i < bytes; ++i) *out += static_cast<char>(value >> 8 * i & 0xff);
}

std::uint64_t field(std::string_view bytes, std::size_t at, unsigned width) {
  std::uint64_t value = 0;
  for (unsigned i = width; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

constexpr const char* kMakeAgain = "; minnow bundle makes the program again";

// What a program says that could open its own file by none of its paths; `error`: the first one's.
std::string cannot_open(const std::vector<std::string>& paths, int error) {
  const char* remedy = "start it by its path, or mount /proc";
  for (const std::string& path : paths) {
    FileMap map;
    int each = 0;
    system::FileStatus status;
    const bool is_file = system::status_of(path, &status) && status.kind == system::FileStatus::Kind::regular;
    if (!is_file || FileMap::open(path.c_str(), &map, &each) == Status::ok || each != EACCES) continue;
    // It is there, it was executed, and may not be read: of mode 111, say.
    error = each;
    remedy = "it reads the model from there; give it read permission (chmod a+r)";
    break;
  }
  return std::string("the program cannot open its own file: ") + std::strerror(error) + "; " + remedy;
}

std::string_view end_of(const FileMap& map) {
  const Span<const std::byte> bytes = map.bytes();
  const std::size_t taken = bytes.size() < kTrailerBytes ? bytes.size() : kTrailerBytes;
  return {reinterpret_cast<const char*>(bytes.data()) + (bytes.size() - taken), taken};
}

}  // namespace

std::string trailer_bytes(const Trailer& trailer) {
  std::string out(kMagic);
  add(kVersion, 4, &out);
  add(kTrailerBytes, 4, &out);
  for (const std::uint64_t value :
       {trailer.file_bytes, trailer.program_bytes, trailer.model_offset, trailer.model_bytes}) {
    add(value, 8, &out);
  }
  out.append(kChecksumAt - out.size(), '\0');
  add(crc32(0, out.data(), out.size()), 4, &out);
  return out;
}

bool has_trailer(std::string_view end) { return end.size() == kTrailerBytes && end.substr(0, kMagic.size()) == kMagic; }

bool read_trailer(std::string_view end, std::uint64_t file_bytes, Trailer* out, std::string* why) {
  if (!has_trailer(end)) {
    *why = "no model is at its end; the file was cut, or strip removed it";
    return false;
  }
  if (field(end, kChecksumAt, 4) != crc32(0, end.data(), kChecksumAt)) {
    *why = "the last bytes of the file, which say where it is, are damaged";
    return false;
  }
  if (field(end, 8, 4) != kVersion || field(end, 12, 4) != kTrailerBytes) {
    *why = "it was put there by another version of minnow";
    return false;
  }
  const Trailer found = {field(end, 16, 8), field(end, 24, 8), field(end, 32, 8), field(end, 40, 8)};
  const std::uint64_t room = file_bytes - kTrailerBytes;
  const bool fits = found.model_offset <= room && found.model_bytes <= room - found.model_offset &&
                    found.program_bytes <= found.model_offset && found.model_offset % kModelBoundary == 0 &&
                    found.model_bytes != 0;
  if (found.file_bytes != file_bytes || !fits) {
    *why = "the file has " + std::to_string(file_bytes) + " bytes, expected " + std::to_string(found.file_bytes);
    return false;
  }
  *out = found;
  return true;
}

std::string own_mark() {
  std::string out;
  for (std::size_t i = 0; i < kStateAt; ++i) out += mark[i];
  return out;
}

Carried find_carried(const char* argv0, ModelPlace* out, std::string* why) {
  const bool says_so = mark[kStateAt] != '0';
  if (!says_so && !kAlwaysLooks) return Carried::none;
  int first_error = 0;
  bool opened = false;
  const std::vector<std::string> paths = own_paths(argv0);
  for (const std::string& path : paths) {
    FileMap map;
    int error = 0;
    if (FileMap::open(path.c_str(), &map, &error) != Status::ok) {
      if (first_error == 0) first_error = error;
      continue;
    }
    // The first that can be opened is the one to complain of, unless another is the bundle: an emulator may open
    // itself.
    const std::string_view end = end_of(map);
    if (opened && !has_trailer(end)) continue;
    opened = true;
    Trailer trailer;
    if (read_trailer(end, map.bytes().size(), &trailer, why)) {
      out->path = path;
      out->offset = trailer.model_offset;
      out->bytes = trailer.model_bytes;
      return Carried::model;
    }
    *why += kMakeAgain;
    if (has_trailer(end)) return Carried::damaged;
  }
  if (!says_so) return Carried::none;
  if (!opened) *why = cannot_open(paths, first_error);
  return Carried::damaged;
}

}  // namespace minnow::bake
