// `minnow bake`: a model file as C source or as an object file, to be linked into a program.
#include <cstdio>

#include "tools/bake/baked.hpp"
#include "tools/bake/writing.hpp"
#include "tools/commands.hpp"
#include "tools/options.hpp"

namespace minnow {
namespace bake {
namespace {

constexpr const char* kCommand = "bake";

constexpr std::uint32_t kNoTarget = UINT32_MAX;

struct Arguments {
  std::string model;
  std::string c;
  std::string object;
  std::string name;
  std::uint32_t target = kNoTarget;
  bool has_c = false;
  bool has_object = false;
  bool has_name = false;

  const std::string& output() const { return has_c ? c : object; }
};

std::uint32_t default_target() {
  return own_target() == nullptr ? kNoTarget : static_cast<std::uint32_t>(own_target() - targets().data());
}

bool parse(int argc, char** argv, Arguments* out, int* status) {
  Options options(kCommand, "bake MODEL (--c OUT.c | --object OUT.o) [--name NAME] [--target TARGET]",
                  "Makes a model part of a program. It is an array on a boundary of 64 bytes and needs no file or copy "
                  "at run\ntime:\n\n"
                  "    extern const unsigned char NAME[];    (in C++ inside extern \"C\")\n"
                  "    extern const size_t NAME_size;\n\n"
                  "    minnow_model_open(NAME, NAME_size, memory, sizeof memory, &model, NULL);");
  std::vector<Choice> choices;
  std::string names;
  for (std::uint32_t i = 0; i < targets().size(); ++i) {
    choices.push_back({targets()[i].name, i});
    names += (i == 0 ? "" : i % 6 == 0 ? ",\n                         " : ", ") + std::string(targets()[i].name);
  }
  const std::string target_help = "what the object file is for (" +
                                  std::string(own_target() == nullptr ? "to be given" : own_target()->name) +
                                  "): elf for Linux, BSD and bare\n                         metal, coff for Windows, "
                                  "macho for macOS:\n                         " +
                                  names;
  options.positional("MODEL", &out->model, nullptr);
  options.text("--c", "OUT.c", &out->c, &out->has_c,
               "a source file in C99 that is C++11 too: any compiler, three bytes of text a byte of the model");
  options.text("object", "OUT.o", &out->object, &out->has_object,
               "an object file, which links at once: for large models; needs no compiler or assembler");
  options.text("name", "NAME", &out->name, &out->has_name, "of the array (from the model's file name)");
  options.choice("target", "TARGET", std::move(choices), &out->target, target_help.c_str());
  return options.parse(argc, argv, status);
}

// Fills in the target where none is named.
int check(Arguments* out) {
  const Arguments& arguments = *out;
  if (arguments.has_c == arguments.has_object) {
    return complain(kCommand, "expected one of --c OUT.c and --object OUT.o", kMisused);
  }
  const char* const option = arguments.has_c ? "--c" : "--object";
  if (arguments.output().empty() || arguments.output() == "-") {
    return complain(kCommand, std::string(option) + ": found '" + arguments.output() + "', expected a file's name",
                    kMisused);
  }
  if (arguments.has_c && arguments.target != kNoTarget) {
    return complain(kCommand,
                    "--target: C source is for every machine; expected it with --object OUT.o only; leave it out",
                    kMisused);
  }
  if (arguments.target == kNoTarget) out->target = default_target();
  if (arguments.has_object && arguments.target == kNoTarget) {
    return complain(kCommand, "--target is needed: object files for this machine are not known; see --help", kMisused);
  }
  const char* const fault = arguments.has_name ? name_fault(arguments.name) : nullptr;
  if (fault != nullptr) {
    return complain(
        kCommand,
        "--name: found '" + printable(arguments.name) + "', " + fault + ", such as " + identifier_from(arguments.name),
        kMisused);
  }
  return kDone;
}

void write(const Arguments& arguments, const LoadedModel& loaded) {
  const convert::InputFile input(arguments.model);
  if (input.is_same_file(arguments.output())) {
    throw convert::Refusal("is the model itself; expected another name for the output", arguments.output());
  }
  BakedModel model;
  model.bytes = loaded.bytes;
  model.source = printable(convert::file_name_of(arguments.model));
  model.name = arguments.has_name ? arguments.name : identifier_from(convert::file_name_of(arguments.model));
  model.description = describe(loaded.info);
  convert::OutputFile out(arguments.output());
  if (arguments.has_c) {
    write_c(model, &out);
  } else {
    write_object(model, targets()[arguments.target], &out);
  }
  input.require_unchanged(kWhenChanged);
  const std::string summary =
      convert::concat("minnow ", kCommand, ": wrote ", printable(out.target()), ": ", model.name, " and ", model.name,
                      "_size", arguments.has_c ? "" : std::string(", ") + targets()[arguments.target].name, ", ",
                      out.size(), " bytes; ", model.description, "\n");
  out.commit();
  std::fputs(summary.c_str(), stderr);
}

}  // namespace

int open_verified(const std::string& command, const std::string& path, LoadedModel* out) {
  if (const int status = open_model(command, path, out); status != kDone) return status;
  Fault fault;
  const Status status = out->model.verify(&fault);
  if (status == Status::ok) return kDone;
  return complain(command, out->shown + ": " + to_string(status) + ": " + fault.what + " (at byte " +
                               std::to_string(fault.offset) + ", found " + std::to_string(fault.found) + ")");
}

std::string describe(const ModelInfo& m) {
  return convert::concat(m.n_layer, plural(m.n_layer, " layer"), ", ", m.n_embd, " wide, context ", m.block_size, ", ",
                         to_string(m.type), ", ", m.file_bytes, " bytes");
}

}  // namespace bake

int bake_command(int argc, char** argv) {
  bake::Arguments arguments;
  int status = kDone;
  if (!bake::parse(argc, argv, &arguments, &status)) return status;
  if ((status = bake::check(&arguments)) != kDone) return status;
  LoadedModel model;
  if ((status = bake::open_verified(bake::kCommand, arguments.model, &model)) != kDone) return status;
  return bake::writing(bake::kCommand, arguments.model, [&] { bake::write(arguments, model); });
}

}  // namespace minnow
