// `minnow convert` under damage and pressure: every byte of the metadata changed, files cut anywhere, no room, signals,
// and an optimizer state that must not be read into memory.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include "minnow/minnow.hpp"
#include "tests/convert/support.hpp"

// A sanitizer keeps what was freed and has its own operator new.
#if defined(__SANITIZE_ADDRESS__)
#define MINNOW_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define MINNOW_TEST_SANITIZED
#endif
#endif

#if !defined(MINNOW_TEST_SANITIZED)
namespace {
std::atomic<std::size_t> allocations_until_failure{0};  // 0: none fails; threads count too
}  // namespace

void* operator new(std::size_t bytes) {
  if (allocations_until_failure != 0 && --allocations_until_failure == 0) throw std::bad_alloc();
  void* const memory = std::malloc(bytes != 0 ? bytes : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// Not inlined: g++ would see free() called on what an operator new gave.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace minnow::convert::test {

namespace {

bool opens(const std::string& path) {
  const std::string bytes = read_file(path);
  std::vector<std::uint64_t> aligned((bytes.size() + 15) / 16 * 2);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  Model model;
  return Model::open({reinterpret_cast<const std::byte*>(aligned.data()), bytes.size()}, &model) == Status::ok &&
         model.verify() == Status::ok;
}

// A small checkpoint whose data.pkl has no checksum, so that damage reaches the pickle reader; where data.pkl begins.
std::string unchecked_checkpoint(std::size_t* pickle_at, std::size_t* pickle_bytes) {
  ZipMaker zip;
  std::vector<HandTensor> tensors;
  make_model(1, 8, 6, 7, &tensors, &zip);
  const std::string pickle = pickle_checkpoint(tensors, 2);
  zip.add("archive/data.pkl", pickle).crc = 0;
  const std::string bytes = zip.bytes();
  *pickle_at = bytes.find(pickle);
  *pickle_bytes = pickle.size();
  return bytes;
}

// Converts `bytes`: an error in one line and no file, or a valid model.
bool survives(const TemporaryFolder& folder, const std::string& bytes) {
  write_file(folder / "c.pt", bytes);
  const Outcome outcome = convert({folder / "c.pt", "--no-text", "-o", folder / "out"});
  const bool there = std::filesystem::exists(folder / "out");
  const bool right = outcome.status == 0 ? there && opens(folder / "out")
                                         : outcome.status == 1 && !there && contains(outcome.message, "; expected ");
  if (there) std::filesystem::remove(folder / "out");
  return right;
}

// A model of about 3 MB and `optimizer_bytes` of optimizer state, which takes no room on disk.
void write_big_checkpoint(const std::string& path, std::uint64_t optimizer_bytes, std::uint64_t* model_bytes) {
  ZipMaker zip;
  zip.zip64_sizes = true;
  std::vector<HandTensor> tensors;
  make_model(1, 256, 64, 65, &tensors, &zip);
  *model_bytes = 0;
  for (const ZipMaker::Entry& entry : zip.entries) *model_bytes += entry.data.size();
  HandTensor state;
  state.name = "exp_avg";
  state.key = "state";
  state.elements = static_cast<std::int64_t>(optimizer_bytes / 4);
  state.size = {state.elements};
  state.stride = {1};
  PickleMaker optimizer;
  const std::string inner = pickle_checkpoint({state}, 1);
  optimizer.bytes.clear();
  optimizer.text("optimizer").op(inner.substr(2, inner.size() - 3));  // without protocol and stop
  zip.add("archive/data.pkl", pickle_checkpoint(tensors, 4, optimizer.bytes));
  zip.add("archive/data/state", "").hole = optimizer_bytes;
  zip.to_file(path);
}

// Waits until the child has opened its output; false if it ended before.
bool wait_until_writing(const TemporaryFolder& folder, int process) {
  for (;;) {
    for (const std::string& name : folder.names()) {
      if (name.rfind(".minnow-", 0) == 0) return true;
    }
    siginfo_t ended = {};
    if (waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0) {
      return false;
    }
  }
}

}  // namespace

TEST_CASE("damage: a checkpoint cut at every byte") {
  const TemporaryFolder folder;
  const std::string whole = read_file(fixture("variants/bfloat16.pt"));
  write_file(folder / "c.pt", whole);
  for (std::size_t size = whole.size(); size-- > 0;) {
    REQUIRE(truncate((folder / "c.pt").c_str(), static_cast<off_t>(size)) == 0);
    const Outcome outcome = convert({folder / "c.pt", "--no-text"});
    CHECK_MESSAGE(outcome.status == 1, size);
    CHECK(contains(outcome.message, "; expected "));
  }
  CHECK(folder.names() == std::vector<std::string>{"c.pt"});
}

TEST_CASE("damage: every byte of the pickle changed") {
  const TemporaryFolder folder;
  std::size_t at = 0;
  std::size_t bytes = 0;
  const std::string whole = unchecked_checkpoint(&at, &bytes);
  REQUIRE(survives(folder, whole));
  for (std::size_t i = 0; i < bytes; ++i) {
    for (const int flip : {0x01, 0x20, 0xff}) {
      std::string broken = whole;
      broken[at + i] = static_cast<char>(broken[at + i] ^ flip);
      CHECK_MESSAGE(survives(folder, broken), i, " ", flip);
    }
  }
}

TEST_CASE("damage: every byte of the central directory and the end records changed") {
  const TemporaryFolder folder;
  std::size_t at = 0;
  std::size_t bytes = 0;
  const std::string whole = unchecked_checkpoint(&at, &bytes);
  for (std::size_t i = whole.find("PK\x01\x02"); i < whole.size(); ++i) {
    for (const int flip : {0x01, 0xff}) {
      std::string broken = whole;
      broken[i] = static_cast<char>(broken[i] ^ flip);
      CHECK_MESSAGE(survives(folder, broken), i, " ", flip);
    }
  }
}

TEST_CASE("pressure: no room for the model leaves nothing") {
  const TemporaryFolder folder;
  for (const rlim_t limit : {rlim_t{0}, rlim_t{100}, rlim_t{3000}, rlim_t{12000}}) {
    const int status = in_child([&] {
      const rlimit size = {limit, limit};
      setrlimit(RLIMIT_FSIZE, &size);
      return convert_into({fixture("variants/plain.pt"), "-o", folder / "m", "--type", "f32"}, "/dev/null");
    });
    CHECK(status == 1);
    CHECK(folder.names().empty());
  }
}

TEST_CASE("pressure: SIGINT and SIGTERM leave nothing behind and the old model in place") {
  const TemporaryFolder folder;
  std::uint64_t model_bytes = 0;
  write_big_checkpoint(folder / "c.pt", std::uint64_t{4} << 30, &model_bytes);
  for (const int signal : {SIGINT, SIGTERM}) {
    write_file(folder / "m", "old");
    const int process = fork_child();
    if (process == 0) {
      leave_child(convert_into({folder / "c.pt", "-o", folder / "m", "--no-text"}, "/dev/null"));
    }
    CHECK(wait_until_writing(folder, process));
    kill(process, signal);  // it now has 4 GiB to hash
    CHECK(wait_for(process) == 130);
    CHECK(folder.names() == std::vector<std::string>{"c.pt", "m"});
    CHECK(read_file(folder / "m") == "old");
  }
}

#if !defined(MINNOW_TEST_SANITIZED)
TEST_CASE("pressure: memory does not grow with the optimizer's state") {
  const TemporaryFolder folder;
  std::uint64_t model_bytes = 0;
  write_big_checkpoint(folder / "c.pt", std::uint64_t{128} << 20, &model_bytes);
  for (const char* type : {"q8", "f32"}) {
    const int status = in_child([&] {
      std::ofstream("/proc/self/clear_refs") << "5";  // the peak counts from here
      const std::size_t before = from_proc("VmRSS:");
      if (convert_into({folder / "c.pt", "-o", folder / "m", "--no-text", "--type", type}, "/dev/null") != 0) return 8;
      const std::size_t peak = from_proc("VmHWM:");
      if (before == 0 || peak == 0) return 9;  // no /proc
      return (peak - before) * 1024 <= model_bytes * 13 / 10 + (std::size_t{16} << 20) ? 7 : 6;
    });
    CHECK(status == 7);
  }
}

TEST_CASE("pressure: every single allocation fails once") {
  const TemporaryFolder folder;
  const std::vector<std::string> arguments = {fixture("variants/plain.pt"), "-o", folder / "m"};
  int status = 1;
  std::size_t failing = 0;
  for (; status == 1 && failing < 100000; ++failing) {
    status = in_child([&] {
      allocations_until_failure = failing + 1;
      try {
        return convert_into(arguments, "/dev/null");
      } catch (const std::bad_alloc&) {  // before the command itself could catch it; the program does
        return 1;
      }
    });
    if (status == 1) REQUIRE(folder.names().empty());
  }
  CHECK(status == 0);  // there were fewer allocations
  CHECK(failing > 100);
  CHECK(opens(folder / "m"));
}
#endif

TEST_CASE("damage: a checkpoint that is written to while it is read") {
  const TemporaryFolder folder;
  std::uint64_t model_bytes = 0;
  write_big_checkpoint(folder / "c.pt", std::uint64_t{256} << 20, &model_bytes);
  const int process = fork_child();
  if (process == 0) {
    leave_child(convert_into({folder / "c.pt", "-o", folder / "m", "--no-text"}, folder / "message"));
  }
  CHECK(wait_until_writing(folder, process));
  kill(process, SIGSTOP);
  const int file = open((folder / "c.pt").c_str(), O_WRONLY);
  CHECK(pwrite(file, "PK\x03\x04", 4, 0) == 4);
  close(file);
  kill(process, SIGCONT);
  CHECK(wait_for(process) == 1);
  CHECK(contains(read_file(folder / "message"), "was written to while it was read"));
  CHECK(folder.names() == std::vector<std::string>{"c.pt", "message"});
}

}  // namespace minnow::convert::test
