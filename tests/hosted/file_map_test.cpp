// FileMap: contents, empty files, what is no file, and no leak of descriptors or mappings.
#include <dirent.h>
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "minnow/hosted.hpp"
#include "tests/temporary.hpp"

namespace minnow {
namespace {

using minnow::test::TemporaryFolder;

std::string text_of(const FileMap& map) {
  return {reinterpret_cast<const char*>(map.bytes().data()), map.bytes().size()};
}

int open_descriptors() {
  int count = 0;
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return -1;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

}  // namespace

TEST_CASE("file_map: maps a file, moves, and survives a rename over it") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", "first contents");
  FileMap map;
  REQUIRE(FileMap::open(path.c_str(), &map) == Status::ok);
  CHECK(text_of(map) == "first contents");
  CHECK(reinterpret_cast<std::uintptr_t>(map.bytes().data()) % kAlign == 0);

  const std::string other = folder.write("b", "second");
  REQUIRE(std::rename(other.c_str(), path.c_str()) == 0);
  CHECK(text_of(map) == "first contents");

  FileMap moved = std::move(map);
  CHECK(text_of(moved) == "first contents");
  CHECK(map.bytes().empty());
  REQUIRE(FileMap::open(path.c_str(), &moved) == Status::ok);  // lets go of the old one
  CHECK(text_of(moved) == "second");
  FileMap& self = moved;
  moved = std::move(self);
  CHECK(text_of(moved) == "second");
}

TEST_CASE("file_map: an empty file is an empty span") {
  const TemporaryFolder folder;
  FileMap map;
  CHECK(FileMap::open(folder.write("empty", "").c_str(), &map) == Status::ok);
  CHECK(map.bytes().empty());
}

TEST_CASE("file_map: what is no regular file is refused at once, with errno") {
  const TemporaryFolder folder;
  const std::string fifo = folder.path("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  FileMap map;
  REQUIRE(FileMap::open(folder.write("a", "kept").c_str(), &map) == Status::ok);
  const struct {
    std::string path;
    int error;
  } cases[] = {{folder.path("none"), ENOENT}, {folder.path(""), EISDIR}, {"/dev/zero", ENODEV}, {fifo, ENODEV}};
  for (const auto& c : cases) {
    CAPTURE(c.path);
    int error = 0;
    CHECK(FileMap::open(c.path.c_str(), &map, &error) == Status::io_error);
    CHECK(error == c.error);
    CHECK(FileMap::open(c.path.c_str(), &map) == Status::io_error);
  }
  CHECK(text_of(map) == "kept");
  CHECK(FileMap::open(nullptr, &map) == Status::bad_argument);
  CHECK(FileMap::open(fifo.c_str(), nullptr) == Status::bad_argument);
}

TEST_CASE("file_map: a thousand times leaves nothing open") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", "x");
  const int before = open_descriptors();
  for (int i = 0; i < 1000; ++i) {
    FileMap map;
    REQUIRE(FileMap::open(path.c_str(), &map) == Status::ok);
    CHECK(FileMap::open(folder.path("").c_str(), &map) == Status::io_error);
  }
  CHECK(open_descriptors() == before);
}

}  // namespace minnow
