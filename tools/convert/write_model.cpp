// The writer of model files. Depends on model/format.hpp, pack, tensor_source and file.
#include "tools/convert/write_model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/bits.hpp"
#include "base/crc32.hpp"
#include "tools/convert/pack.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

namespace {

[[noreturn]] void refuse_weight(const PlannedTensor& planned, const PackResult& result, std::uint64_t first_row) {
  std::uint64_t row = first_row + result.row;
  if (planned.sources.empty()) refuse(planned.spec.name, " holds a number that is not finite; expected none");
  std::size_t i = 0;
  for (; i + 1 < planned.sources.size() && planned.spec.rows > 1 && row >= planned.sources[i].rows(); ++i) {
    row -= planned.sources[i].rows();
  }
  const StoredTensor& tensor = planned.sources[i];
  const std::string place =
      tensor.rank < 2 ? concat("[", result.column, "]") : concat("[", row, ", ", result.column, "]");
  switch (result.fault) {
    case PackFault::beyond_half:
      refuse("the tensor ", quoted(tensor.name), " has a weight at ", place,
             " beyond 65504; expected what a half float holds; convert with --type q8 or f32");
    case PackFault::scale_beyond_half:
      refuse("the tensor ", quoted(tensor.name), " has a weight near ", place,
             planned.type == WeightType::q4 ? " beyond half a million" : " beyond 8 million",
             "; expected a scale that a half float holds; convert with --type f32");
    default:
      refuse("the tensor ", quoted(tensor.name), " has a NaN or infinite weight at ", place,
             "; expected finite weights; find out why training diverged, or pass --allow-nonfinite");
  }
}

class Writer {
 public:
  Writer(const Checkpoint& checkpoint, const ModelPlan& plan, const WriteOptions& options, ByteSink* out)
      : checkpoint_(checkpoint), plan_(plan), options_(options), out_(out) {}

  void write(std::string_view tokenizer, std::string_view provenance) {
    std::string tables = lay_out(tokenizer, provenance);
    out_->expect(header_.file_bytes);
    const std::string no_header(sizeof header_, '\0');
    out_->append(no_header.data(), no_header.size());
    out_->append(tables.data(), tables.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      pad_to(entries_[i].offset);
      write_tensor(plan_.tensors[i]);
    }
    if (options_.final_provenance) {
      const std::string text = options_.final_provenance();
      if (text.size() != provenance.size()) refuse("the provenance has changed its length; this is a bug");
      tables.replace(static_cast<std::size_t>(header_.provenance_offset - sizeof header_), text.size(), text);
      out_->write_at(header_.provenance_offset, text.data(), text.size());
    }
    header_.tables_crc32 = crc32(0, tables.data(), tables.size());
    header_.data_crc32 = data_crc_;
    header_.header_crc32 = crc32(0, &header_, sizeof header_);  // the field itself is still 0
    out_->write_at(0, &header_, sizeof header_);
  }

 private:
  // Fills header and entries; returns everything between the header and the weights.
  std::string lay_out(std::string_view tokenizer, std::string_view provenance) {
    std::memcpy(header_.magic, kMagic, sizeof kMagic);
    header_.version_major = kVersionMajor;
    header_.version_minor = kVersionMinor;
    header_.header_bytes = sizeof header_;
    header_.tensor_count = static_cast<std::uint32_t>(plan_.tensors.size());
    header_.tensor_entry_bytes = sizeof(TensorEntry);
    header_.config = plan_.config;
    std::uint64_t at = sizeof header_ + plan_.tensors.size() * sizeof(TensorEntry);
    const auto place = [&at](std::uint64_t bytes, std::uint64_t* offset) {
      *offset = round_up(at, kSectionAlign);
      at = *offset + bytes;
    };
    header_.tokenizer_bytes = tokenizer.size();
    header_.provenance_bytes = provenance.size();
    place(tokenizer.size(), &header_.tokenizer_offset);
    place(provenance.size(), &header_.provenance_offset);
    place(0, &header_.data_offset);
    for (const PlannedTensor& tensor : plan_.tensors) {
      TensorEntry entry = {};
      entry.role = tensor.role;
      entry.layer = tensor.layer;
      entry.type = static_cast<std::uint32_t>(tensor.type);
      entry.rows = static_cast<std::uint32_t>(tensor.spec.rows);
      entry.columns = static_cast<std::uint32_t>(tensor.spec.columns);
      if (!tensor_bytes(tensor.spec, tensor.type, &entry.bytes)) refuse("this type of weights is not supported yet");
      place(entry.bytes, &entry.offset);
      entries_.push_back(entry);
    }
    header_.file_bytes = at;
    header_.data_bytes = at - header_.data_offset;

    std::string tables(reinterpret_cast<const char*>(entries_.data()), entries_.size() * sizeof(TensorEntry));
    const auto append_at = [&tables](std::uint64_t offset, std::string_view bytes) {
      tables.resize(static_cast<std::size_t>(offset - sizeof(FileHeader)), '\0');
      tables += bytes;
    };
    append_at(header_.tokenizer_offset, tokenizer);
    append_at(header_.provenance_offset, provenance);
    append_at(header_.data_offset, {});
    return tables;
  }

  void append_data(const void* data, std::size_t bytes) {
    data_crc_ = crc32(data_crc_, data, bytes);
    out_->append(data, bytes);
    if (options_.progress) options_.progress(out_->size() - header_.data_offset, header_.data_bytes);
  }

  void pad_to(std::uint64_t offset) {
    constexpr char kZeros[kSectionAlign] = {};
    append_data(kZeros, static_cast<std::size_t>(offset - out_->size()));
  }

  void write_tensor(const PlannedTensor& tensor) {
    if (options_.packed) {
      if (const std::vector<std::byte>* const packed = options_.packed(tensor.role, tensor.layer)) {
        append_data(packed->data(), packed->size());
        return;
      }
    }
    const std::uint32_t columns = static_cast<std::uint32_t>(tensor.spec.columns);
    const std::uint64_t step = rows_at_once(tensor);
    rows_.resize(static_cast<std::size_t>(std::min(step, tensor.spec.rows) * columns));
    for (std::uint64_t first = 0; first < tensor.spec.rows; first += step) {
      const std::uint32_t count = static_cast<std::uint32_t>(std::min(step, tensor.spec.rows - first));
      read_rows(tensor, first, count);
      if (tensor.spec.matrix) {
        pack_blocks(tensor, first, count, columns);
      } else {
        pack_rows(tensor, first, count, columns);
      }
      append_data(packed_.data(), packed_.size());
    }
  }

  // More of a transposed tensor: of each of its columns so many numbers are read in one piece.
  static std::uint64_t rows_at_once(const PlannedTensor& tensor) {
    const bool transposed = !tensor.sources.empty() && tensor.sources[0].rank == 2 && tensor.sources[0].stride[1] != 1;
    return rows_per_read(tensor.spec.columns, transposed ? kTransposedFloats : kPlainFloats);
  }

  // Rows [first, first + count) of the tensor, out of as many sources as hold them.
  void read_rows(const PlannedTensor& tensor, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t columns = tensor.spec.columns;
    float* out = rows_.data();
    if (tensor.sources.empty()) {
      std::copy_n(&tensor.values[static_cast<std::size_t>(first * columns)], count * columns, out);
      return;
    }
    if (tensor.spec.rows == 1) {  // a vector: its sources stand side by side
      for (const StoredTensor& source : tensor.sources) {
        RowReader(checkpoint_.file_of(source), source).read(0, 1, out);
        out += source.columns();
      }
      return;
    }
    std::uint64_t begin = 0;  // of the source
    for (const StoredTensor& source : tensor.sources) {
      const std::uint64_t end = begin + source.rows();
      const std::uint64_t from = std::max(first, begin);
      const std::uint64_t to = std::min(first + count, end);
      if (from < to) {
        RowReader(checkpoint_.file_of(source), source).read(from - begin, to - from, out);
        out += (to - from) * columns;
      }
      begin = end;
    }
  }

  void pack_blocks(const PlannedTensor& tensor, std::uint64_t first, std::uint32_t count, std::uint32_t columns) {
    const std::size_t block_bytes = std::size_t{group_count(columns)} * group_bytes(tensor.type);
    packed_.resize(block_count(count) * block_bytes);
    for (std::uint32_t row = 0; row < count; row += kBlockRows) {
      const PackResult result =
          pack_block(&rows_[row * std::size_t{columns}], std::min(kBlockRows, count - row), columns, tensor.type,
                     options_.allow_nonfinite, &packed_[row / kBlockRows * block_bytes]);
      if (result.fault != PackFault::none) refuse_weight(tensor, result, first + row);
    }
  }

  void pack_rows(const PlannedTensor& tensor, std::uint64_t first, std::uint32_t count, std::uint32_t columns) {
    const std::size_t row_bytes = round_up(std::size_t{columns}, std::size_t{8}) * sizeof(float);
    packed_.resize(count * row_bytes);
    for (std::uint32_t row = 0; row < count; ++row) {
      const PackResult result = pack_row(&rows_[row * std::size_t{columns}], columns, options_.allow_nonfinite,
                                         reinterpret_cast<float*>(&packed_[row * row_bytes]));
      if (result.fault != PackFault::none) refuse_weight(tensor, result, first + row);
    }
  }

  const Checkpoint& checkpoint_;
  const ModelPlan& plan_;
  const WriteOptions& options_;
  ByteSink* out_;
  FileHeader header_ = {};
  std::vector<TensorEntry> entries_;
  std::uint32_t data_crc_ = 0;
  std::vector<float> rows_;  // [rows of one read][columns]
  std::vector<std::byte> packed_;
};

}  // namespace

void write_model(const Checkpoint& checkpoint, const ModelPlan& plan, std::string_view tokenizer,
                 std::string_view provenance, const WriteOptions& options, ByteSink* out) {
  Writer(checkpoint, plan, options, out).write(tokenizer, provenance);
}

}  // namespace minnow::convert
