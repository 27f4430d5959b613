// meta.pkl: found and read. Depends on file and pickle.
#include <algorithm>
#include <unordered_set>

#include "tools/convert/pickle.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/vocabulary_readers.hpp"
#include "tools/system.hpp"

namespace minnow::convert {

namespace {

constexpr std::uint64_t kMaxMetaBytes = std::uint64_t{16} << 20;
constexpr std::string_view kExpected =
    "; expected nanoGPT's meta.pkl with itos and stoi; make it again with the data set's prepare.py";

class MetaReader {
 public:
  explicit MetaReader(std::string bytes) : bytes_(bytes.size()), tree_(read_pickle(std::move(bytes), "the pickle")) {}

  Vocabulary read() {
    if (tree_.bytes_read() != bytes_) refuse("there are bytes behind the pickle's end", kExpected);
    const NodeId itos = tree_.find(tree_.root(), "itos");
    const NodeId stoi = tree_.find(tree_.root(), "stoi");
    if (itos == kNoNode && stoi == kNoNode) refuse_missing();
    if (itos != kNoNode) {
      take_itos(itos);
      if (stoi != kNoNode) compare_stoi(stoi);
    } else {
      take_stoi(stoi);
    }
    require_complete();
    compare_size();
    Vocabulary out;
    out.pieces = std::move(pieces_);
    return out;
  }

 private:
  // Some data sets say in words which tokenizer theirs is.
  [[noreturn]] void refuse_missing() {
    for (const char* key : {"tokenizer", "tokenizer_name", "encoding"}) {
      const NodeId name = tree_.find(tree_.root(), key);
      if (!tree_.is(name, NodeKind::text)) continue;
      refuse(
          "there are no symbols, only the name of a tokenizer, ", quoted(tree_.text(name)),
          "; expected itos and stoi; give that tokenizer's file with --vocab (of gpt2: vocab.bpe), or pass --no-text");
    }
    refuse("there is neither itos nor stoi", kExpected);
  }

  void take_itos(NodeId itos) {
    if (tree_.is(itos, NodeKind::list) || tree_.is(itos, NodeKind::tuple)) {
      std::int64_t id = 0;
      for (PickleTree::Items items = tree_.items(itos); !items.done();) put(id++, items.take());
      return;
    }
    if (!tree_.is(itos, NodeKind::dict)) refuse("itos is ", PickleTree::kind_name(tree_.kind(itos)), kExpected);
    const std::int64_t count = tree_.count(itos) / 2;
    for (PickleTree::Items items = tree_.items(itos); !items.done();) {
      const std::int64_t id = take_id(items.take(), count);
      put(id, items.take());
    }
  }

  void take_stoi(NodeId stoi) {
    if (!tree_.is(stoi, NodeKind::dict)) refuse("stoi is ", PickleTree::kind_name(tree_.kind(stoi)), kExpected);
    const std::int64_t count = tree_.count(stoi) / 2;
    for (PickleTree::Items items = tree_.items(stoi); !items.done();) {
      const NodeId symbol = items.take();
      put(take_id(items.take(), count), symbol);
    }
  }

  // stoi must be itos the other way round.
  void compare_stoi(NodeId stoi) {
    if (!tree_.is(stoi, NodeKind::dict)) refuse("stoi is ", PickleTree::kind_name(tree_.kind(stoi)), kExpected);
    const std::size_t count = tree_.count(stoi) / 2;
    if (count != pieces_.size()) refuse("stoi has ", count, " symbols and itos ", pieces_.size(), kExpected);
    for (PickleTree::Items items = tree_.items(stoi); !items.done();) {
      const NodeId symbol = items.take();
      const std::int64_t id = take_id(items.take(), static_cast<std::int64_t>(count));
      if (!tree_.is(symbol, NodeKind::text) || tree_.text(symbol) != pieces_[static_cast<std::size_t>(id)]) {
        refuse("itos and stoi disagree about id ", id, kExpected);
      }
    }
  }

  // An id below `count`: with no id twice, the ids are then exactly 0 .. count-1.
  std::int64_t take_id(NodeId node, std::int64_t count) {
    std::int64_t id = 0;
    if (!tree_.integer_value(node, &id)) refuse("an id is ", PickleTree::kind_name(tree_.kind(node)), kExpected);
    if (id < 0 || id >= count) refuse("there are ", count, " symbols but one has the id ", id, kExpected);
    return id;
  }

  void put(std::int64_t id, NodeId symbol) {
    if (!tree_.is(symbol, NodeKind::text)) {
      refuse("the symbol of id ", id, " is ", PickleTree::kind_name(tree_.kind(symbol)), kExpected);
    }
    const std::size_t at = static_cast<std::size_t>(id);
    if (at >= pieces_.size()) {
      pieces_.resize(at + 1);
      filled_.resize(at + 1, false);
    }
    if (filled_[at]) refuse("the id ", id, " is there twice", kExpected);
    filled_[at] = true;
    text_bytes_ += tree_.text(symbol).size();
    if (text_bytes_ > kMaxMetaBytes) refuse("the symbols have more than ", kMaxMetaBytes, " bytes", kExpected);
    pieces_[at] = std::string(tree_.text(symbol));
  }

  void require_complete() {
    if (pieces_.empty()) refuse("there are no symbols", kExpected);
    std::unordered_set<std::string_view> seen;
    for (std::size_t id = 0; id < pieces_.size(); ++id) {
      if (!filled_[id]) refuse("the id ", id, " has no symbol", kExpected);
      if (pieces_[id].empty()) refuse("the symbol of id ", id, " is empty", kExpected);
      if (!seen.insert(pieces_[id]).second) {
        refuse("two ids have the symbol ", quoted(pieces_[id]), ", the later one is ", id, kExpected);
      }
    }
  }

  void compare_size() {
    const NodeId size = tree_.find(tree_.root(), "vocab_size");
    std::int64_t stated = 0;
    if (size == kNoNode) return;
    if (!tree_.integer_value(size, &stated) || stated != static_cast<std::int64_t>(pieces_.size())) {
      refuse("vocab_size is ", stated, " but there are ", pieces_.size(), " symbols", kExpected);
    }
  }

  std::uint64_t bytes_;
  PickleTree tree_;
  std::vector<std::string> pieces_;
  std::vector<bool> filled_;
  std::uint64_t text_bytes_ = 0;
};

}  // namespace

Vocabulary read_meta(std::string bytes) { return MetaReader(std::move(bytes)).read(); }

Vocabulary read_meta(const InputFile& file) {
  try {
    return read_meta(file.read_all(kMaxMetaBytes));
  } catch (const Refusal& refusal) {
    throw Refusal(refusal.what(), file.path());
  }
}

std::string find_in_dataset(const std::string& checkpoint_path, const std::string& dataset, const std::string& name) {
  std::string folder = folder_of(checkpoint_path);
  if (const std::string beside = folder + "/" + name; file_exists(beside)) return beside;
  // The dataset's name comes out of the checkpoint: nothing but the name of a folder.
  if (dataset.empty() || dataset == "." || dataset == ".." || dataset.find('/') != std::string::npos ||
      dataset.find('\0') != std::string::npos) {
    return {};
  }
  const std::string inside = "data/" + dataset + "/" + name;
  folder = system::absolute_path(folder);
  for (bool at_top = false; !at_top;) {
    const std::string path = folder + (folder == "/" ? "" : "/") + inside;
    if (file_exists(path)) return path;
    at_top = folder == "/" || folder == ".";
    folder = folder_of(folder);
  }
  return file_exists(inside) ? inside : std::string();
}

std::string find_meta(const std::string& checkpoint_path, const std::string& dataset) {
  return find_in_dataset(checkpoint_path, dataset, "meta.pkl");
}

}  // namespace minnow::convert
