// Depends on named_settings and refusal.
#include "tools/convert/named_settings.hpp"

#include <cmath>

#include "tools/convert/refusal.hpp"

namespace minnow::convert {

namespace {

using Kind = Setting::Kind;

const SettingName* first_name_of(const Family& family, Field field) {
  for (const SettingName& name : family.settings) {
    if (name.field == field) return &name;
  }
  return nullptr;
}

std::string kind_name(const Setting& setting) {
  switch (setting.kind) {
    case Kind::none:
      return "none";
    case Kind::boolean:
      return setting.integer != 0 ? "true" : "false";
    case Kind::integer:
      return "a whole number";
    case Kind::real:
      return "a decimal number";
    case Kind::text:
      return concat("a text, ", quoted(setting.text));
    case Kind::other:
      break;
  }
  return "neither a number nor a text";
}

bool is_whole(const Setting& setting) { return setting.kind == Kind::integer || setting.kind == Kind::boolean; }

}  // namespace

NamedSettings::Found NamedSettings::find(Field field) const {
  for (const SettingName& name : family_.settings) {
    if (name.field != field) continue;
    const auto at = checkpoint_.settings.find(name.name);
    if (at != checkpoint_.settings.end() && at->second.kind != Kind::none) return {&name, &at->second};
  }
  return {};
}

std::string NamedSettings::text_of(const SettingName& name) const {
  const std::string& source = checkpoint_.settings_source;
  if (source.rfind("the ", 0) == 0) return concat(source, "'s ", name.name);  // "the header"
  return concat(source, "['", name.name, "']");
}

bool NamedSettings::knows(Field field) const { return first_name_of(family_, field) != nullptr; }

std::string NamedSettings::name_of(Field field) const {
  const Found found = find(field);
  const SettingName* const name = found.name != nullptr ? found.name : first_name_of(family_, field);
  return name == nullptr ? std::string("the checkpoint") : text_of(*name);
}

std::optional<std::uint64_t> NamedSettings::size(Field field) const {
  const Found found = find(field);
  if (found.setting == nullptr) return std::nullopt;
  const bool whole = found.setting->kind == Kind::integer;
  if (!whole || found.setting->integer <= 0) {
    refuse(text_of(*found.name), " is ", whole ? concat(found.setting->integer) : kind_name(*found.setting),
           "; expected a positive whole number, a size of a model of ", family_.name,
           "; save the settings that the model was trained with");
  }
  return static_cast<std::uint64_t>(found.setting->integer);
}

std::optional<double> NamedSettings::number(Field field) const {
  const Found found = find(field);
  if (found.setting == nullptr) return std::nullopt;
  const bool is_number = found.setting->kind == Kind::real || found.setting->kind == Kind::integer;
  if (!is_number || !std::isfinite(found.setting->real) || found.setting->real < 0) {
    refuse(text_of(*found.name), " is ", is_number ? "below 0 or not finite" : kind_name(*found.setting),
           "; expected a number from 0 on; save the settings again");
  }
  return found.setting->real;
}

std::optional<bool> NamedSettings::flag(Field field) const {
  const Found found = find(field);
  if (found.setting == nullptr) return std::nullopt;
  if (!is_whole(*found.setting)) {
    refuse(text_of(*found.name), " is ", kind_name(*found.setting),
           "; expected true or false; save the settings again");
  }
  return found.setting->integer != 0;
}

std::optional<Activation> NamedSettings::activation() const {
  const Found found = find(Field::activation);
  if (found.setting == nullptr) return std::nullopt;
  std::string known;
  for (const ActivationName& each : activation_names()) {
    if (found.setting->kind == Kind::text && found.setting->text == each.name) return each.activation;
    known += concat(known.empty() ? "" : ", ", each.name);
  }
  refuse(text_of(*found.name), " is ",
         found.setting->kind == Kind::text ? quoted(found.setting->text) : std::string("no name"), "; expected one of ",
         known, "; this activation is not supported");
}

void NamedSettings::require_features_off() const {
  for (const SettingName& name : family_.settings) {
    const auto at = checkpoint_.settings.find(name.name);
    if (at == checkpoint_.settings.end() || at->second.kind == Kind::none) continue;
    const Setting& setting = at->second;
    const bool off = name.field == Field::off ? is_whole(setting) && setting.integer == 0
                     : name.field == Field::whole_windows
                         ? setting.kind == Kind::text && setting.text.find_first_not_of("Ll") == std::string::npos
                         : true;
    if (off) continue;
    refuse("the model has ", name.feature, ", says ", text_of(name), "; expected a model of ", family_.name,
           " without; this feature is not supported");
  }
}

}  // namespace minnow::convert
