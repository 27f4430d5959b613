// The settings of a checkpoint under the names that a family gives them. Depends on checkpoint and family.
#pragma once

#include "tools/convert/checkpoint.hpp"
#include "tools/convert/family.hpp"

namespace minnow::convert {

class NamedSettings {
 public:
  NamedSettings(const Checkpoint& checkpoint, const Family& family) : checkpoint_(checkpoint), family_(family) {}

  // A positive whole number, if it is there. Throws Refusal if it is something else.
  std::optional<std::uint64_t> size(Field field) const;
  std::optional<double> number(Field field) const;
  std::optional<bool> flag(Field field) const;
  std::optional<Activation> activation() const;

  // Refuses what is on and not supported.
  void require_features_off() const;

  // Whether the family's settings have such a field, stated or not.
  bool knows(Field field) const;

  // For messages: "model_args['n_head']", by the family's first name for it where it is absent.
  std::string name_of(Field field) const;

 private:
  struct Found {
    const SettingName* name = nullptr;
    const Setting* setting = nullptr;
  };
  Found find(Field field) const;
  std::string text_of(const SettingName& name) const;

  const Checkpoint& checkpoint_;
  const Family& family_;
};

}  // namespace minnow::convert
