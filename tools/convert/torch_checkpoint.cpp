// A checkpoint of torch.save since PyTorch 1.6: a zip archive with one pickle that refers to storages beside it.
// Depends on zip and torch_object.
#include <map>

#include "base/bits.hpp"
#include "tools/convert/checkpoint.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/torch_object.hpp"
#include "tools/convert/zip.hpp"

namespace minnow::convert {

namespace {

constexpr std::size_t kLongestFolder = 1000;  // the archive's own; its name is part of every storage's

// Of the archive's names, the one that ends in "/data.pkl"; who packs a folder's content again may lose the folder.
const ZipEntry& find_pickle(const ZipArchive& zip) {
  const ZipEntry* found = nullptr;
  bool scripted = false;
  constexpr std::string_view kEnding = "/data.pkl";
  for (const ZipEntry& entry : zip.entries()) {
    const std::string_view name = entry.name;
    scripted = scripted || name.find("/code/") != std::string_view::npos;
    const bool ends_so = name.size() > kEnding.size() && name.substr(name.size() - kEnding.size()) == kEnding;
    if (!ends_so && name != "data.pkl") continue;
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
  if (found->name.size() > kLongestFolder) refuse("the archive's folder has a very long name; ", kDamaged);
  return *found;
}

// Stored entries are read where they lie. Deflated ones get a place each in a file of their own.
class Storages : public TorchStorages {
 public:
  Storages(const ZipArchive& zip, const std::string& folder) : zip_(zip), folder_(folder) {}

  void place(std::string_view key, StoredTensor* tensor) override {
    tensor->storage = folder_ + "data/" + std::string(key);
    const ZipEntry* const entry = zip_.find(tensor->storage);
    if (entry == nullptr) {
      refuse("the tensor ", quoted(tensor->name), " lies in ", quoted(tensor->storage), ", which the archive lacks; ",
             kDamaged);
    }
    std::uint64_t bytes = 0;
    const bool fits = storage_bytes(*tensor, &bytes) && bytes <= entry->bytes;
    // Nothing is unpacked that no tensor needs.
    if (!fits || (!entry->is_stored() && bytes != entry->bytes)) {
      refuse("the storage ", quoted(entry->name), " has ", entry->bytes, " bytes; expected ", tensor->storage_elements,
             " numbers of ", dtype_name(tensor->dtype), "; copy or save the file again");
    }
    const auto [known, is_new] = used_.emplace(std::make_pair(entry->header_offset, entry), 0);
    if (is_new) {
      known->second = entry->is_stored() ? zip_.data_offset(*entry) : unpacked_bytes_;
      total_ += entry->bytes;
      if (!entry->is_stored()) {
        deflated_.push_back(entry);
        if (!checked_add(unpacked_bytes_, entry->bytes, &unpacked_bytes_)) {
          refuse("the archive unpacks to more bytes than can be counted; ", kDamaged);
        }
      }
    }
    tensor->file = entry->is_stored() ? 0 : 1;
    tensor->storage_offset = known->second;
  }

  bool has_deflated() const { return !deflated_.empty(); }

  // Each storage once: unpacked if it is deflated, else its checksum compared. Null: nothing had to be unpacked.
  std::shared_ptr<const InputFile> unpack_and_check(const std::string& path, const ReadOptions& options) {
    std::unique_ptr<TemporaryFile> unpacked;
    if (has_deflated()) unpacked = std::make_unique<TemporaryFile>(options.temporary_folder);
    std::uint64_t done = 0;
    const auto show = [&](std::uint64_t bytes) {
      done += bytes;
      if (options.progress) options.progress(done, total_);
    };
    for (const auto& [entry, place] : used_) {
      if (entry.second->is_stored()) zip_.check_crc(*entry.second, show);
    }
    for (const ZipEntry* const entry : deflated_) {
      zip_.unpack(*entry, [&](const unsigned char* data, std::size_t bytes) {
        unpacked->append(data, bytes);
        show(bytes);
      });
    }
    return unpacked ? unpacked->finish(path) : nullptr;
  }

 private:
  const ZipArchive& zip_;
  const std::string& folder_;
  // Of each entry, in the archive's order, where its data begins: in the archive, or in the unpacked file.
  std::map<std::pair<std::uint64_t, const ZipEntry*>, std::uint64_t> used_;
  std::vector<const ZipEntry*> deflated_;  // in the order of their places
  std::uint64_t unpacked_bytes_ = 0;
  std::uint64_t total_ = 0;
};

void require_little_endian(const ZipArchive& zip, const std::string& folder) {
  const ZipEntry* const order = zip.find(folder + "byteorder");
  if (order != nullptr && zip.read(*order, 64) != "little") {
    refuse("the checkpoint was saved on a big-endian machine; expected little-endian; load and save it on another one");
  }
}

}  // namespace

Checkpoint read_torch_checkpoint(std::shared_ptr<const InputFile> file, const ReadOptions& options) {
  const ZipArchive zip(*file, options.check_crcs);
  const ZipEntry& entry = find_pickle(zip);
  const std::string folder = entry.name.substr(0, entry.name.size() - std::string_view("data.pkl").size());
  require_little_endian(zip, folder);
  TorchObject object;
  Storages storages(zip, folder);
  {
    const PickleTree tree = read_pickle(zip.read(entry, kMaxPickleBytes), "data.pkl");
    if (tree.bytes_read() != entry.bytes) {
      refuse("data.pkl has ", entry.bytes - tree.bytes_read(),
             " bytes behind its end; expected none; copy or save the ", "file again");
    }
    object = read_torch_object(tree, &storages);
  }
  const std::string path = file->path();
  object.checkpoint.files.push_back(std::move(file));
  if (options.check_crcs || storages.has_deflated()) {
    const auto unpacked = storages.unpack_and_check(path, options);
    if (unpacked) object.checkpoint.files.push_back(unpacked);
  }
  return finish_torch_object(std::move(object));
}

}  // namespace minnow::convert
