// `minnow bundle`: a program that carries its model runs by itself, wherever it is and whatever it is called; a damaged
// one says so in one line.
#include <sys/stat.h>

#include <filesystem>

#include "tests/tools/child.hpp"
#include "tools/bake/carried.hpp"
#include "tools/own_path.hpp"

namespace minnow {
namespace {

using minnow::test::ModelFile;
using minnow::test::Outcome;
using minnow::test::run_other;
using minnow::test::run_program;
using minnow::test::TemporaryFolder;

struct Bundle {
  ModelFile model;
  std::string path;

  Bundle() : path(model.folder / "app") {
    const Outcome o = run_program({"bundle", model.path, "-o", path});
    REQUIRE(o.status == 0);
    CHECK(o.out.empty());
    CHECK(o.one_line_with("app: "));
  }
  Outcome run(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), path);
    return run_other(path, arguments, input);
  }
  std::size_t size() const { return static_cast<std::size_t>(std::filesystem::file_size(path)); }
  // Where the model is in it, by its trailer.
  bake::Trailer trailer() const {
    const std::string all = model.folder.read("app");
    bake::Trailer out;
    std::string why;
    REQUIRE(bake::read_trailer(std::string_view(all).substr(all.size() - bake::kTrailerBytes), all.size(), &out, &why));
    return out;
  }
  void flip(std::size_t at) const {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 16));
  }
};

mode_t mode_of(const std::string& path) {
  struct stat status = {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

}  // namespace

TEST_CASE("bundle: the program takes the options of run and writes the same") {
  const Bundle bundle;
  const std::vector<std::vector<std::string>> cases = {
      {"-p", "abc", "-n", "20", "--seed", "7"},
      {"-p", "abc", "-n", "20", "--temp", "0", "--no-echo", "--load", "read"},
      {"--ids", "-p", "1 2 3", "-n", "5", "--seed", "1", "--threads", "2", "--load", "map"},
      {"-", "-n", "4", "--seed", "2"},
      {"--start", "cab", "--max_new_tokens=3", "--seed=1", "--samples", "2"},
      {"-p", "abc\t"},
      {"--isa", "no"},
      {"--ctx", "17"},
  };
  for (const std::vector<std::string>& arguments : cases) {
    CAPTURE(arguments[0]);
    std::vector<std::string> words = {"run", bundle.model.path};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const Outcome expected = run_program(words, "ab");
    const Outcome o = bundle.run(arguments, "ab");
    CHECK(o.status == expected.status);
    CHECK(o.out == expected.out);
    std::string err = expected.err;  // but for the program's name
    for (std::size_t at; (at = err.find("minnow run")) != std::string::npos;) err.replace(at, 10, "app");
    CHECK(o.err == err);
  }
  CHECK(bundle.run({"-n", "1"}).status == 0);
}

TEST_CASE("bundle: help, version and misuse speak of the program") {
  const Bundle bundle;
  const Outcome help = bundle.run({"--help"});
  CHECK(help.status == 0);
  CHECK(help.out.find("usage: app [-p TEXT") == 0);
  CHECK(help.out.find("MODEL") == std::string::npos);
  CHECK(help.out.find("minnow run") == std::string::npos);
  CHECK(bundle.run({"--version"}).out == std::string("minnow ") + version() + "\n");
  for (const char* word : {"run", "info", "small.minnow"}) {
    const Outcome o = bundle.run({word});
    CHECK(o.status == 2);
    CHECK(o.one_line_with("app: one argument too many: '"));
  }
  CHECK(
      bundle.run({"--tmep", "1"}).one_line_with("app: unknown option '--tmep'; did you mean --temp? (see app --help)"));
  const Outcome full = run_other(bundle.path, {"app", "--help"}, "", "/dev/full");
  CHECK(full.status == 1);
  CHECK(full.one_line_with("app: cannot write to stdout: No space left on device"));
}

TEST_CASE("bundle: found whatever argv[0] is, through links and PATH, from everywhere") {
  const Bundle bundle;
  const std::vector<std::string> rest = {"-p", "abc", "-n", "9", "--seed", "3"};
  const std::string text = bundle.run(rest).out;
  CHECK(text.size() > 3);
  for (const char* name : {"", "x", "-", "/no/such/place", "/bin/sh", "\x1b[2J", "a/b/"}) {
    CAPTURE(std::string(name));
    std::vector<std::string> words = {name};
    words.insert(words.end(), rest.begin(), rest.end());
    const Outcome o = run_other(bundle.path, words);
    CHECK(o.status == 0);
    CHECK(o.out == text);
  }
  CHECK(run_other(bundle.path, {"\x1b[2J", "x"}).err.find("\\x1b[2J: one argument too many") == 0);
  CHECK(run_other(bundle.path, {"", "x"}).err.find("minnow: one argument too many") == 0);
  CHECK(run_other(bundle.path, {"a/b/c", "x"}).err.find("c: one argument too many") == 0);

  const TemporaryFolder elsewhere;
  std::filesystem::create_symlink(bundle.path, elsewhere / "link");
  const std::string arguments = " -p abc -n 9 --seed 3";
  const std::string folder = bundle.model.folder.path();
  for (const std::string& command :
       {elsewhere / "link" + arguments, "cd " + folder + " && ./app" + arguments,
        "PATH=" + folder + ":$PATH; app" + arguments, "cd / && PATH=" + elsewhere.path() + " && link" + arguments,
        "cp " + bundle.path + " '" + (elsewhere / "a b'\"$'\"'") + "' && '" + (elsewhere / "a b'\"$'\"'") + "'" +
            arguments,
        "exec 9<" + bundle.path + " && env -i /proc/self/fd/9" + arguments}) {
    CAPTURE(command);
    const Outcome o = run_other("/bin/sh", {"sh", "-c", command});
    CHECK(o.status == 0);
    CHECK(o.out == text);
  }
  const std::vector<std::string> paths = own_paths("some/name");
  CHECK(paths.back() == "some/name");
#if defined(__linux__)
  CHECK(paths.size() == 3);  // the second is what was executed, for systems without /proc
  CHECK(std::filesystem::equivalent(paths[0], paths[1]));
#endif
}

TEST_CASE("bundle: the model is on a boundary of all pages, the mark is changed, the rest is the runtime") {
  const Bundle bundle;
  const bake::Trailer trailer = bundle.trailer();
  CHECK(trailer.model_offset % 65536 == 0);
  CHECK(trailer.model_bytes == bundle.model.bytes.size());
  CHECK(trailer.file_bytes == bundle.size());
  const std::string all = bundle.model.folder.read("app");
  std::ostringstream contents;
  contents << std::ifstream(MINNOW_PROGRAM, std::ios::binary).rdbuf();
  const std::string own = contents.str();
  REQUIRE(trailer.program_bytes == own.size());
  std::size_t differences = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (all[i] != own[i]) ++differences, at = i;
  }
  CHECK(differences == 1);
  CHECK(all.compare(at - bake::own_mark().size(), bake::own_mark().size() + 1, bake::own_mark() + "1") == 0);
  const std::string model(reinterpret_cast<const char*>(bundle.model.bytes.data()), bundle.model.bytes.size());
  CHECK(all.compare(static_cast<std::size_t>(trailer.model_offset), model.size(), model) == 0);
}

TEST_CASE("bundle: no bit of a trailer can change unnoticed, and no length") {
  const bake::Trailer trailer = {1'000'000, 70'000, 131'072, 800'000};
  const std::string good = bake::trailer_bytes(trailer);
  REQUIRE(good.size() == bake::kTrailerBytes);
  bake::Trailer out;
  std::string why;
  REQUIRE(bake::read_trailer(good, trailer.file_bytes, &out, &why));
  CHECK(out.model_offset == trailer.model_offset);
  CHECK(out.model_bytes == trailer.model_bytes);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    CAPTURE(bit);
    why.clear();
    CHECK_FALSE(bake::read_trailer(bad, trailer.file_bytes, &out, &why));
    CHECK_FALSE(why.empty());
    CHECK(why.find('\n') == std::string::npos);
  }
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    CHECK_FALSE(bake::read_trailer(good.substr(0, bytes), trailer.file_bytes, &out, &why));
  }
  for (const std::uint64_t size : {64u, 65u, 131'072u, 999'999u, 1'000'001u}) {
    CHECK_FALSE(bake::read_trailer(good, size, &out, &why));
  }
  // With a checksum that holds, and numbers that do not.
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  for (const bake::Trailer& bad : {bake::Trailer{1'000'000, 70'000, 131'072, 0},
                                   {1'000'000, 70'000, 131'072, 868'865},
                                   {1'000'000, 70'000, 131'072, kMost},
                                   {1'000'000, 70'000, kMost - 65'535, 100'000},
                                   {1'000'000, 131'073, 131'072, 800'000},
                                   {1'000'000, 70'000, 131'136, 800'000}}) {
    CHECK_FALSE(bake::read_trailer(bake::trailer_bytes(bad), 1'000'000, &out, &why));
  }
}

TEST_CASE("bundle: a damaged program says so in one line") {
  const Bundle bundle;
  const std::size_t whole = bundle.size();
  const auto model_at = static_cast<std::size_t>(bundle.trailer().model_offset);
  const struct {
    std::size_t at;
    const char* text;
  } flips[] = {{whole - 64, "no model is at its end"},
               {whole - 50, "the last bytes of the file"},
               {whole - 1, "the last bytes of the file"},
               {model_at, "the model that it carries: not a model"},
               {model_at + 110, "the model that it carries: corrupt"}};
  for (const auto& flip : flips) {
    CAPTURE(flip.text);
    bundle.flip(flip.at);
    const Outcome o = bundle.run({"-n", "1"});
    CHECK(o.status == 1);
    CHECK(o.out.empty());
    CHECK(o.one_line_with(flip.text));
    CHECK(o.err.find("app: ") == 0);
    bundle.flip(flip.at);
  }
  CHECK(bundle.run({"-n", "1"}).status == 0);
  std::ofstream(bundle.path, std::ios::app | std::ios::binary) << "x";
  CHECK(bundle.run({"-n", "1"}).one_line_with("no model is at its end"));
  // What is cut here is behind the program: without a part of itself it may not even start.
  for (const std::size_t size : {whole - 1, whole - 64, whole - 65, model_at + 1, model_at}) {
    CAPTURE(whole - size);
    std::filesystem::resize_file(bundle.path, size);
    const Outcome o = bundle.run({"-p", "a"});
    CHECK(o.status == 1);
    CHECK(o.out.empty());
    CHECK(o.one_line_with(
        "app: the model of this program cannot be read: no model is at its end; the file was cut, or strip "
        "removed it; minnow bundle makes the program again"));
  }
}

TEST_CASE("bundle: permissions are those of a program, under the umask") {
  const ModelFile model;
  const auto bundle_with = [&](const char* umask) {
    return run_other("/bin/sh", {"sh", "-c",
                                 std::string("umask ") + umask + "; exec " MINNOW_PROGRAM " bundle " + model.path +
                                     " -o " + (model.folder / "app")});
  };
  CHECK(bundle_with("022").status == 0);
  CHECK(mode_of(model.folder / "app") == 0755);
  std::filesystem::remove(model.folder / "app");
  CHECK(bundle_with("077").status == 0);
  CHECK(mode_of(model.folder / "app") == 0700);
  chmod((model.folder / "app").c_str(), 0640);  // of a file that is replaced, and readers may execute it
  CHECK(bundle_with("022").status == 0);
  CHECK(mode_of(model.folder / "app") == 0750);
}

TEST_CASE("bundle: one that may be executed and not read says that") {
  const Bundle bundle;
  chmod(bundle.path.c_str(), 0111);
  chmod(bundle.model.folder.path().c_str(), 0711);
  const TemporaryFolder folder;
  const int err = open(folder.path("err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(test::kCannotExecute);  // root may read everything
    dup2(err, 2);
    execl(bundle.path.c_str(), "app", "-n", "1", static_cast<char*>(nullptr));
    _exit(test::kCannotExecute);
  }
  Outcome o;
  o.status = test::wait_for(child);
  close(err);
  o.err = folder.read("err");
  CAPTURE(o.err);
  CHECK(o.status == 1);
  CHECK(
      o.one_line_with("open its own file: Permission denied; it reads the model from there; give it read permission"));
}

TEST_CASE("bundle: what was there is replaced") {
  const Bundle bundle;
  CHECK(run_program({"bundle", bundle.model.path, "-o", bundle.path}).status == 0);
  CHECK(bundle.run({"-n", "1"}).status == 0);
}

TEST_CASE("bundle: a full disk leaves nothing") {
  const ModelFile model;
  const Outcome o = run_other(
      "/bin/sh",
      {"sh", "-c", "ulimit -f 100; exec " MINNOW_PROGRAM " bundle " + model.path + " -o " + (model.folder / "app")});
  CHECK(o.status == 1);
  CHECK(o.one_line_with("cannot be written: File too large; nothing was left behind"));
  CHECK(model.folder.names() == std::vector<std::string>{"small.minnow"});
}

}  // namespace minnow
