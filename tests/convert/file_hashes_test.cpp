// tools/convert/file_hashes.cpp: the hashes of one thread after another, in their order, and how it ends early.
#include "tools/convert/file_hashes.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/convert/support.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/sha256.hpp"
#include "tools/signals.hpp"

namespace minnow::convert::test {

namespace {

using Files = std::vector<std::shared_ptr<const InputFile>>;

Files make_files(const TemporaryFolder& folder, std::size_t count) {
  Files out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string path = folder / std::to_string(i);
    write_file(path, std::string(i * 70000, static_cast<char>('a' + i)));
    out.push_back(std::make_shared<const InputFile>(path));
  }
  return out;
}

std::shared_ptr<const InputFile> huge_file(const TemporaryFolder& folder) {
  write_file(folder / "huge", "x");
  REQUIRE(truncate((folder / "huge").c_str(), off_t{1} << 40) == 0);
  return std::make_shared<const InputFile>(folder / "huge");
}

}  // namespace

TEST_CASE("file hashes: those of the files, in the order of the calls, on a thread or not") {
  const TemporaryFolder folder;
  const Files files = make_files(folder, 4);
  for (const bool beside : {false, true}) {
    FileHashes hashes(beside);
    hashes.start({files[0]});
    hashes.start({});
    hashes.start({files[1], files[2], files[3]});
    std::uint64_t last = 0;
    const std::vector<std::string> got = hashes.finish([&](std::uint64_t done, std::uint64_t total) {
      CHECK(done >= last);
      CHECK(done <= total);
      CHECK(total == 6 * 70000);
      last = done;
    });
    REQUIRE(got.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(got[i] == hash_file(*files[i]));
    if (!beside) CHECK(last == 6 * 70000);
  }
}

TEST_CASE("file hashes: a file that became shorter is refused where the hashes are asked for") {
  const TemporaryFolder folder;
  const Files files = make_files(folder, 3);
  REQUIRE(truncate(files[2]->path().c_str(), 100) == 0);
  for (const bool beside : {false, true}) {
    FileHashes hashes(beside);
    hashes.start({files[1]});
    hashes.start({files[2]});
    try {
      static_cast<void>(hashes.finish({}));
      FAIL("not refused");
    } catch (const Refusal& refusal) {
      CHECK(refusal.path() == files[2]->path());
      CHECK(contains(refusal.what(), "ends before byte"));
    }
  }
}

TEST_CASE("file hashes: nobody waits for what nobody asks for, and a signal ends the wait") {
  const TemporaryFolder folder;
  const auto file = huge_file(folder);  // an hour or more to hash
  { FileHashes(true).start({file}); }
  for (const bool beside : {false, true}) {
    const SignalGuard guard;
    FileHashes hashes(beside);
    hashes.start({file});
    raise(SIGINT);
    CHECK_THROWS_AS(static_cast<void>(hashes.finish({})), Interrupted);
  }
  const SignalGuard forgets_the_signal;
}

}  // namespace minnow::convert::test
