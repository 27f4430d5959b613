// A checkpoint of torch.save: a zip archive with one pickle that refers to storages beside it. Depends on zip, pickle.
#include <map>
#include <set>

#include "base/bits.hpp"
#include "tools/convert/checkpoint.hpp"
#include "tools/convert/pickle.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/zip.hpp"

namespace minnow::convert {

namespace {

struct StorageClass {
  std::string_view name;
  Dtype dtype;
};
constexpr StorageClass kStorageClasses[] = {
    {"torch.FloatStorage", Dtype::f32},     {"torch.DoubleStorage", Dtype::f64}, {"torch.HalfStorage", Dtype::f16},
    {"torch.BFloat16Storage", Dtype::bf16}, {"torch.LongStorage", Dtype::i64},   {"torch.IntStorage", Dtype::i32},
    {"torch.ShortStorage", Dtype::i16},     {"torch.CharStorage", Dtype::i8},    {"torch.ByteStorage", Dtype::u8},
    {"torch.BoolStorage", Dtype::boolean},
};

// Of the archive's names, the one that ends in "/data.pkl".
const ZipEntry& find_pickle(const ZipArchive& zip) {
  const ZipEntry* found = nullptr;
  bool scripted = false;
  constexpr std::string_view kEnding = "/data.pkl";
  for (const ZipEntry& entry : zip.entries()) {
    const std::string_view name = entry.name;
    scripted = scripted || name.find("/code/") != std::string_view::npos;
    if (name.size() <= kEnding.size() || name.substr(name.size() - kEnding.size()) != kEnding) continue;
    if (found != nullptr) {
      refuse("the archive holds both ", quoted(found->name), " and ", quoted(entry.name),
             "; expected one data.pkl; name an archive with one checkpoint");
    }
    found = &entry;
  }
  if (scripted) refuse("this is a TorchScript archive; expected a checkpoint; save model.state_dict() with torch.save");
  if (found == nullptr) {
    refuse("this is a zip archive without a data.pkl; expected a file of torch.save; name the checkpoint itself");
  }
  return *found;
}

constexpr std::size_t kMaxTensors = 1u << 16;

class Reader {
 public:
  Reader(const InputFile& file, const ReadOptions& options)
      : zip_(file, options.check_crcs), options_(options), file_(file) {}

  Checkpoint read() {
    const ZipEntry& entry = find_pickle(zip_);
    folder_ = entry.name.substr(0, entry.name.size() - std::string_view("data.pkl").size());
    require_little_endian();
    tree_ = read_pickle(zip_.read(entry, kMaxPickleBytes), Globals::inert, "data.pkl");
    if (tree_.bytes_read() != entry.bytes) {
      refuse("data.pkl has ", entry.bytes - tree_.bytes_read(),
             " bytes behind its end; expected none; copy or save the ", "file again");
    }
    Checkpoint out;
    read_model(&out);
    if (options_.check_crcs) check_storages(out.tensors);
    read_arguments(&out);
    read_training(&out);
    return out;
  }

 private:
  void require_little_endian() {
    const ZipEntry* const order = zip_.find(folder_ + "byteorder");
    if (order != nullptr && zip_.read(*order, 64) != "little") {
      refuse(
          "the checkpoint was saved on a big-endian machine; expected little-endian; load and save it on another one");
    }
  }

  void read_model(Checkpoint* out) {
    const NodeId root = tree_.root();
    if (!tree_.is(root, NodeKind::dict)) {
      refuse("the checkpoint holds ", PickleTree::kind_name(tree_.kind(root)),
             "; expected the dict that nanoGPT's train.py saves; save {'model': model.state_dict(), ..}");
    }
    const NodeId model = tree_.find(root, "model");
    if (model == kNoNode && tree_.find(root, "optimizer") != kNoNode) {
      refuse("the checkpoint holds an optimizer but no 'model'; expected both; name the file with the weights");
    }
    if (model != kNoNode && !tree_.is(model, NodeKind::dict)) {
      refuse("the checkpoint's 'model' is ", PickleTree::kind_name(tree_.kind(model)),
             "; expected a state dict; save model.state_dict() instead of the model");
    }
    std::set<std::string> names;
    for (PickleTree::Items items = tree_.items(model != kNoNode ? model : root); !items.done();) {
      const NodeId key = items.take();
      const NodeId value = items.take();
      if (!tree_.is(key, NodeKind::text))
        refuse("a tensor's name is ", PickleTree::kind_name(tree_.kind(key)), "; ", kExpectStateDict);
      const std::string name(tree_.text(key));
      if (out->tensors.size() == kMaxTensors) {
        refuse("the model has more than ", kMaxTensors, " tensors; expected a few hundred; name the right file");
      }
      if (!names.insert(name).second) refuse("the tensor ", quoted(name), " is there twice; ", kExpectStateDict);
      out->tensors.push_back(read_tensor(name, value));
    }
  }

  static constexpr std::string_view kExpectStateDict =
      "expected a state dict of named tensors; save {'model': model.state_dict(), ..} with torch.save";

  // Each storage once, in the file's order.
  void check_storages(const std::vector<StoredTensor>& tensors) {
    std::map<std::uint64_t, const ZipEntry*> storages;  // by their place in the file
    std::uint64_t total = 0;
    for (const StoredTensor& tensor : tensors) {
      const ZipEntry* const entry = zip_.find(tensor.storage);
      if (storages.emplace(entry->header_offset, entry).second) total += entry->bytes;
    }
    std::uint64_t done = 0;
    for (const auto& [offset, entry] : storages) {
      zip_.check_crc(*entry, [&](std::uint64_t bytes) {
        done += bytes;
        if (options_.progress) options_.progress(done, total);
      });
    }
  }

  // `name` is for messages.
  StoredTensor read_tensor(const std::string& name, NodeId node) {
    if (tree_.is_call_of(node, "torch._utils._rebuild_parameter")) node = tree_.child(tree_.child(node, 1), 0);
    if (!tree_.is_call_of(node, "torch._utils._rebuild_tensor_v2")) {
      const std::string found = tree_.is(node, NodeKind::object) ? quoted(tree_.global_name(tree_.child(node, 0)))
                                : node == kNoNode                ? std::string("nothing")
                                                                 : std::string(PickleTree::kind_name(tree_.kind(node)));
      refuse(quoted(name), " is made by ", found, "; expected a plain tensor; ",
             "quantised, sparse and subclassed tensors must be saved as plain ones");
    }
    const NodeId arguments = tree_.child(node, 1);
    StoredTensor tensor;
    tensor.name = name;
    read_storage(tree_.child(arguments, 0), &tensor);
    tensor.offset = take_size(name, tree_.child(arguments, 1));
    tensor.rank = read_sizes(name, tree_.child(arguments, 2), tensor.shape);
    if (read_sizes(name, tree_.child(arguments, 3), tensor.stride) != tensor.rank) {
      refuse("the tensor ", quoted(name), " has ", tensor.rank, " dimensions but another number of strides; ",
             kDamaged);
    }
    require_inside(tensor);
    return tensor;
  }

  static constexpr std::string_view kDamaged = "expected an undamaged checkpoint; copy or save the file again";

  // ('storage', class, key, location, elements)
  void read_storage(NodeId node, StoredTensor* tensor) {
    const NodeId id = tree_.is(node, NodeKind::storage) ? tree_.child(node, 0) : kNoNode;
    const NodeId key = tree_.is(id, NodeKind::tuple) ? tree_.child(id, 2) : kNoNode;
    if (!tree_.is(key, NodeKind::text)) refuse("the tensor ", quoted(tensor->name), " has no storage; ", kDamaged);
    const NodeId storage_class = tree_.child(id, 1);
    const StorageClass* known = nullptr;
    for (const StorageClass& each : kStorageClasses) {
      if (tree_.is_global(storage_class, each.name)) known = &each;
    }
    if (known == nullptr) {
      const std::string found = tree_.is(storage_class, NodeKind::global) ? quoted(tree_.global_name(storage_class))
                                                                          : std::string("no class");
      refuse("the tensor ", quoted(tensor->name), " lies in a storage of ", found,
             "; expected floating point numbers; save the weights as float32, float16 or bfloat16");
    }
    tensor->dtype = known->dtype;
    tensor->storage = folder_ + "data/" + std::string(tree_.text(key));
    tensor->storage_elements = take_size(tensor->name, tree_.child(id, 4));
    const ZipEntry* const entry = zip_.find(tensor->storage);
    if (entry == nullptr) {
      refuse("the tensor ", quoted(tensor->name), " lies in ", quoted(tensor->storage), ", which the archive lacks; ",
             kDamaged);
    }
    std::uint64_t bytes = 0;
    if (!checked_multiply(tensor->storage_elements, dtype_bytes(known->dtype), &bytes) || bytes > entry->bytes) {
      refuse("the storage ", quoted(entry->name), " has ", entry->bytes, " bytes; expected ", tensor->storage_elements,
             " numbers of ", dtype_name(known->dtype), "; copy or save the file again");
    }
    tensor->storage_offset = zip_.data_offset(*entry);
  }

  std::uint64_t take_size(const std::string& name, NodeId node) {
    if (!tree_.is(node, NodeKind::integer) || tree_.integer(node) < 0) {
      refuse("the tensor ", quoted(name), " has a size or stride that is negative or no number; ", kDamaged);
    }
    return static_cast<std::uint64_t>(tree_.integer(node));
  }

  // A tuple of sizes; returns how many.
  std::size_t read_sizes(const std::string& name, NodeId node, std::uint64_t* out) {
    if (!tree_.is(node, NodeKind::tuple)) refuse("the tensor ", quoted(name), " has no shape; ", kDamaged);
    if (tree_.count(node) > kMaxRank) {
      refuse("the tensor ", quoted(name), " has ", tree_.count(node), " dimensions; expected at most ", kMaxRank,
             "; this is no GPT");
    }
    std::size_t count = 0;
    for (PickleTree::Items items = tree_.items(node); !items.done();) out[count++] = take_size(name, items.take());
    return count;
  }

  // The last element of the view is inside the storage.
  void require_inside(const StoredTensor& tensor) {
    std::uint64_t last = tensor.offset;
    for (std::size_t i = 0; i < tensor.rank; ++i) {
      std::uint64_t reach = 0;
      if (tensor.shape[i] == 0) refuse("the tensor ", quoted(tensor.name), " is empty; ", kDamaged);
      if (!checked_multiply(tensor.shape[i] - 1, tensor.stride[i], &reach) || !checked_add(last, reach, &last)) {
        last = UINT64_MAX;
        break;
      }
    }
    if (last >= tensor.storage_elements) {
      refuse("the tensor ", quoted(tensor.name), " ", shape_text(tensor), " reaches beyond its storage of ",
             tensor.storage_elements, " elements; ", kDamaged);
    }
  }

  Setting read_setting(NodeId node) {
    Setting out;
    out.kind = Setting::Kind::other;
    if (tree_.is(node, NodeKind::none)) out.kind = Setting::Kind::none;
    if (tree_.is(node, NodeKind::real)) {
      out.kind = Setting::Kind::real;
      out.real = tree_.real(node);
    } else if (tree_.is(node, NodeKind::text)) {
      out.kind = Setting::Kind::text;
      out.text = std::string(tree_.text(node));
    } else if (tree_.integer_value(node, &out.integer)) {
      out.kind = tree_.is(node, NodeKind::boolean) ? Setting::Kind::boolean : Setting::Kind::integer;
      out.real = static_cast<double>(out.integer);
    }
    return out;
  }

  void read_arguments(Checkpoint* out) {
    const NodeId arguments = tree_.find(tree_.root(), "model_args");
    if (tree_.is(arguments, NodeKind::dict)) {
      out->settings_source = "model_args";
      for (PickleTree::Items items = tree_.items(arguments); !items.done();) {
        const NodeId key = items.take();
        const NodeId value = items.take();
        if (tree_.is(key, NodeKind::text)) out->settings[std::string(tree_.text(key))] = read_setting(value);
      }
    }
    const NodeId dataset = tree_.find(tree_.find(tree_.root(), "config"), "dataset");
    if (tree_.is(dataset, NodeKind::text)) out->dataset = std::string(tree_.text(dataset));
  }

  void read_training(Checkpoint* out) {
    std::int64_t iter_num = 0;
    if (const NodeId node = tree_.find(tree_.root(), "iter_num"); node != kNoNode) {
      if (tree_.integer_value(node, &iter_num)) out->iter_num = iter_num;
    }
    const NodeId loss = tree_.find(tree_.root(), "best_val_loss");
    if (tree_.is(loss, NodeKind::real)) {
      out->best_val_loss = tree_.real(loss);
    } else if (tree_.is(loss, NodeKind::object)) {
      const StoredTensor tensor = read_tensor("best_val_loss", loss);
      if (tensor.rank == 0 && is_floating(tensor.dtype)) {
        float value = 0;
        RowReader(file_, tensor).read(0, 1, &value);
        out->best_val_loss = static_cast<double>(value);
      }
    }
    constexpr double kNeverEvaluated = 1e9;  // train.py's start value
    if (out->best_val_loss && !(*out->best_val_loss < kNeverEvaluated)) out->best_val_loss.reset();
  }

  ZipArchive zip_;
  const ReadOptions& options_;
  const InputFile& file_;
  std::string folder_;  // inside the archive, with the slash
  PickleTree tree_;
};

}  // namespace

Checkpoint read_torch_checkpoint(std::shared_ptr<const InputFile> file, const ReadOptions& options) {
  Checkpoint out = Reader(*file, options).read();
  out.files.push_back(std::move(file));
  return out;
}

}  // namespace minnow::convert
