// Weights and settings are found by what they are: the state dict is the dict whose values are tensors. Depends on
// torch_tensors and torch_settings.
#include "tools/convert/torch_object.hpp"

#include <set>

#include "tools/convert/refusal.hpp"
#include "tools/convert/torch_settings.hpp"

namespace minnow::convert {

namespace {

constexpr std::string_view kExpectStateDict =
    "expected a state dict of named tensors; save {'model': model.state_dict(), ..} with torch.save";

// Where programs put the weights; where several dicts hold tensors, the first of these is meant.
constexpr std::string_view kModelKeys[] = {"model",  "state_dict", "model_state_dict", "model_state", "weights",
                                           "params", "module"};
constexpr std::size_t kMaxLooked = std::size_t{1} << 21;  // values; a dict may be inside another many times

class Reader {
 public:
  Reader(const PickleTree& tree, TorchStorages* storages) : tree_(tree), storages_(storages) {}

  TorchObject read() {
    const NodeId root = tree_.root();
    if (tree_.is(root, NodeKind::object)) refuse_module("the checkpoint", root);
    if (tree_.is(root, NodeKind::list) && tree_.find(tree_.child(root, 0), "param_groups") != kNoNode) {
      refuse_training_state();
    }
    if (!tree_.is(root, NodeKind::dict)) {
      refuse("the checkpoint holds ", PickleTree::kind_name(tree_.kind(root)),
             "; expected the dict that nanoGPT's train.py saves; save {'model': model.state_dict(), ..}");
    }
    find_weights(root);
    read_weights();
    read_settings(&out_.checkpoint);
    read_training(root);
    return std::move(out_);
  }

 private:
  struct Found {
    std::string key;
    NodeId holder;
    NodeId weights;
  };

  void count_look() {
    if (++looked_ > kMaxLooked) refuse("the checkpoint repeats its values too often; ", kExpectStateDict);
  }

  // A dict of tensors and nothing else.
  bool is_state_dict(NodeId node) {
    if (!tree_.is(node, NodeKind::dict) || tree_.count(node) == 0) return false;
    for (PickleTree::Items items = tree_.items(node); !items.done();) {
      count_look();
      const NodeId key = items.take();
      if (!tree_.is(key, NodeKind::text) || !is_torch_tensor(tree_, items.take())) return false;
    }
    return true;
  }

  // Sets holder_ and weights_.
  void find_weights(NodeId root) {
    weights_ = root;
    if (is_state_dict(root)) return;
    std::vector<NodeId> level = {root};
    for (int depth = 0; depth < 2; ++depth) {
      std::vector<Found> found;
      std::vector<NodeId> next;
      for (const NodeId holder : level) look_into(holder, &found, &next);
      if (!found.empty()) return choose(found);
      level = std::move(next);
    }
    choose_without_tensors(root);
  }

  void look_into(NodeId holder, std::vector<Found>* found, std::vector<NodeId>* inner) {
    for (PickleTree::Items items = tree_.items(holder); !items.done();) {
      count_look();
      const NodeId key = items.take();
      const NodeId value = items.take();
      if (!tree_.is(key, NodeKind::text) || !tree_.is(value, NodeKind::dict) || is_optimizer(tree_.text(key))) continue;
      if (is_state_dict(value)) {
        found->push_back({std::string(tree_.text(key).substr(0, 80)), holder, value});
      } else {
        inner->push_back(value);
      }
    }
  }

  static bool is_optimizer(std::string_view key) { return key.substr(0, 5) == "optim"; }

  void choose(const std::vector<Found>& found) {
    const Found* chosen = nullptr;
    for (const std::string_view key : kModelKeys) {
      for (const Found& each : found) {
        if (chosen == nullptr && each.key == key) chosen = &each;
      }
    }
    if (chosen == nullptr && found.size() > 1) {
      refuse("the checkpoint holds tensors under both ", quoted(found[0].key), " and ", quoted(found[1].key),
             "; expected one model; save {'model': model.state_dict(), ..} of the one you mean");
    }
    if (chosen == nullptr) chosen = &found[0];
    holder_ = chosen->holder;
    weights_ = chosen->weights;
  }

  // Nothing is a plain state dict: what was meant to be one, so that the reader of tensors says what is wrong with it.
  void choose_without_tensors(NodeId root) {
    for (const std::string_view key : kModelKeys) {
      const NodeId node = tree_.find(root, key);
      if (node == kNoNode) continue;
      if (tree_.is(node, NodeKind::object)) refuse_module(concat("the checkpoint's '", key, "'"), node);
      if (!tree_.is(node, NodeKind::dict)) {
        refuse("the checkpoint's '", key, "' is ", PickleTree::kind_name(tree_.kind(node)),
               "; expected a state dict; save model.state_dict() instead of the model");
      }
      if (has_dicts_but_no_tensors(node)) refuse("the checkpoint's '", key, "' holds no tensors; ", kExpectStateDict);
      holder_ = root;
      weights_ = node;
      return;
    }
    bool has_tensors = false, has_optimizer = tree_.find(root, "param_groups") != kNoNode;
    for (PickleTree::Items items = tree_.items(root); !items.done();) {
      const NodeId key = items.take();
      has_tensors = is_torch_tensor(tree_, items.take()) || has_tensors;
      has_optimizer = has_optimizer || (tree_.is(key, NodeKind::text) && is_optimizer(tree_.text(key)));
    }
    if (has_optimizer) refuse_training_state();
    if (!has_tensors) refuse("the checkpoint holds no dict of tensors; ", kExpectStateDict);
  }

  // Dicts, maybe itself, and nothing that a tensor is made of, plain or not.
  bool has_dicts_but_no_tensors(NodeId node) const {
    bool has_dicts = false;
    for (PickleTree::Items items = tree_.items(node); !items.done();) {
      items.take();
      const NodeKind kind = tree_.kind(items.take());
      if (kind == NodeKind::object || kind == NodeKind::storage) return false;
      has_dicts = has_dicts || kind == NodeKind::dict;
    }
    return has_dicts;
  }

  [[noreturn]] static void refuse_training_state() {
    refuse("this is a training-state file: an optimizer but no weights; expected a checkpoint with the model's ",
           "state dict; name the file with the weights");
  }

  // torch.save(model): everything about the class is code that is not here.
  [[noreturn]] void refuse_module(const std::string& what, NodeId node) {
    if (is_torch_tensor(tree_, node)) refuse(what, " is a single tensor; ", kExpectStateDict);
    NodeId type = tree_.child(node, 0);
    if (tree_.is_global(type, "copyreg._reconstructor") || tree_.is_global(type, "copy_reg._reconstructor")) {
      type = tree_.child(tree_.child(node, 1), 0);
    }
    const std::string name = tree_.is(type, NodeKind::global) ? " of " + quoted(tree_.global_name(type)) : "";
    refuse(what, " is a whole object", name, "; expected a state dict; load it with its own program and save ",
           "{'model': model.state_dict(), ..}");
  }

  void read_weights() {
    std::set<std::string> names;
    for (PickleTree::Items items = tree_.items(weights_); !items.done();) {
      const NodeId key = items.take();
      const NodeId value = items.take();
      if (!tree_.is(key, NodeKind::text)) {
        refuse("a tensor's name is ", PickleTree::kind_name(tree_.kind(key)), "; ", kExpectStateDict);
      }
      if (tree_.text(key).size() > kLongestTensorName) refuse("a tensor has a very long name; ", kExpectStateDict);
      const std::string name(tree_.text(key));
      if (out_.checkpoint.tensors.size() == kMaxTensors) {
        refuse("the model has more than ", kMaxTensors, " tensors; expected a few hundred; name the right file");
      }
      if (!names.insert(name).second) refuse("the tensor ", quoted(name), " is there twice; ", kExpectStateDict);
      out_.checkpoint.tensors.push_back(read_torch_tensor(tree_, name, value, storages_));
    }
  }

  void read_settings(Checkpoint* out) {
    for (const NodeId holder : {holder_, tree_.root()}) {
      if (holder == kNoNode || holder == weights_ || !out->settings.empty()) continue;
      read_torch_settings(tree_, holder, out);
    }
  }

  void read_training(NodeId root) {
    if (root == weights_) return;
    std::int64_t iter_num = 0;
    for (const std::string_view key : {"iter_num", "step"}) {
      const NodeId node = tree_.find(root, key);
      if (node == kNoNode || out_.checkpoint.iter_num) continue;
      if (tree_.integer_value(node, &iter_num)) out_.checkpoint.iter_num = iter_num;
    }
    for (const std::string_view key : {"best_val_loss", "val_loss"}) {
      const NodeId loss = tree_.find(root, key);
      if (loss == kNoNode || out_.best_val_loss || out_.checkpoint.best_val_loss) continue;
      double value = 0;
      if (tree_.real_value(loss, &value)) {
        out_.checkpoint.best_val_loss = value;
      } else if (is_torch_tensor(tree_, loss)) {
        const StoredTensor tensor = read_torch_tensor(tree_, std::string(key), loss, storages_);
        if (tensor.rank == 0 && is_floating(tensor.dtype)) out_.best_val_loss = tensor;
      }
    }
  }

  const PickleTree& tree_;
  TorchStorages* storages_;
  NodeId holder_ = kNoNode;  // the dict that holds the state dict; kNoNode: the state dict is all there is
  NodeId weights_ = kNoNode;
  std::size_t looked_ = 0;
  TorchObject out_;
};

}  // namespace

TorchObject read_torch_object(const PickleTree& tree, TorchStorages* storages) { return Reader(tree, storages).read(); }

Checkpoint finish_torch_object(TorchObject object) {
  Checkpoint out = std::move(object.checkpoint);
  if (object.best_val_loss) {
    float value = 0;
    RowReader(out.file_of(*object.best_val_loss), *object.best_val_loss).read(0, 1, &value);
    out.best_val_loss = static_cast<double>(value);
  }
  constexpr double kNeverEvaluated = 1e9;  // train.py's start value
  if (out.best_val_loss && !(*out.best_val_loss < kNeverEvaluated)) out.best_val_loss.reset();
  return out;
}

}  // namespace minnow::convert
