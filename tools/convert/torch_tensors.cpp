// The calls that rebuild tensors, read instead of made. Depends on pickle and tensor_source.
#include "tools/convert/torch_tensors.hpp"

#include "base/bits.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

namespace {

constexpr std::size_t kLongestKey = 256;  // of a storage; keys are numbers of at most 20 digits

struct NamedDtype {
  std::string_view storage;  // behind "torch." or "torch.cuda."
  std::string_view dtype;    // behind "torch."
  Dtype is;
};
constexpr NamedDtype kDtypes[] = {
    {"FloatStorage", "float32", Dtype::f32}, {"DoubleStorage", "float64", Dtype::f64},
    {"HalfStorage", "float16", Dtype::f16},  {"BFloat16Storage", "bfloat16", Dtype::bf16},
    {"LongStorage", "int64", Dtype::i64},    {"IntStorage", "int32", Dtype::i32},
    {"ShortStorage", "int16", Dtype::i16},   {"CharStorage", "int8", Dtype::i8},
    {"ByteStorage", "uint8", Dtype::u8},     {"BoolStorage", "bool", Dtype::boolean},
};

constexpr std::string_view kParameter = "torch._utils._rebuild_parameter";
constexpr std::string_view kParameterWithState = "torch._utils._rebuild_parameter_with_state";
constexpr std::string_view kFirst = "torch._utils._rebuild_tensor";  // before PyTorch 0.4
constexpr std::string_view kSecond = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kThird = "torch._utils._rebuild_tensor_v3";         // number types without a storage class
constexpr std::string_view kFromType = "torch._tensor._rebuild_from_type_v2";  // tensors with attributes

class Reader {
 public:
  Reader(const PickleTree& tree, const std::string& name, TorchStorages* storages) : tree_(tree), storages_(storages) {
    tensor_.name = name;
  }

  StoredTensor read(NodeId node) {
    node = unwrap(node);
    NodeId arguments = tree_.child(node, 1);
    if (tree_.is_call_of(node, kFromType)) arguments = arguments_of_type(node);
    const bool untyped = tree_.is_call_of(node, kThird);
    const std::string key = read_storage(tree_.child(arguments, 0), untyped ? tree_.child(arguments, 6) : kNoNode);
    // A storage that is a view of another one is laid over it first.
    const std::uint64_t view_offset = tensor_.offset;
    if (!checked_add(view_offset, take_size(tree_.child(arguments, 1)), &tensor_.offset)) {
      refuse("the tensor ", quoted(tensor_.name), " has an offset beyond counting; ", kDamaged);
    }
    tensor_.rank = read_sizes(tree_.child(arguments, 2), tensor_.shape);
    if (read_sizes(tree_.child(arguments, 3), tensor_.stride) != tensor_.rank) {
      refuse("the tensor ", quoted(tensor_.name), " has ", tensor_.rank, " dimensions but another number of strides; ",
             kDamaged);
    }
    storages_->place(key, &tensor_);
    require_inside_storage(tensor_);
    return std::move(tensor_);
  }

 private:
  // The tensor inside a parameter.
  NodeId unwrap(NodeId node) {
    const NodeId outer = node;
    for (int depth = 0; depth < 4; ++depth) {
      if (!tree_.is_call_of(node, kParameter) && !tree_.is_call_of(node, kParameterWithState)) break;
      node = tree_.child(tree_.child(node, 1), 0);
    }
    for (const std::string_view call : {kFirst, kSecond, kThird, kFromType}) {
      if (tree_.is_call_of(node, call)) return node;
    }
    refuse_node(node == kNoNode ? outer : node, node == kNoNode);
  }

  [[noreturn]] void refuse_node(NodeId node, bool empty) {
    const std::string found = empty                              ? std::string("nothing")
                              : tree_.is(node, NodeKind::object) ? quoted(tree_.global_name(tree_.child(node, 0)))
                                                                 : std::string(PickleTree::kind_name(tree_.kind(node)));
    refuse(quoted(tensor_.name), " is made by ", found, "; expected a plain tensor; ",
           "quantised, sparse and subclassed tensors must be saved as plain ones");
  }

  // (_rebuild_tensor_v2, class, its arguments, attributes)
  NodeId arguments_of_type(NodeId node) {
    const NodeId arguments = tree_.child(node, 1);
    const NodeId type = tree_.child(arguments, 1);
    const bool plain = tree_.is_global(type, "torch.Tensor") || tree_.is_global(type, "torch.nn.parameter.Parameter");
    if (!plain || !tree_.is_global(tree_.child(arguments, 0), kSecond)) refuse_node(node, false);
    return tree_.child(arguments, 2);
  }

  // ('storage', class, key, location, elements), before PyTorch 1.6 with a sixth: None, or the view that the storage is
  // of that key's: (key, offset, elements). `dtype`: where the class is UntypedStorage and the elements are bytes.
  // Returns the key.
  std::string read_storage(NodeId node, NodeId dtype) {
    const NodeId id = tree_.is(node, NodeKind::storage) ? tree_.child(node, 0) : kNoNode;
    if (tree_.is(id, NodeKind::text)) {
      refuse("the checkpoint was saved with pickle protocol 0, which PyTorch itself cannot load; expected protocol 1 ",
             "to 5; save it again without pickle_protocol");
    }
    const NodeId key = tree_.is(id, NodeKind::tuple) ? tree_.child(id, 2) : kNoNode;
    if (!tree_.is(key, NodeKind::text)) refuse("the tensor ", quoted(tensor_.name), " has no storage; ", kDamaged);
    if (tree_.text(key).size() > kLongestKey) {
      refuse("the tensor ", quoted(tensor_.name), " lies in a storage with a very long name; ", kDamaged);
    }
    tensor_.storage_elements = take_size(tree_.child(id, 4));
    read_dtype(tree_.child(id, 1), dtype);
    const NodeId view = tree_.child(id, 5);
    if (tree_.is(view, NodeKind::tuple)) tensor_.offset = take_size(tree_.child(view, 1));
    return std::string(tree_.text(key));
  }

  void read_dtype(NodeId storage_class, NodeId dtype) {
    if (dtype != kNoNode) {
      tensor_.dtype = Dtype::foreign;
      if (tree_.is(dtype, NodeKind::global)) tensor_.foreign_dtype = tree_.global_name(dtype);
      for (const NamedDtype& each : kDtypes) {
        if (tensor_.foreign_dtype == concat("torch.", each.dtype)) tensor_.dtype = each.is;
      }
      tensor_.storage_elements /= dtype_bytes(tensor_.dtype);
      return;
    }
    if (storage_dtype(tree_, storage_class, &tensor_.dtype)) return;
    const std::string found =
        tree_.is(storage_class, NodeKind::global) ? quoted(tree_.global_name(storage_class)) : std::string("no class");
    refuse("the tensor ", quoted(tensor_.name), " lies in a storage of ", found,
           "; expected floating point numbers; save the weights as float32, float16 or bfloat16");
  }

  std::uint64_t take_size(NodeId node) {
    if (!tree_.is(node, NodeKind::integer) || tree_.integer(node) < 0) {
      refuse("the tensor ", quoted(tensor_.name), " has a size or stride that is negative or no number; ", kDamaged);
    }
    return static_cast<std::uint64_t>(tree_.integer(node));
  }

  // A tuple of sizes; returns how many.
  std::size_t read_sizes(NodeId node, std::uint64_t* out) {
    if (tree_.is_call_of(node, "torch.Size")) node = tree_.child(tree_.child(node, 1), 0);
    const bool sequence = tree_.is(node, NodeKind::tuple) || tree_.is(node, NodeKind::list);
    if (!sequence) refuse("the tensor ", quoted(tensor_.name), " has no shape; ", kDamaged);
    if (tree_.count(node) > kMaxRank) {
      refuse("the tensor ", quoted(tensor_.name), " has ", tree_.count(node), " dimensions; expected at most ",
             kMaxRank, "; this is no GPT");
    }
    std::size_t count = 0;
    for (PickleTree::Items items = tree_.items(node); !items.done();) out[count++] = take_size(items.take());
    return count;
  }

  const PickleTree& tree_;
  TorchStorages* storages_;
  StoredTensor tensor_;
};

}  // namespace

bool storage_dtype(const PickleTree& tree, NodeId storage_class, Dtype* out) {
  for (const NamedDtype& each : kDtypes) {
    if (tree.is_global(storage_class, concat("torch.", each.storage)) ||
        tree.is_global(storage_class, concat("torch.cuda.", each.storage))) {
      *out = each.is;
      return true;
    }
  }
  return false;
}

bool is_torch_tensor(const PickleTree& tree, NodeId node) {
  if (!tree.is(node, NodeKind::object)) return false;
  const NodeId callee = tree.child(node, 0);
  const std::string_view module = tree.text(tree.child(callee, 0));
  const std::string_view name = tree.text(tree.child(callee, 1));
  return (module == "torch._utils" || module == "torch._tensor") && name.rfind("_rebuild_", 0) == 0;
}

StoredTensor read_torch_tensor(const PickleTree& tree, const std::string& name, NodeId node, TorchStorages* storages) {
  return Reader(tree, name, storages).read(node);
}

}  // namespace minnow::convert
