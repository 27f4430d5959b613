// Validates the tensor table against the config.
#include <cstddef>

#include "base/bits.hpp"
#include "base/check.hpp"
#include "model/open.hpp"
#include "model/tensors.hpp"

namespace minnow {
namespace {

// Walks the table in the order in which the file must have it.
class TableReader {
 public:
  TableReader(Span<const std::byte> file, Fault* fault) noexcept
      : file_(file),
        header_(*reinterpret_cast<const FileHeader*>(file.data())),
        fault_(fault),
        end_of_last_(header_.data_offset) {}

  // The next entry, if it is this tensor; a required one must be.
  Status read(Role role, std::uint32_t layer) noexcept {
    TensorSpec spec = {};
    if (!tensor_spec(header_.config, role, &spec)) return refuse("the tensor's role is unknown", 0, 0);
    const bool here = next_ < header_.tensor_count && entry().role == role && entry().layer == layer;
    if (!here) {
      if (spec.presence != Presence::required) return Status::ok;
      return refuse("a tensor that this model needs is missing or out of order", offsetof(TensorEntry, role),
                    static_cast<std::uint32_t>(role));
    }
    if (spec.presence == Presence::forbidden) {
      return refuse("a tensor that this kind of model does not have", offsetof(TensorEntry, role),
                    static_cast<std::uint32_t>(role));
    }
    MINNOW_TRY(check_shape(spec));
    MINNOW_TRY(check_place(spec));
    ++next_;
    return Status::ok;
  }

  Status finish() noexcept {
    if (next_ != header_.tensor_count) {
      return refuse("a tensor is unknown, twice there, or out of order", offsetof(TensorEntry, role),
                    static_cast<std::uint32_t>(entry().role));
    }
    if (end_of_last_ != header_.file_bytes) {
      *fault_ = {"bytes after the last tensor", end_of_last_, header_.file_bytes - end_of_last_};
      return Status::corrupt;
    }
    return Status::ok;
  }

 private:
  std::uint64_t entry_offset() const noexcept {
    return header_.header_bytes + std::uint64_t{next_} * header_.tensor_entry_bytes;
  }
  const TensorEntry& entry() const noexcept {
    return *reinterpret_cast<const TensorEntry*>(file_.data() + entry_offset());
  }
  Status refuse(const char* what, std::uint64_t field, std::uint64_t found) noexcept {
    return fail(Status::corrupt, fault_, what, entry_offset() + field, found);
  }

  Status check_shape(const TensorSpec& spec) noexcept {
    const TensorEntry& e = entry();
    if (e.rows != spec.rows) {
      return refuse("a tensor's rows do not fit the config", offsetof(TensorEntry, rows), e.rows);
    }
    if (e.columns != spec.columns) {
      return refuse("a tensor's columns do not fit the config", offsetof(TensorEntry, columns), e.columns);
    }
    if (header_.version_minor <= kVersionMinor && (e.reserved != 0 || e.reserved2 != 0)) {
      return refuse("a reserved field is not zero", offsetof(TensorEntry, reserved), e.reserved);
    }
    return Status::ok;
  }

  Status check_place(const TensorSpec& spec) noexcept {
    const TensorEntry& e = entry();
    if (e.type > static_cast<std::uint32_t>(WeightType::q4)) {
      return refuse("a tensor's type is unknown", offsetof(TensorEntry, type), e.type);
    }
    std::uint64_t bytes = 0;
    if (!tensor_bytes(spec, static_cast<WeightType>(e.type), &bytes) || e.bytes != bytes) {
      return refuse("a tensor's size does not fit its shape and type", offsetof(TensorEntry, bytes), e.bytes);
    }
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    if (!checked_round_up(end_of_last_, kSectionAlign, &start) || e.offset != start) {
      return refuse("a tensor does not start right after the one before it", offsetof(TensorEntry, offset), e.offset);
    }
    if (!checked_add(start, bytes, &end) || end > header_.file_bytes) {
      return refuse("a tensor ends past the end of the file", offsetof(TensorEntry, bytes), e.bytes);
    }
    end_of_last_ = end;
    return Status::ok;
  }

  Span<const std::byte> file_;
  const FileHeader& header_;
  Fault* fault_;
  std::uint32_t next_ = 0;
  std::uint64_t end_of_last_;  // offset just behind the tensor before
};

// The tensors in front of the layers have role numbers below every layer's; the ones behind, above.
bool before_layers(Role role) noexcept { return role < Role::ln_1_weight; }

}  // namespace

Status check_tensors(Span<const std::byte> file, Fault* fault) noexcept {
  const Config& config = reinterpret_cast<const FileHeader*>(file.data())->config;
  TableReader table(file, fault);
  const auto read_all = [&](std::uint32_t layer, bool in_layer, bool front) {
    for (const Role role : kAllRoles) {
      TensorSpec spec = {};
      if (!tensor_spec(config, role, &spec) || spec.in_layer != in_layer) continue;
      if (!in_layer && before_layers(role) != front) continue;
      const Status s = table.read(role, layer);
      if (s != Status::ok) return s;
    }
    return Status::ok;
  };
  MINNOW_TRY(read_all(kNoLayer, false, true));
  for (std::uint32_t layer = 0; layer < config.n_layer; ++layer) MINNOW_TRY(read_all(layer, true, false));
  MINNOW_TRY(read_all(kNoLayer, false, false));
  return table.finish();
}

}  // namespace minnow
