// tools/system.hpp, on each system: files, names beyond ASCII and beyond 260 characters, the process.
#include "tools/system.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/temporary.hpp"

namespace minnow::test {

namespace {

using system::FileStatus;
using Kind = FileStatus::Kind;

#if defined(_WIN32)
constexpr const char* kNothing = "NUL";

// With the prefix that lifts the limit of 260 characters.
std::filesystem::path native(const std::string& path) {
  std::wstring wide = L"\\\\?\\";
  for (const char c : path) wide += c == '/' ? L'\\' : static_cast<wchar_t>(c);
  return wide;
}
#else
constexpr const char* kNothing = "/dev/null";

std::filesystem::path native(const std::string& path) { return path; }
#endif

std::string content_of(const std::string& path) {
  const int file = system::open_to_read(path, system::Pipes::refuse);
  if (file < 0) return "(cannot be opened)";
  char bytes[64];
  const std::int64_t got = system::read_next(file, bytes, sizeof bytes);
  system::close_file(file);
  return std::string(bytes, static_cast<std::size_t>(std::max<std::int64_t>(got, 0)));
}

bool write_new(const std::string& path, const std::string& text) {
  const int file = system::create_file(path, 0666);
  if (file < 0) return false;
  const bool written = system::write_at(file, 0, text.data(), text.size()) == static_cast<std::int64_t>(text.size());
  return system::flush_file(file) && system::close_file(file) && written;
}

}  // namespace

TEST_CASE("system: a file is made, read, replaced and removed, with its bytes as they are") {
  const TemporaryFolder folder;
  const std::string a = folder / "a";
  const std::string b = folder / "b";
  REQUIRE(write_new(a, "one\r\ntwo\n\x1a three"));
  CHECK(content_of(a) == "one\r\ntwo\n\x1a three");
  CHECK(system::create_file(a, 0666) < 0);
  CHECK(errno == EEXIST);
  REQUIRE(write_new(b, "another"));
  CHECK(system::replace_file(b, a));
  system::flush_folder(folder.path());
  CHECK(content_of(a) == "another");
  CHECK(system::open_to_read(b, system::Pipes::refuse) < 0);
  CHECK(errno == ENOENT);
  CHECK(!system::replace_file(b, a));
  CHECK(errno == ENOENT);
  system::remove_file(a);
  CHECK(folder.names().empty());
}

TEST_CASE("system: reads and writes at a place, also beyond 4 GiB; the next byte to read stays where it is told") {
  const TemporaryFolder folder;
  const int file = system::create_nameless(folder.path());
  REQUIRE(file >= 0);
  constexpr std::uint64_t kFar = (std::uint64_t{5} << 30) + 3;
  char two[2] = {};
  CHECK(system::write_at(file, 0, "abcdef", 6) == 6);
  CHECK(system::read_at(file, 4, two, 2) == 2);
  CHECK(std::string(two, 2) == "ef");
  CHECK(system::read_at(file, 6, two, 2) == 0);
  system::set_position(file, 2);
  CHECK(system::position(file) == 2);
  CHECK(system::read_next(file, two, 2) == 2);
  CHECK(std::string(two, 2) == "cd");
  CHECK(system::position(file) == 4);
  CHECK(system::read_at(file, kFar, two, 2) == 0);
#if !defined(_WIN32)  // which would fill the gap
  CHECK(system::write_at(file, kFar, "z", 1) == 1);
  FileStatus status;
  REQUIRE(system::status_of(file, &status));
  CHECK(status.bytes == kFar + 1);
  CHECK(system::read_at(file, kFar, two, 2) == 1);
  CHECK(two[0] == 'z');
#endif
  system::close_file(file);
}

TEST_CASE("system: a nameless file is gone when it is closed, and needs a folder") {
  const TemporaryFolder folder;
  const int file = system::create_nameless(folder.path());
  const int other = system::create_nameless(folder.path());
  REQUIRE(file >= 0);
  REQUIRE(other >= 0);
  CHECK(file != other);
  system::close_file(file);
  system::close_file(other);
  CHECK(folder.names().empty());
  CHECK(system::create_nameless(folder / "none") < 0);
  CHECK(errno == ENOENT);
  CHECK(!system::temporary_folder().empty());
}

TEST_CASE("system: which file it is, and whether it is one") {
  const TemporaryFolder folder;
  const std::string a = folder.write("a", "12345");
  const std::string b = folder.write("b", "12345");
  FileStatus of_a, of_b, again;
  REQUIRE(system::status_of(a, &of_a));
  REQUIRE(system::status_of(b, &of_b));
  REQUIRE(system::status_of(folder / "." + "/a", &again));
  CHECK(of_a.kind == Kind::regular);
  CHECK(of_a.bytes == 5);
  CHECK(of_a.number != of_b.number);
  CHECK(of_a.number == again.number);
  CHECK(of_a.device == again.device);
  CHECK(of_a.modified == again.modified);
  std::filesystem::last_write_time(a, std::filesystem::last_write_time(a) - std::chrono::seconds(2));
  REQUIRE(system::status_of(a, &again));
  CHECK(of_a.modified != again.modified);
  REQUIRE(system::status_of(folder.path(), &again));
  CHECK(again.kind == Kind::folder);
  CHECK(!system::status_of(folder / "none", &again));
  CHECK(errno == ENOENT);
  REQUIRE(system::status_of(kNothing, &again));
  CHECK(again.kind == Kind::other);
}

TEST_CASE("system: names beyond ASCII and paths beyond 260 characters") {
  const TemporaryFolder folder;
  const std::string name = "\xc3\xa9\xe6\x97\xa5 \xf0\x9f\x98\x80";
  REQUIRE(write_new(folder / name, "here"));
  CHECK(content_of(folder / name) == "here");
  const std::vector<std::string> names = system::names_in(folder.path());
  CHECK(std::count(names.begin(), names.end(), name) == 1);
  CHECK(system::names_in(folder / "none").empty());

  std::string deep = folder.path();
  for (int i = 0; i < 8; ++i) {
    deep += "/" + std::string(50, static_cast<char>('a' + i));
    std::filesystem::create_directory(native(deep));
  }
  REQUIRE(deep.size() > 400);
  REQUIRE(write_new(deep + "/file", "deep"));
  CHECK(content_of(deep + "/file") == "deep");
  CHECK(system::replace_file(deep + "/file", deep + "/other"));
  CHECK(content_of(deep + "/other") == "deep");
  const std::vector<std::string> below = system::names_in(deep);
  CHECK(std::count(below.begin(), below.end(), "other") == 1);
  FileStatus status;
  CHECK(system::status_of(deep + "/other", &status));
  const int nameless = system::create_nameless(deep);
  CHECK(nameless >= 0);
  system::close_file(nameless);
  system::remove_file(deep + "/other");
  CHECK(!system::status_of(deep + "/other", &status));
  for (; deep != folder.path(); deep.resize(deep.rfind('/'))) std::filesystem::remove(native(deep));
}

TEST_CASE("system: the process") {
  REQUIRE(!system::executable_paths().empty());
  CHECK(content_of(system::executable_paths()[0]).size() == 64);
  CHECK(system::peak_memory() > 1u << 20);
  CHECK(system::nobody_reads(EPIPE));
  CHECK(!system::nobody_reads(ENOSPC));
  const std::string absolute = system::absolute_path("tests");
  CHECK(absolute.size() > 5);
  CHECK(system::absolute_path(absolute) == absolute);
}

}  // namespace minnow::test
