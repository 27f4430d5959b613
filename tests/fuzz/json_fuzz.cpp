// Any bytes as JSON; every value of what is accepted is visited.
#include "tools/convert/json_reader.hpp"
#include "tools/convert/refusal.hpp"

namespace {

using namespace minnow::convert;

// Without recursion, since nothing else here has any.
std::size_t visit(const JsonTree& tree) {
  std::size_t texts = 0;
  std::vector<JsonTree::Items> open;
  const auto enter = [&](JsonId id) {
    if (tree.is(id, JsonKind::text)) texts += tree.text(id).size();
    if (tree.is(id, JsonKind::array) || tree.is(id, JsonKind::object)) open.push_back(tree.items(id));
  };
  enter(tree.root());
  while (!open.empty()) {
    if (open.back().done()) {
      open.pop_back();
    } else {
      enter(open.back().take());
    }
  }
  return texts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const JsonTree tree = read_json(std::string(reinterpret_cast<const char*>(data), size), "the text");
    if (visit(tree) > size) __builtin_trap();
    tree.find(tree.root(), "model");
  } catch (const Refusal&) {
  }
  return 0;
}
