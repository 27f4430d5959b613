// FileMap, mapped and read: contents, empty files, what is no file, and no leak of descriptors or mappings.
#include <dirent.h>
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "minnow/hosted.hpp"
#include "tests/temporary.hpp"

namespace minnow {
namespace {

using minnow::test::TemporaryFolder;

std::string text_of(const FileMap& map) {
  return {reinterpret_cast<const char*>(map.bytes().data()), map.bytes().size()};
}

constexpr std::size_t kLargePage = std::size_t{2} << 20;

// What an emulator may take meanwhile, seen 2,500; a thousand leaks of a large page are 512,000.
constexpr std::size_t kSomePages = 20000;

// Pages of address space; 0 if the system does not say.
std::size_t mapped_pages() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
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

TEST_CASE("file_map: what is no regular file is neither mapped nor read, but refused at once, with errno") {
  const TemporaryFolder folder;
  const std::string fifo = folder.path("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const struct {
    std::string path;
    int error;
  } cases[] = {{folder.path("none"), ENOENT}, {folder.path(""), EISDIR}, {"/dev/zero", ENODEV}, {fifo, ENODEV}};
  for (const auto load : {FileMap::open, FileMap::read}) {
    FileMap file;
    REQUIRE(load(folder.write("a", "kept").c_str(), &file, nullptr) == Status::ok);
    for (const auto& c : cases) {
      CAPTURE(c.path);
      int error = 0;
      CHECK(load(c.path.c_str(), &file, &error) == Status::io_error);
      CHECK(error == c.error);
      CHECK(load(c.path.c_str(), &file, nullptr) == Status::io_error);
    }
    CHECK(text_of(file) == "kept");
    CHECK(load(nullptr, &file, nullptr) == Status::bad_argument);
    CHECK(load(fifo.c_str(), nullptr, nullptr) == Status::bad_argument);
    CHECK(load(folder.write("empty", "").c_str(), &file, nullptr) == Status::ok);
    CHECK(file.bytes().empty());
  }
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

TEST_CASE("file_map: read gives the same bytes, on a large page, and they are its own") {
  const TemporaryFolder folder;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, kLargePage, 2 * kLargePage + 12345}) {
    CAPTURE(bytes);
    std::string contents(bytes, '.');
    for (std::size_t i = 0; i < bytes; ++i) contents[i] = static_cast<char>(i * 31 + i / 4096);
    const std::string path = folder.write("a", contents);
    FileMap file;
    REQUIRE(FileMap::read(path.c_str(), &file) == Status::ok);
    CHECK(reinterpret_cast<std::uintptr_t>(file.bytes().data()) % kLargePage == 0);
    REQUIRE(truncate(path.c_str(), 0) == 0);  // would be the end of a mapped one
    CHECK(text_of(file) == contents);
    FileMap moved = std::move(file);
    CHECK(file.bytes().empty());
    CHECK(text_of(moved) == contents);
    REQUIRE(FileMap::open(folder.write("b", "mapped").c_str(), &moved) == Status::ok);
    CHECK(text_of(moved) == "mapped");
  }
}

// Files of sysfs have the size of a page and fewer bytes, like one that became shorter after it was opened.
TEST_CASE("file_map: a file that ends before its size is refused, and what was taken is given back") {
  const char* const path = "/sys/kernel/mm/transparent_hugepage/enabled";
  struct stat info = {};
  if (stat(path, &info) != 0 || info.st_size < 1000) return;
  int error = 0;
  FileMap file;
  CHECK(FileMap::read(path, &file, &error) == Status::io_error);
  CHECK(error == ESTALE);
  const int descriptors = open_descriptors();
  const std::size_t pages = mapped_pages();
  for (int i = 0; i < 1000; ++i) CHECK(FileMap::read(path, &file) == Status::io_error);
  CHECK(mapped_pages() <= pages + kSomePages);
  CHECK(open_descriptors() == descriptors);
}

TEST_CASE("file_map: reading a thousand times leaves nothing open or mapped") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", std::string(10000, 'x'));
  const int descriptors = open_descriptors();
  const std::size_t pages = mapped_pages();
  for (int i = 0; i < 1000; ++i) {
    FileMap file;
    REQUIRE(FileMap::read(path.c_str(), &file) == Status::ok);
  }
  CHECK(open_descriptors() == descriptors);
  CHECK(mapped_pages() <= pages + kSomePages);
}

}  // namespace minnow
