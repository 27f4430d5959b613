// The program `minnow`: finds the subcommand and calls it.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "minnow/minnow.hpp"
#include "tools/bake/carried.hpp"
#include "tools/commands.hpp"
#include "tools/load.hpp"
#include "tools/messages.hpp"
#include "tools/options.hpp"
#include "tools/process.hpp"
#include "tools/system.hpp"

namespace {

struct Command {
  const char* name;
  int (*run)(int argc, char** argv);
  const char* summary;
};

constexpr Command kCommands[] = {
    {"run", minnow::run_command, "write text from a model"},
    {"convert", minnow::convert_command, "make a model file from a PyTorch checkpoint"},
    {"info", minnow::info_command, "what is in a model file, the memory it needs, the instruction set in use"},
    {"eval", minnow::eval_command, "the loss of a model on a text"},
    {"tokens", minnow::tokens_command, "text to token ids and back"},
    {"bake", minnow::bake_command, "make a model part of a program: C source or an object file"},
    {"bundle", minnow::bundle_command, "make one program of minnow and a model"},
    {"bench", minnow::bench_command, "speed of a model, and what this machine can do at most"},
    {"plan", minnow::plan_command, "parameters and memory of a model before it is run or trained"},
};

void print_help(std::FILE* to) {
  std::fprintf(to, "usage: minnow COMMAND [arguments]\nSmall GPT-style language models, run from one file.\n\n");
  for (const Command& command : kCommands) std::fprintf(to, "  %-9s %s\n", command.name, command.summary);
  std::fprintf(to, "\n`minnow COMMAND --help` lists the arguments; `minnow --version` prints the version.\n");
}

int unknown_command(const char* word) {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  const std::string_view near = minnow::nearest_name(word, names);
  const std::string shown = minnow::printable(word);
  if (near.empty()) {
    std::fprintf(stderr, "minnow: unknown command '%s' (see minnow --help)\n", shown.c_str());
  } else {
    std::fprintf(stderr, "minnow: unknown command '%s'; did you mean %s?\n", shown.c_str(), near.data());
  }
  return minnow::kMisused;
}

// What a command wrote may still sit in a buffer: a full disk shows here, or a closed pipe, which needs no words.
int finish(int status) {
  if (std::ferror(stdout) == 0) errno = 0;  // else it says why an earlier write failed
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written || status != minnow::kDone) return status;
  if (!minnow::system::nobody_reads(errno)) {
    std::fprintf(stderr, "%s: cannot write to stdout: %s\n", minnow::program_name(), std::strerror(errno));
  }
  return minnow::kFailed;
}

// *chosen: the command that is run, once it is known.
int dispatch(int argc, char** argv, const Command** chosen) {
  if (argc < 2) {
    print_help(stderr);
    return minnow::kMisused;
  }
  const char* const word = argv[1];
  if (std::strcmp(word, "--help") == 0 || std::strcmp(word, "-h") == 0 || std::strcmp(word, "help") == 0) {
    print_help(stdout);
    return minnow::kDone;
  }
  if (std::strcmp(word, "--version") == 0) {
    std::printf("minnow %s\n", minnow::version());
    return minnow::kDone;
  }
  for (const Command& command : kCommands) {
    if (std::strcmp(word, command.name) != 0) continue;
    *chosen = &command;
    return command.run(argc - 1, argv + 1);
  }
  return unknown_command(word);
}

// Of a program that carries a model: the last part of argv[0], which may be anything or nothing.
std::string name_from(const char* argv0) {
  const std::string_view all = argv0 == nullptr ? "" : argv0;
  const std::string name = minnow::printable(all.substr(all.find_last_of("/\\") + 1));
  return name.empty() ? "minnow" : name;
}

int run_program(int argc, char** argv, const Command** chosen) {
  minnow::ModelPlace model;
  std::string why;
  const char* const argv0 = argc > 0 ? argv[0] : nullptr;
  switch (minnow::bake::find_carried(argv0, &model, &why)) {
    case minnow::bake::Carried::none:
      return dispatch(argc, argv, chosen);
    case minnow::bake::Carried::damaged:
      std::fprintf(stderr, "%s: the model of this program cannot be read: %s\n", name_from(argv0).c_str(), why.c_str());
      return minnow::kFailed;
    case minnow::bake::Carried::model:
      break;
  }
  minnow::set_program_name(name_from(argv0));
  model.shown = "the model that it carries";
  return minnow::run_carried(argc, argv, model);
}

// Memory may have run out, so none is asked for.
int fail(const Command* chosen, const char* message) {
  std::fprintf(stderr, "%s%s%s: %s\n", minnow::program_name(), chosen ? " " : "", chosen ? chosen->name : "", message);
  return minnow::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  minnow::start_process_clock();
  minnow::system::prepare_process(&argc, &argv);
  const Command* chosen = nullptr;
  try {
    return finish(run_program(argc, argv, &chosen));
  } catch (const std::bad_alloc&) {
    return fail(chosen, "out of memory; close other programs");
  } catch (const std::exception& error) {
    return fail(chosen, error.what());
  }
}
