// `minnow bundle`: a minnow program with a model behind it, one file that runs by itself.
#include <cstdio>
#include <memory>

#include "tools/bake/carried.hpp"
#include "tools/bake/executable.hpp"
#include "tools/bake/writing.hpp"
#include "tools/commands.hpp"
#include "tools/options.hpp"
#include "tools/own_path.hpp"

namespace minnow {
namespace bake {
namespace {

using convert::concat;
using convert::InputFile;
using convert::Refusal;

constexpr const char* kCommand = "bundle";
constexpr std::uint64_t kLargestProgram = std::uint64_t{1} << 29;
constexpr std::size_t kPiece = std::size_t{1} << 20;

struct Arguments {
  std::string model;
  std::string program;  // to be written
  std::string runtime;
  bool has_program = false;
  bool has_runtime = false;
};

bool parse(int argc, char** argv, Arguments* out, int* status) {
  Options options(kCommand, "bundle MODEL -o APP [--runtime FILE]",
                  "Writes a program that carries the model: one file, which takes the options of minnow run. It is a "
                  "copy of a\nminnow program with the model behind it, read in place. It needs the shared libraries "
                  "that this one needs: none,\nif minnow was linked with LDFLAGS=-static. strip removes the model; "
                  "strip the runtime before.");
  options.positional("MODEL", &out->model, nullptr);
  options.text("o", "APP", &out->program, &out->has_program, "the program to write");
  options.text("runtime", "FILE", &out->runtime, &out->has_runtime,
               "the minnow program to copy, also of another machine (this one)");
  if (!options.parse(argc, argv, status)) return false;
  std::string misuse;
  if (!out->has_program) misuse = "-o APP is missing: the name of the program to write";
  if (out->has_program && (out->program.empty() || out->program == "-")) {
    misuse = "-o: found '" + out->program + "', expected a file's name";
  }
  if (out->has_runtime && out->runtime.empty()) misuse = "--runtime: found '', expected a minnow program";
  if (!misuse.empty()) *status = complain(kCommand, misuse, kMisused);
  return misuse.empty();
}

[[noreturn]] void refuse_carrier(const InputFile& file) {
  throw Refusal("carries a model already; expected a minnow program without one; make builds it as build/minnow",
                file.path());
}

// This program's own file: the first path that holds its mark, since under an emulator the system may name the
// emulator.
std::unique_ptr<InputFile> open_own() {
  std::string refusal;
  for (const std::string& path : own_paths(nullptr)) {
    try {
      auto file = std::make_unique<InputFile>(path);
      if (file->read_all(kLargestProgram).find(own_mark()) != std::string::npos) return file;
    } catch (const Refusal& each) {
      if (refusal.empty()) refusal = ": " + std::string(each.what());
    }
  }
  convert::refuse("this program cannot open its own file", refusal, "; name it with --runtime");
}

std::unique_ptr<InputFile> open_runtime(const std::string& path) {
  if (convert::folder_exists(path)) {
    const std::string inside = path + "/minnow";
    throw Refusal("this is a folder; expected a minnow program; " +
                      (convert::file_exists(inside) ? "name " + inside : "make builds one as build/minnow"),
                  path);
  }
  return std::make_unique<InputFile>(path);
}

// The whole file, of which no more than its end is read if it cannot be a runtime.
std::string program_bytes(const InputFile& file) {
  std::string end(file.size() < kTrailerBytes ? 0 : kTrailerBytes, '\0');
  file.read_at(file.size() - end.size(), &end[0], end.size());
  if (has_trailer(end)) refuse_carrier(file);
  if (file.size() > kLargestProgram) {
    throw Refusal(concat("has ", file.size(), " bytes; expected a minnow program, which has at most ", kLargestProgram,
                         "; name build/minnow as make builds it"),
                  file.path());
  }
  return file.read_all(kLargestProgram);
}

struct Runtime {
  std::string bytes;  // the mark says that a model is carried
  Executable kind;
};

Runtime read_runtime(const InputFile& file) {
  Runtime out;
  out.bytes = program_bytes(file);
  out.kind = describe_executable(out.bytes);
  if (out.kind.format == Executable::Format::none) {
    throw Refusal("this is no program for Linux, Windows or macOS; expected a minnow program; make builds one",
                  file.path());
  }
  const std::string mark = own_mark();
  const std::size_t at = out.bytes.find(mark);
  if (at == std::string::npos || at + mark.size() == out.bytes.size()) {
    const std::string first_words = mark.substr(0, mark.rfind(','));
    throw Refusal(concat("this ", out.kind.description,
                         " program is no minnow that can carry a model; expected one with the text '", first_words,
                         "' in it; make builds it as build/minnow"),
                  file.path());
  }
  if (out.bytes.find(mark, at + 1) != std::string::npos) {
    throw Refusal("holds minnow's mark twice; expected a minnow program as make builds it", file.path());
  }
  char& state = out.bytes[at + mark.size()];
  if (state != '0') refuse_carrier(file);
  if (out.kind.format != Executable::Format::macho) state = '1';
  return out;
}

void write(const Arguments& arguments, const LoadedModel& model) {
  const InputFile model_file(arguments.model);
  const std::unique_ptr<InputFile> runtime_file = arguments.has_runtime ? open_runtime(arguments.runtime) : open_own();
  const bool is_model = model_file.is_same_file(arguments.program);
  if (is_model || runtime_file->is_same_file(arguments.program)) {
    throw Refusal(concat("is the ", is_model ? "model" : "runtime", " itself; expected another name for the program"),
                  arguments.program);
  }
  const Runtime runtime = read_runtime(*runtime_file);
  convert::OutputFile out(arguments.program, convert::OutputFile::Kind::program);
  const auto pad_to = [&](std::uint64_t boundary) {
    const std::string zeros(static_cast<std::size_t>((boundary - out.size() % boundary) % boundary), '\0');
    out.append(zeros.data(), zeros.size());
  };
  out.append(runtime.bytes.data(), runtime.bytes.size());
  pad_to(kModelBoundary);
  Trailer trailer;
  trailer.program_bytes = runtime.bytes.size();
  trailer.model_offset = out.size();
  trailer.model_bytes = model.bytes.size();
  for (std::size_t at = 0; at < model.bytes.size(); at += kPiece) {
    const std::size_t left = model.bytes.size() - at;
    out.append(model.bytes.data() + at, left < kPiece ? left : kPiece);
  }
  pad_to(kTrailerBytes);
  trailer.file_bytes = out.size() + kTrailerBytes;
  out.append(trailer_bytes(trailer).data(), kTrailerBytes);
  model_file.require_unchanged(kWhenChanged);
  runtime_file->require_unchanged(kWhenChanged);
  const std::string summary =
      concat("minnow ", kCommand, ": wrote ", printable(out.target()), ": ", runtime.kind.description, " program",
             runtime.kind.needs_libraries ? ", linked dynamically" : "", ", ", out.size(), " bytes; ",
             describe(model.info), "\n");
  out.commit();
  std::fputs(summary.c_str(), stderr);
}

}  // namespace
}  // namespace bake

int bundle_command(int argc, char** argv) {
  bake::Arguments arguments;
  int status = kDone;
  if (!bake::parse(argc, argv, &arguments, &status)) return status;
  LoadedModel model;
  if ((status = bake::open_verified(bake::kCommand, arguments.model, &model)) != kDone) return status;
  return bake::writing(bake::kCommand, arguments.model, [&] { bake::write(arguments, model); });
}

}  // namespace minnow
