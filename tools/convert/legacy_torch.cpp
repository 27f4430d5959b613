// A checkpoint of torch.save before PyTorch 1.6: five pickles one after the other, and then the storages, each behind
// the number of its elements. Depends on torch_object.
#include <algorithm>
#include <map>

#include "base/bits.hpp"
#include "tools/convert/bytes.hpp"
#include "tools/convert/checkpoint.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/torch_object.hpp"

namespace minnow::convert {

namespace {

// 0x1950a86a20f9469cfc6c, as protocol 1 and later pickle it and as protocol 0 does.
constexpr std::string_view kMagic("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 13);
constexpr std::string_view kMagicText = "L119547037146038801333356L\n.";
constexpr std::int64_t kProtocol = 1001;
constexpr std::size_t kMaxSmallPickle = 4096;
constexpr std::size_t kMaxKeysPickle = std::size_t{4} << 20;
constexpr std::uint64_t kFirstPiece = std::uint64_t{256} << 10;  // the file does not say how long a pickle is

// The length of the first pickle; 0: it is not the magic number.
std::size_t magic_bytes(const InputFile& file) {
  const std::string head = read_piece(file, 0, std::min<std::uint64_t>(file.size(), 64));
  std::size_t at = 0;
  if (head.size() > 2 && head[0] == '\x80') at = 2;     // PROTO
  if (head.size() > 11 && head[at] == '\x95') at += 9;  // FRAME
  for (const std::string_view magic : {kMagic, kMagicText}) {
    if (head.compare(at, magic.size(), magic) == 0) return at + magic.size();
  }
  return 0;
}

class Reader : private TorchStorages {
 public:
  explicit Reader(const InputFile& file) : file_(file) {}

  TorchObject read() {
    at_ = magic_bytes(file_);
    if (at_ == 0) refuse("the file does not begin as torch.save of old wrote; ", kDamaged);
    read_system();
    const PickleTree tree = take_pickle(kMaxPickleBytes, "the object");
    find_dtypes(tree);
    read_storages(take_pickle(kMaxKeysPickle, "the list of storages"));
    return read_torch_object(tree, this);
  }

 private:
  PickleTree take_pickle(std::size_t limit, std::string_view where) {
    const std::uint64_t most = std::min<std::uint64_t>(file_.size() - at_, limit);
    PickleTree tree;
    for (std::uint64_t bytes = std::min(most, kFirstPiece); !read_pickle(bytes, most, where, &tree);) {
      bytes = std::min(most, 4 * bytes);
    }
    at_ += tree.bytes_read();
    return tree;
  }

  // The first `bytes` of what follows. False: that may have been too little, of `most`.
  bool read_pickle(std::uint64_t bytes, std::uint64_t most, std::string_view where, PickleTree* out) const {
    try {
      *out = convert::read_pickle(read_piece(file_, at_, bytes), where);
      return true;
    } catch (const Refusal&) {
      if (bytes == most) throw;
      return false;
    }
  }

  void read_system() {
    const PickleTree protocol = take_pickle(kMaxSmallPickle, "the protocol");
    if (!protocol.is(protocol.root(), NodeKind::integer) || protocol.integer(protocol.root()) != kProtocol) {
      refuse("the checkpoint has another protocol than ", kProtocol,
             "; expected a file of torch.save; load and save it with a newer PyTorch");
    }
    const PickleTree system = take_pickle(kMaxSmallPickle, "the system information");
    const NodeId little = system.find(system.root(), "little_endian");
    if (!system.is(little, NodeKind::boolean)) refuse("the system information lacks little_endian; ", kDamaged);
    if (system.integer(little) == 0) {
      refuse("the checkpoint was saved on a big-endian machine; expected little-endian; load and save it on another ",
             "one");
    }
  }

  struct Storage {
    bool has_dtype = false;
    Dtype dtype = Dtype::f32;
    bool is_there = false;
    std::uint64_t offset = 0;  // of the elements, behind their number
    std::uint64_t elements = 0;
  };

  // The file gives only the number of a storage's elements; how large they are is said where the object refers to it.
  void find_dtypes(const PickleTree& tree) {
    for (NodeId node = 0; node < tree.size(); ++node) {
      if (!tree.is(node, NodeKind::storage)) continue;
      const NodeId id = tree.child(node, 0);
      const NodeId key = tree.is(id, NodeKind::tuple) ? tree.child(id, 2) : kNoNode;
      if (!tree.is(key, NodeKind::text) || tree.text(key).size() > kLongestKey) continue;
      Storage& storage = storages_[std::string(tree.text(key))];
      Dtype dtype;
      if (!storage_dtype(tree, tree.child(id, 1), &dtype)) continue;
      if (storage.has_dtype && storage.dtype != dtype) {
        refuse("the storage ", quoted(tree.text(key)), " is said to hold two kinds of numbers; ", kDamaged);
      }
      storage.has_dtype = true;
      storage.dtype = dtype;
    }
  }

  void read_storages(const PickleTree& keys) {
    if (!keys.is(keys.root(), NodeKind::list)) refuse("the list of storages is missing; ", kDamaged);
    for (PickleTree::Items items = keys.items(keys.root()); !items.done();) {
      const NodeId key = items.take();
      const auto found = keys.is(key, NodeKind::text) ? storages_.find(std::string(keys.text(key))) : storages_.end();
      if (found == storages_.end() || !found->second.has_dtype || found->second.is_there) {
        refuse("the list of storages names one that the object does not use, or one twice; ", kDamaged);
      }
      Storage& storage = found->second;
      std::uint64_t bytes = 0;
      if (file_.size() - at_ < 8) refuse("the file ends before its last storage; ", kDamaged);
      storage.elements = number_at(read_piece(file_, at_, 8), 0, 8);
      at_ += 8;
      if (!checked_multiply(storage.elements, dtype_bytes(storage.dtype), &bytes) || bytes > file_.size() - at_) {
        refuse("the storage ", quoted(found->first), " of ", storage.elements, " numbers of ",
               dtype_name(storage.dtype), " leaves the file; ", kDamaged);
      }
      storage.is_there = true;
      storage.offset = at_;
      at_ += bytes;
    }
    if (at_ != file_.size()) {
      refuse("the file has ", file_.size() - at_, " bytes behind its last storage; ", kDamaged);
    }
  }

  void place(std::string_view key, StoredTensor* tensor) override {
    const auto found = storages_.find(std::string(key));
    if (found == storages_.end() || !found->second.is_there) {
      refuse("the tensor ", quoted(tensor->name), " lies in the storage ", quoted(key), ", which the file lacks; ",
             kDamaged);
    }
    const Storage& storage = found->second;
    if (storage.dtype != tensor->dtype || storage.elements != tensor->storage_elements) {
      refuse("the storage ", quoted(key), " has ", storage.elements, " numbers of ", dtype_name(storage.dtype),
             "; expected ", tensor->storage_elements, " of ", dtype_name(tensor->dtype),
             "; copy or save the file again");
    }
    tensor->storage = std::string(key);
    tensor->storage_offset = storage.offset;
  }

  static constexpr std::size_t kLongestKey = 256;

  const InputFile& file_;
  std::uint64_t at_ = 0;  // next byte
  std::map<std::string, Storage> storages_;
};

}  // namespace

bool looks_like_legacy_torch(const InputFile& file) { return magic_bytes(file) != 0; }

Checkpoint read_legacy_torch(std::shared_ptr<const InputFile> file) {
  TorchObject object = Reader(*file).read();
  object.checkpoint.files.push_back(std::move(file));
  return finish_torch_object(std::move(object));
}

}  // namespace minnow::convert
