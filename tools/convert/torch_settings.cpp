// Settings may be a dict, a Namespace or an object of the user's own class: of each, the fields that are plain values.
// Depends on pickle and checkpoint.
#include "tools/convert/torch_settings.hpp"

namespace minnow::convert {

namespace {

// The first that has something to say is meant: 'config' and 'args' may be about the training alone.
constexpr std::string_view kSources[] = {"model_args", "model_config",     "gpt_config", "config",
                                         "hparams",    "hyper_parameters", "args",       "cfg"};
constexpr std::size_t kLongestText = 1000;  // longer ones are no settings, and one may be there many times

// The fields of a dict or of an object's state: a dict, or with slots a pair of dicts. kNoNode: there are none.
NodeId fields_of(const PickleTree& tree, NodeId node) {
  if (tree.is(node, NodeKind::object)) node = tree.child(node, 2);
  if (tree.is(node, NodeKind::tuple)) {
    const NodeId slots = tree.child(node, 1);
    node = tree.is(tree.child(node, 0), NodeKind::dict) ? tree.child(node, 0) : slots;
  }
  return tree.is(node, NodeKind::dict) ? node : kNoNode;
}

Setting read_setting(const PickleTree& tree, NodeId node) {
  Setting out;
  out.kind = Setting::Kind::other;
  if (tree.is(node, NodeKind::none)) {
    out.kind = Setting::Kind::none;
  } else if (tree.real_value(node, &out.real)) {
    out.kind = Setting::Kind::real;
  } else if (tree.is(node, NodeKind::text) && tree.text(node).size() <= kLongestText) {
    out.kind = Setting::Kind::text;
    out.text = std::string(tree.text(node));
  } else if (tree.integer_value(node, &out.integer)) {
    out.kind = tree.is(node, NodeKind::boolean) ? Setting::Kind::boolean : Setting::Kind::integer;
    out.real = static_cast<double>(out.integer);
  }
  return out;
}

}  // namespace

void read_torch_settings(const PickleTree& tree, NodeId holder, Checkpoint* out) {
  for (const std::string_view source : kSources) {
    const NodeId fields = fields_of(tree, tree.find(holder, source));
    if (fields == kNoNode || tree.count(fields) == 0) continue;
    out->settings_source = source;
    for (PickleTree::Items items = tree.items(fields); !items.done();) {
      const NodeId key = items.take();
      const NodeId value = items.take();
      if (!tree.is(key, NodeKind::text) || tree.text(key).size() > kLongestText) continue;
      out->settings[std::string(tree.text(key))] = read_setting(tree, value);
    }
    break;
  }
  const NodeId dataset = tree.find(fields_of(tree, tree.find(holder, "config")), "dataset");
  if (tree.is(dataset, NodeKind::text) && tree.text(dataset).size() <= kLongestText) {
    out->dataset = std::string(tree.text(dataset));
  }
}

}  // namespace minnow::convert
