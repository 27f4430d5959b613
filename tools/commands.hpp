// The subcommands of the program, one file each. Depends on nothing.
#pragma once

namespace minnow {

struct ModelPlace;

// argv[0] is the name of the subcommand. Each returns the program's exit status: 0 done, 1 failed, 2 misused,
// 130 interrupted.
int run_command(int argc, char** argv);
int convert_command(int argc, char** argv);
int info_command(int argc, char** argv);
int eval_command(int argc, char** argv);
int tokens_command(int argc, char** argv);
int plan_command(int argc, char** argv);
int bench_command(int argc, char** argv);
int bake_command(int argc, char** argv);
int bundle_command(int argc, char** argv);

// `run` of a program that carries its model: the same options, argv[0] is the program's name.
int run_carried(int argc, char** argv, const ModelPlace& model);

}  // namespace minnow
