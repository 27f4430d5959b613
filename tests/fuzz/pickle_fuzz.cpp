// Any bytes as a pickle.
#include "tools/convert/pickle.hpp"
#include "tools/convert/refusal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace minnow::convert;
  try {
    const PickleTree tree = read_pickle(std::string(reinterpret_cast<const char*>(data), size), "pickle");
    if (tree.bytes_read() > size || tree.root() == kNoNode) __builtin_trap();
  } catch (const Refusal&) {
  }
  return 0;
}
