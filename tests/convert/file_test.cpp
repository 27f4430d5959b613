// tools/convert/file.cpp and tools/signals.cpp: an output that is whole or not there, and inputs that are not files.
#include "tools/convert/file.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/convert/support.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/signals.hpp"

namespace minnow::convert::test {

namespace {

template <class Body>
std::string fault_of(Body body) {
  try {
    body();
    return {};
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
}

void write_through(const std::string& target, std::string_view bytes) {
  OutputFile out(target);
  out.append(bytes.data(), bytes.size());
  out.commit();
}

}  // namespace

TEST_CASE("output: under its name only when it is whole") {
  const TemporaryFolder folder;
  write_file(folder / "model", "old");
  {
    OutputFile out(folder / "model");
    out.append("new", 3);
    out.write_at(1, "o", 1);
    CHECK(out.size() == 3);
    CHECK(read_file(folder / "model") == "old");
    CHECK(folder.names().size() == 2);
    out.commit();
    CHECK(read_file(folder / "model") == "now");
  }
  CHECK(folder.names() == std::vector<std::string>{"model"});
  { OutputFile out(folder / "model"); }
  CHECK(read_file(folder / "model") == "now");
  CHECK(folder.names() == std::vector<std::string>{"model"});
}

TEST_CASE("output: keeps the permissions of the file that it replaces") {
  const TemporaryFolder folder;
  write_file(folder / "model", "old");
  chmod((folder / "model").c_str(), 0640);
  write_through(folder / "model", "new");
  struct stat status;
  REQUIRE(stat((folder / "model").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("output: symbolic links are followed, also into nothing, not around in circles") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::create_symlink("sub/real", folder / "link");
  write_through(folder / "link", "one");
  CHECK(read_file(folder / "sub/real") == "one");
  write_through(folder / "link", "two");
  CHECK(read_file(folder / "sub/real") == "two");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  std::filesystem::create_symlink("circle", folder / "circle");
  CHECK(contains(fault_of([&] { write_through(folder / "circle", "x"); }), "without end"));
}

TEST_CASE("output: places where no file can be") {
  const TemporaryFolder folder;
  CHECK(contains(fault_of([&] { write_through(folder.path(), "x"); }), "this is a folder"));
  CHECK(contains(fault_of([&] { write_through("/dev/full", "x"); }), "a pipe or a device"));
  CHECK(contains(fault_of([&] { write_through(folder / "none/x", "x"); }), "cannot be created"));
  CHECK(contains(fault_of([&] { write_through("", "x"); }), "cannot be"));
  // The longest legal name has a neighbour all the same.
  write_through(folder / std::string(255, 'n'), "x");
  CHECK(folder.names().size() == 1);
}

TEST_CASE("output: a file size limit is an error and leaves nothing") {
  const TemporaryFolder folder;
  const int status = in_child([&] {
    const SignalGuard signals;
    const rlimit limit = {1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string fault = fault_of([&] { write_through(folder / "x", std::string(5000, 'x')); });
    return contains(fault, "cannot be written") && contains(fault, "nothing was left behind") ? 7 : 8;
  });
  CHECK(status == 7);
  CHECK(folder.names().empty());
}

TEST_CASE("output: a read-only folder") {
  const TemporaryFolder folder;
  chmod(folder.path().c_str(), 0555);
  const int status = in_child([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return 9;  // root may write everywhere
    return contains(fault_of([&] { write_through(folder / "x", "x"); }), "cannot be created") ? 7 : 8;
  });
  CHECK(status == 7);
  chmod(folder.path().c_str(), 0755);
  CHECK(folder.names().empty());
}

TEST_CASE("input: what is not a file that can be read") {
  const TemporaryFolder folder;
  CHECK(contains(fault_of([&] { InputFile file(folder / "none"); }), "cannot be opened"));
  CHECK(contains(fault_of([&] { InputFile file(folder.path()); }), "this is a folder"));
  CHECK(contains(fault_of([&] { InputFile file("/dev/zero"); }), "a pipe or a device"));
  REQUIRE(mkfifo((folder / "fifo").c_str(), 0666) == 0);
  CHECK(contains(fault_of([&] { InputFile file(folder / "fifo"); }), "a pipe or a device"));
}

TEST_CASE("input: reads beyond the end, changes while it is read") {
  const TemporaryFolder folder;
  write_file(folder / "x", "0123456789");
  const InputFile file(folder / "x");
  char bytes[4] = {};
  file.read_at(6, bytes, 4);
  CHECK(std::string(bytes, 4) == "6789");
  CHECK(contains(fault_of([&] { file.read_at(7, bytes, 4); }), "ends before byte 11"));
  CHECK(file.read_all(10) == "0123456789");
  CHECK(contains(fault_of([&] { file.read_all(9); }), "expected at most 9"));
  file.require_unchanged();
  CHECK(file.is_same_file(folder.path() + "/./x"));
  CHECK_FALSE(file.is_same_file(folder / "y"));
  write_file(folder / "x", "012345678");
  CHECK(contains(fault_of([&] { file.require_unchanged(); }), "was written to"));
}

TEST_CASE("temporary file: has no name, and reads as what was appended") {
  const TemporaryFolder folder;
  std::shared_ptr<const InputFile> input;
  {
    TemporaryFile file(folder.path());
    CHECK(folder.names().empty());
    file.append("0123", 4);
    file.append("456", 3);
    CHECK(file.size() == 7);
    input = file.finish("its/name");
  }
  CHECK(input->path() == "its/name");
  CHECK(input->read_all(7) == "0123456");
  input->require_unchanged();
  { TemporaryFile unused(folder.path()); }
  CHECK(folder.names().empty());
  CHECK(contains(fault_of([&] { TemporaryFile file(folder / "none"); }), "cannot hold a temporary file"));
}

TEST_CASE("signals: SIGINT, SIGTERM and SIGHUP stop the next read or write, and nothing else") {
  const TemporaryFolder folder;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const SignalGuard signals;
    CHECK_NOTHROW(check_interrupted());
    OutputFile out(folder / "x");
    raise(signal);
    CHECK_THROWS_AS(out.append("x", 1), Interrupted);
  }
  CHECK(folder.names().empty());
  const SignalGuard signals;
  CHECK_NOTHROW(check_interrupted());
}

TEST_CASE("signals: the handlers from before come back") {
  const int status = in_child([] {
    signal(SIGTERM, SIG_DFL);
    { const SignalGuard signals; }
    raise(SIGTERM);
    return 0;
  });
  CHECK(status == 128 + SIGTERM);
  const int ignored = in_child([] {
    signal(SIGHUP, SIG_IGN);  // as under nohup
    const SignalGuard signals;
    raise(SIGHUP);
    check_interrupted();
    return 3;
  });
  CHECK(ignored == 3);
}

TEST_CASE("paths") {
  CHECK(folder_of("a/b/c") == "a/b");
  CHECK(folder_of("c") == ".");
  CHECK(folder_of("/c") == "/");
  CHECK(file_name_of("a/b/c") == "c");
  CHECK(file_name_of("c") == "c");
}

}  // namespace minnow::convert::test
