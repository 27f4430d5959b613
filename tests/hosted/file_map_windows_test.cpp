// FileMap on Windows: contents, what is no file, and no leak of handles or addresses. The other systems have
// file_map_test.cpp.
#if defined(_WIN32)

#include "hosted/windows.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <utility>

#include "minnow/hosted.hpp"
#include "tests/temporary.hpp"

namespace minnow {
namespace {

using minnow::test::TemporaryFolder;

std::string text_of(const FileMap& map) {
  return {reinterpret_cast<const char*>(map.bytes().data()), map.bytes().size()};
}

DWORD open_handles() {
  DWORD count = 0;
  GetProcessHandleCount(GetCurrentProcess(), &count);
  return count;
}

DWORDLONG free_addresses() {
  MEMORYSTATUSEX status = {};
  status.dwLength = sizeof status;
  GlobalMemoryStatusEx(&status);
  return status.ullAvailVirtual;
}

}  // namespace

TEST_CASE("file_map: maps and reads, to the byte, beyond ASCII") {
  const TemporaryFolder folder;
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, kLargePage, 2 * kLargePage + 12345}) {
    CAPTURE(bytes);
    std::string contents(bytes, '.');
    for (std::size_t i = 0; i < bytes; ++i) contents[i] = static_cast<char>(i * 31 + i / 4096);
    const std::string path = folder.write("a", contents);
    FileMap mapped, read;
    REQUIRE(FileMap::open(path.c_str(), &mapped) == Status::ok);
    REQUIRE(FileMap::read(path.c_str(), &read) == Status::ok);
    CHECK(reinterpret_cast<std::uintptr_t>(mapped.bytes().data()) % kAlign == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(read.bytes().data()) % kLargePage == 0);
    CHECK(text_of(mapped) == contents);
    FileMap moved = std::move(read);
    CHECK(text_of(moved) == contents);
    CHECK(read.bytes().empty());
  }
}

TEST_CASE("file_map: what is no regular file is refused, with errno") {
  const TemporaryFolder folder;
  const struct {
    std::string path;
    int error;
  } cases[] = {{folder / "none", ENOENT}, {folder / "none/none", ENOENT}, {folder.path(), EISDIR}, {"NUL", ENODEV}};
  for (const auto load : {FileMap::open, FileMap::read}) {
    FileMap file;
    REQUIRE(load(folder.write("a", "kept").c_str(), &file, nullptr) == Status::ok);
    for (const auto& c : cases) {
      CAPTURE(c.path);
      int error = 0;
      CHECK(load(c.path.c_str(), &file, &error) == Status::io_error);
      CHECK(error == c.error);
    }
    CHECK(text_of(file) == "kept");
    CHECK(load(folder.write("empty", "").c_str(), &file, nullptr) == Status::ok);
    CHECK(file.bytes().empty());
  }
}

TEST_CASE("file_map: a thousand times leaves nothing open or mapped") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", std::string(10000, 'x'));
  const DWORD handles = open_handles();
  const DWORDLONG addresses = free_addresses();
  for (int i = 0; i < 1000; ++i) {
    FileMap file;
    REQUIRE(FileMap::open(path.c_str(), &file) == Status::ok);
    REQUIRE(FileMap::read(path.c_str(), &file) == Status::ok);
    CHECK(FileMap::open(folder.path().c_str(), &file) == Status::io_error);
  }
  CHECK(open_handles() < handles + 100);
  CHECK(free_addresses() + (DWORDLONG{256} << 20) > addresses);
}

}  // namespace minnow

#endif
