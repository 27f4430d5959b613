// A checkpoint in several files, with an index that says which tensor lies in which. Depends on json_reader and
// checkpoint.
#include <algorithm>

#include "tools/convert/bytes.hpp"
#include "tools/convert/checkpoint.hpp"
#include "tools/convert/json_reader.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/file_kind.hpp"

namespace minnow::convert {

namespace {

constexpr std::size_t kMaxShards = 128;  // each stays open
constexpr std::string_view kExpected = "expected the index of a checkpoint; copy or download it again";

// A name in the index's own folder.
void require_plain_name(std::string_view name) {
  const bool leaves = name.find('/') != std::string_view::npos || name.find('\\') != std::string_view::npos ||
                      name.find('\0') != std::string_view::npos || name == "." || name == "..";
  if (name.empty() || leaves) {
    refuse("the index names the file ", quoted(name), "; expected names of files beside it; do not trust this index");
  }
}

class Reader {
 public:
  Reader(std::shared_ptr<const InputFile> index, const ReadOptions& options)
      : folder_(folder_of(index->path())), options_(options) {
    out_.files.push_back(std::move(index));
  }

  Checkpoint read(const JsonTree& tree) {
    const JsonId map = tree.find(tree.root(), "weight_map");
    if (!tree.is(map, JsonKind::object)) refuse("the index has no weight_map; ", kExpected);
    if (tree.count(map) > kMaxTensors) {
      refuse("the index names more than ", kMaxTensors, " tensors; expected a few hundred; name the right file");
    }
    for (JsonTree::Items members = tree.items(map); !members.done();) {
      const JsonId name = members.take();
      const JsonId value = members.take();
      if (!tree.is(value, JsonKind::text)) refuse("the weight_map names no file; ", kExpected);
      const std::string file(tree.text(value));
      std::map<std::string, bool>& tensors = shards_[file];
      if (tensors.empty()) require_plain_name(file);
      tensors[std::string(tree.text(name))] = false;
      if (shards_.size() > kMaxShards) {
        refuse("the checkpoint has more than ", kMaxShards, " files; expected fewer; save it in larger pieces");
      }
    }
    if (shards_.empty()) refuse("the index names no tensor; ", kExpected);
    for (auto& [file, tensors] : shards_) read_shard(file, &tensors);
    return std::move(out_);
  }

 private:
  void read_shard(const std::string& name, std::map<std::string, bool>* expected) {
    const std::string path = folder_ + "/" + name;
    try {
      const auto file = std::make_shared<const InputFile>(path);
      if (looks_like_index(*file))
        refuse("this is an index itself; expected a file with tensors; copy or download the index again");
      merge(read_single_checkpoint(file, options_), name, expected);
    } catch (const Refusal& refusal) {
      throw Refusal(refusal.what(), refusal.path().empty() ? path : refusal.path());
    }
    for (const auto& [tensor, found] : *expected) {
      if (!found) {
        throw Refusal(concat("lacks the tensor ", quoted(tensor), ", which the index expects in it; expected files of ",
                             "one checkpoint; download them again"),
                      path);
      }
    }
  }

  void merge(Checkpoint shard, const std::string& name, std::map<std::string, bool>* expected) {
    const std::uint32_t first_file = static_cast<std::uint32_t>(out_.files.size());
    for (StoredTensor& tensor : shard.tensors) {
      const auto found = expected->find(tensor.name);
      if (found == expected->end()) {
        refuse("holds the tensor ", quoted(tensor.name), ", which the index does not expect in it; expected files of ",
               "one checkpoint; download them again");
      }
      found->second = true;
      tensor.file += first_file;
      tensor.storage = name + ":" + tensor.storage;
      out_.tensors.push_back(std::move(tensor));
    }
    for (auto& file : shard.files) out_.files.push_back(std::move(file));
    if (out_.settings.empty()) {
      out_.settings = std::move(shard.settings);
      out_.settings_source = std::move(shard.settings_source);
    }
  }

  std::string folder_;
  const ReadOptions& options_;
  std::map<std::string, std::map<std::string, bool>> shards_;  // file name: tensors, and whether they were found
  Checkpoint out_;
};

}  // namespace

bool looks_like_index(const InputFile& file) {
  const std::string head = read_piece(file, 0, std::min<std::uint64_t>(file.size(), kFileKindBytes));
  if (file_kind(head, file.size()) != FileKind::json || file.size() > kMaxJsonBytes) return false;
  if (head.find("\"weight_map\"") != std::string::npos) return true;
  try {
    const JsonTree tree = read_json(file.read_all(kMaxJsonBytes), "the index");
    return tree.find(tree.root(), "weight_map") != kNoJson;
  } catch (const Refusal&) {
    return false;
  }
}

Checkpoint read_sharded(std::shared_ptr<const InputFile> index, const ReadOptions& options) {
  const JsonTree tree = read_json(index->read_all(kMaxJsonBytes), "the index");
  return Reader(std::move(index), options).read(tree);
}

}  // namespace minnow::convert
