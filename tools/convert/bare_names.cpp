// Depends on bare_names.
#include "tools/convert/bare_names.hpp"

#include <algorithm>

namespace minnow::convert {

namespace {

constexpr std::string_view kFrontParts[] = {"module", "model", "transformer"};
constexpr std::string_view kInnerParts[] = {"_orig_mod", "_forward_module", "_fsdp_wrapped_module",
                                            "_checkpoint_wrapped_module"};

template <class Parts>
bool is_one_of(std::string_view part, const Parts& parts) {
  return std::find(std::begin(parts), std::end(parts), part) != std::end(parts);
}

}  // namespace

std::string bare_name(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::size_t dot = name.find('.');
    const std::string_view part = name.substr(0, dot);
    const bool last = dot == std::string_view::npos;
    const bool dropped = is_one_of(part, kInnerParts) || (out.empty() && is_one_of(part, kFrontParts));
    if (last || !dropped) out += name.substr(0, last ? dot : dot + 1);
    name.remove_prefix(last ? name.size() : dot + 1);
  }
  return out;
}

bool drop_common_part(std::vector<std::string>* names) {
  if (names->empty()) return false;
  const std::size_t dot = names->front().find('.');
  if (dot == std::string::npos) return false;
  const std::string part = names->front().substr(0, dot + 1);
  for (const std::string& name : *names) {
    if (name.rfind(part, 0) != 0 || name.size() == part.size()) return false;
  }
  for (std::string& name : *names) name = bare_name(std::string_view(name).substr(part.size()));
  return true;
}

}  // namespace minnow::convert
