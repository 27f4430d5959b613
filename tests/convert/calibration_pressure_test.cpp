// `minnow convert --type q4` while it calibrates: signals, no room on the disk, and its memory.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstring>
#include <fstream>

#include "minnow/minnow.hpp"
#include "model/format.hpp"
#include "tests/convert/support.hpp"
#include "tests/tools/child.hpp"

namespace minnow::convert::test {

namespace {

const std::string kRandom = fixture("random-2x48/ckpt.pt");  // block_size 24, 37 symbols

// How far a calibration is when it is interrupted: long after its output was opened, long before its end.
bool wait_for_seconds_of_cpu(int process, double seconds) {
  const std::string stat = "/proc/" + std::to_string(process) + "/stat";
  for (;;) {
    std::ifstream in(stat);
    std::string text;
    std::getline(in, text);
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos || name_end + 2 >= text.size() || text[name_end + 2] == 'Z') return false;
    std::size_t at = name_end + 1;
    for (int field = 2; field < 13; ++field) at = text.find(' ', at + 1);  // to the one before utime
    const double ticks = std::stod(text.substr(at + 1));
    if (ticks / static_cast<double>(sysconf(_SC_CLK_TCK)) >= seconds) return true;
    usleep(2000);
  }
}

}  // namespace

TEST_CASE("calibration: SIGINT while it samples or rounds leaves nothing behind and the old model in place") {
  const TemporaryFolder folder;
  write_file(folder / "ids.bin", std::string(std::size_t{2} << 20, '\0'));
  const std::vector<std::vector<std::string>> ways = {
      {"--calibrate", "self"},               // it samples for many seconds
      {"--calibrate", folder / "ids.bin"}};  // it rounds for many seconds
  for (const std::vector<std::string>& way : ways) {
    write_file(folder / "m", "old");
    const int process = fork_child();
    if (process == 0) {
      std::vector<std::string> arguments = {kRandom,     "-o", folder / "m",         "--type",   "q4",
                                            "--threads", "2",  "--calibrate-tokens", "100000000"};
      arguments.insert(arguments.end(), way.begin(), way.end());
      leave_child(convert_into(arguments, folder / "message"));
    }
    CHECK(wait_for_seconds_of_cpu(process, 0.2));
    kill(process, SIGINT);
    CHECK(wait_for(process) == 130);
    CHECK(contains(read_file(folder / "message"), ": interrupted; nothing was left behind\n"));
    CHECK(folder.names() == std::vector<std::string>{"ids.bin", "m", "message"});
    CHECK(read_file(folder / "m") == "old");
  }
}

TEST_CASE("calibration: no room for the model leaves nothing") {
  const TemporaryFolder folder;
  for (const rlim_t limit : {rlim_t{0}, rlim_t{3000}, rlim_t{30000}}) {
    const int status = in_child([&] {
      const rlimit size = {limit, limit};
      setrlimit(RLIMIT_FSIZE, &size);
      return convert_into({kRandom, "-o", folder / "m", "--type", "q4", "--calibrate-tokens", "96"}, "/dev/null");
    });
    CHECK(status == 1);
    CHECK(folder.names().empty());
  }
}

// 1.3 times the weights in f32, three matrices of doubles as wide as the widest input, and 64 MiB, of which few tokens
// need little.
TEST_CASE("calibration: memory" * doctest::skip(minnow::test::kSanitized)) {
  constexpr std::int64_t kEmbd = 448;
  constexpr std::uint64_t kWidest = 4 * kEmbd;
  constexpr std::uint64_t kRoom = std::uint64_t{16} << 20;
  const TemporaryFolder folder;
  ZipMaker zip;
  std::vector<HandTensor> tensors;
  make_model(1, kEmbd, 16, 65, &tensors, &zip);
  std::uint64_t weights = 0;
  for (const ZipMaker::Entry& entry : zip.entries) weights += entry.data.size();
  zip.add("archive/data.pkl", pickle_checkpoint(tensors, 4));
  zip.to_file(folder / "c.pt");
  const int status = in_child([&] {
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak counts from here
    const std::size_t before = from_proc("VmRSS:");
    const std::vector<std::string> arguments = {
        folder / "c.pt", "-o", folder / "m", "--no-text", "--type", "q4", "--threads", "2", "--calibrate-tokens", "64"};
    if (convert_into(arguments, folder / "message") != 0) return 8;
    const std::size_t peak = from_proc("VmHWM:");
    if (before == 0 || peak == 0) return 9;  // no /proc
    return (peak - before) * 1024 <= weights * 13 / 10 + 3 * 8 * kWidest * kWidest + kRoom ? 7 : 6;
  });
  CHECK(status == 7);
  CHECK(contains(read_file(folder / "message"), ", calibrated on 64 tokens of self: loss "));
}

}  // namespace minnow::convert::test
