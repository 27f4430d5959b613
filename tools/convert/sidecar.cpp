// Depends on sidecar and refusal.
#include "tools/convert/sidecar.hpp"

#include "tools/convert/json_reader.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

namespace {

constexpr const char* kConfigJson = "config.json";

// Of "model_000200.pt": "meta_000200.json"; empty for other names.
std::string meta_name_of(const std::string& checkpoint) {
  constexpr std::string_view kStart = "model_";
  const std::string name = file_name_of(checkpoint);
  const std::size_t digits_end = name.find_first_not_of("0123456789", kStart.size());
  if (name.rfind(kStart, 0) != 0 || digits_end == kStart.size() || digits_end == std::string::npos) return {};
  return concat("meta_", std::string_view(name).substr(kStart.size(), digits_end - kStart.size()), ".json");
}

Setting read_setting(const JsonTree& tree, JsonId id) {
  Setting out;
  out.kind = Setting::Kind::other;
  switch (tree.kind(id)) {
    case JsonKind::null:
      out.kind = Setting::Kind::none;
      break;
    case JsonKind::boolean:
    case JsonKind::integer:
      out.kind = tree.is(id, JsonKind::boolean) ? Setting::Kind::boolean : Setting::Kind::integer;
      out.integer = tree.integer(id);
      out.real = static_cast<double>(out.integer);
      break;
    case JsonKind::real:
      out.kind = Setting::Kind::real;
      out.real = tree.real(id);
      break;
    case JsonKind::text:
      out.kind = Setting::Kind::text;
      out.text = std::string(tree.text(id));
      break;
    default:
      break;
  }
  return out;
}

// Whether some family gives the number of its layers this name: what only a model's settings say.
bool is_layer_count(std::string_view name) {
  for (const Family& family : families()) {
    for (const SettingName& setting : family.settings) {
      if (setting.field == Field::n_layer && name == setting.name) return true;
    }
  }
  return false;
}

void read_settings(const std::string& path, const std::string& name, Checkpoint* out) {
  const auto file = std::make_shared<const InputFile>(path);
  const JsonTree tree = read_json_file(path);
  const JsonId inner = tree.find(tree.root(), "model_config");
  const JsonId object = inner != kNoJson ? inner : tree.root();
  if (!tree.is(object, JsonKind::object)) return;
  Settings settings;
  bool is_model = false;
  for (JsonTree::Items items = tree.items(object); !items.done();) {
    const std::string key(tree.text(items.take()));
    settings[key] = read_setting(tree, items.take());
    is_model = is_model || is_layer_count(key);
  }
  if (!is_model) return;
  out->settings = std::move(settings);
  out->settings_source = name;
  out->sidecar = name;
  out->files.push_back(file);  // an input like the others: hashed, never overwritten
}

}  // namespace

std::string sidecar_name(const Family& family) {
  switch (family.sidecar) {
    case Sidecar::none:
      return {};
    case Sidecar::config_json:
      return kConfigJson;
    case Sidecar::meta_json:
      return "meta_<step>.json";
  }
  return {};
}

void read_sidecar(const Family& family, Checkpoint* checkpoint) {
  for (const auto& setting : checkpoint->settings) {
    if (is_layer_count(setting.first)) return;
  }
  const std::string& path = checkpoint->files[0]->path();
  const std::string name = family.sidecar == Sidecar::meta_json ? meta_name_of(path) : sidecar_name(family);
  const std::string sidecar = concat(folder_of(path), "/", name);
  if (!name.empty() && file_exists(sidecar)) read_settings(sidecar, name, checkpoint);
}

}  // namespace minnow::convert
