// Builds model files byte by byte from models/FORMAT.md alone: no struct of the library, literal offsets, its own
// checksum. What the library reads from these files shows that page and code agree.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "minnow/types.hpp"
#include "tests/model/hand_tokenizer.hpp"

namespace minnow::test {

// Bytes on a 64-byte boundary.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t size) : chunks_((size + 63) / 64), size_(size) {}
  std::byte* data() { return reinterpret_cast<std::byte*>(chunks_.data()); }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(chunks_.data()); }
  std::size_t size() const { return size_; }
  minnow::Span<std::byte> span() { return {data(), size_}; }
  minnow::Span<const std::byte> view() const { return {data(), size_}; }

 private:
  struct alignas(64) Chunk {
    std::byte bytes[64];
  };
  std::vector<Chunk> chunks_;
  std::size_t size_ = 0;
};

struct HandShape {
  std::uint32_t n_layer = 2;
  std::uint32_t n_head = 2;
  std::uint32_t head_size = 4;
  std::uint32_t n_embd = 8;
  std::uint32_t n_hidden = 32;
  std::uint32_t block_size = 16;
  std::uint32_t vocab_size = 11;
  std::uint32_t type = 0;        // 0 f32, 1 f16, 2 q8, 3 q4
  std::uint32_t activation = 0;  // 0 GELU by erf, 1 by tanh, 2 ReLU, 3 ReLU squared, 4 gated
  std::uint32_t n_kv_head = 0;   // 0: as n_head
  std::uint32_t norm = 0;        // 0 layer norm, 1 RMS norm
  std::uint32_t positions = 0;   // 0 learned, 1 sinusoidal, 2 rotary, 3 none
  std::uint32_t pairing = 0;     // 0 adjacent, 1 halves
  std::uint32_t rotary_dims = 0;
  std::uint32_t qk_norm = 0;  // 0 none, 1 before the rotation, 2 after it
  std::uint32_t embed_norm = 0;
  std::uint32_t output = 0;  // 0 tied, 1 separate
  float attention_scale = 0;
  float softcap = 0;
  bool bias = true;                    // every bias that the config may have but lm_head's
  bool norm_weights = true;            // every weight of a norm
  std::vector<std::uint32_t> with;     // optional roles that are there all the same
  std::vector<std::uint32_t> without;  // and that are not
  float amplitude = 0.5f;              // weights are uniform in +- this
  std::uint32_t seed = 1;
  std::vector<std::string> pieces;  // text of the ids 0 .. n_tokens - 1; empty: no tokenizer, n_tokens = vocab_size
  HandTokenizer tokenizer;          // instead of pieces, finished
  std::string section;              // instead of both: the bytes of a section for vocab_size ids
};

class HandBuilder {
 public:
  // A tensor as numbers, [rows][columns].
  struct Plain {
    std::uint32_t role, layer, rows, columns;
    std::vector<float> values;
  };

  explicit HandBuilder(const HandShape& shape) : s_(shape), random_(shape.seed * 2654435761u + 1) {
    if (s_.n_kv_head == 0) s_.n_kv_head = s_.n_head;
    if (!s_.pieces.empty()) {
      s_.tokenizer.pieces = s_.pieces;
      s_.tokenizer.finish();
    }
    if (!s_.tokenizer.pieces.empty()) s_.section = s_.tokenizer.section();
  }

  AlignedBytes build() {
    plan_tensors();
    bytes_.assign(256, 0);
    for (const Entry& e : entries_) put_entry(e);
    pad(64);
    const std::size_t tokenizer_at = bytes_.size();
    bytes_.insert(bytes_.end(), s_.section.begin(), s_.section.end());
    const std::size_t tokenizer_bytes = bytes_.size() - tokenizer_at;
    pad(64);
    const std::size_t provenance_at = bytes_.size();
    const std::string provenance = "source=hand\n";
    for (const char c : provenance) bytes_.push_back(static_cast<std::uint8_t>(c));
    pad(64);
    const std::size_t data_at = bytes_.size();
    put_weights();
    put_header(tokenizer_at, tokenizer_bytes, provenance_at, provenance.size(), data_at);
    AlignedBytes out(bytes_.size());
    std::memcpy(out.data(), bytes_.data(), bytes_.size());
    return out;
  }

  // What build() has put into the file, in its order.
  const std::vector<Plain>& plain() const { return plain_; }

  // Recomputes both checksums of header and tables after a test has changed something, so that the change is seen.
  static void seal(AlignedBytes& file) {
    auto* p = reinterpret_cast<std::uint8_t*>(file.data());
    std::uint64_t data_at = 0;
    std::memcpy(&data_at, p + 72, 8);
    if (data_at < 256 || data_at > file.size()) data_at = 256;
    const std::uint32_t tables = checksum(p + 256, static_cast<std::size_t>(data_at) - 256);
    std::memcpy(p + 92, &tables, 4);
    std::memset(p + 96, 0, 4);
    const std::uint32_t header = checksum(p, 256);
    std::memcpy(p + 96, &header, 4);
  }

  static std::uint32_t checksum(const std::uint8_t* data, std::size_t size) {
    std::uint32_t c = 0xffffffffu;
    for (std::size_t i = 0; i < size; ++i) {
      c ^= data[i];
      for (int b = 0; b < 8; ++b) c = (c & 1) != 0 ? (c >> 1) ^ 0xedb88320u : c >> 1;
    }
    return ~c;
  }

 private:
  struct Entry {
    std::uint32_t role, layer, type, rows, columns;
    bool matrix;
    std::uint64_t bytes;
    std::uint64_t offset;
  };

  static std::uint64_t up(std::uint64_t n, std::uint64_t unit) { return (n + unit - 1) / unit * unit; }

  void add(std::uint32_t role, std::uint32_t layer, std::uint32_t rows, std::uint32_t columns, bool matrix) {
    const std::uint64_t groups[] = {1024, 512, 272, 144};
    const std::uint64_t group = groups[s_.type];
    const std::uint64_t bytes = matrix ? up(rows, 8) / 8 * (up(columns, 32) / 32) * group : rows * up(columns, 8) * 4;
    entries_.push_back({role, layer, matrix ? s_.type : 0, rows, columns, matrix, bytes, 0});
  }

  // Whether an optional tensor is there.
  bool has(std::uint32_t role) const {
    const auto listed = [role](const std::vector<std::uint32_t>& roles) {
      for (const std::uint32_t r : roles) {
        if (r == role) return true;
      }
      return false;
    };
    if (listed(s_.with)) return true;
    if (listed(s_.without)) return false;
    switch (role) {
      case 3:
        return s_.embed_norm != 0 && s_.norm_weights;
      case 4:
        return s_.embed_norm != 0 && s_.norm == 0 && s_.bias;
      case 16:
      case 24:
      case 64:
        return s_.norm_weights;
      case 17:
      case 25:
      case 65:
        return s_.norm == 0 && s_.bias;
      case 20:
      case 21:
        return s_.qk_norm != 0 && s_.norm_weights;
      case 29:
        return s_.activation == 4 && s_.bias;
      case 67:
        return false;
      default:
        return s_.bias;
    }
  }
  void vector(std::uint32_t role, std::uint32_t layer, std::uint32_t columns) {
    if (has(role)) add(role, layer, 1, columns, false);
  }

  void plan_layer(std::uint32_t l) {
    const std::uint32_t heads = s_.n_head * s_.head_size;
    const std::uint32_t qkv = heads + 2 * s_.n_kv_head * s_.head_size;
    vector(16, l, s_.n_embd);
    vector(17, l, s_.n_embd);
    add(18, l, qkv, s_.n_embd, true);
    vector(19, l, qkv);
    vector(20, l, s_.head_size);
    vector(21, l, s_.head_size);
    add(22, l, s_.n_embd, heads, true);
    vector(23, l, s_.n_embd);
    vector(24, l, s_.n_embd);
    vector(25, l, s_.n_embd);
    add(26, l, s_.n_hidden, s_.n_embd, true);
    vector(27, l, s_.n_hidden);
    if (s_.activation == 4) add(28, l, s_.n_hidden, s_.n_embd, true);
    vector(29, l, s_.n_hidden);
    add(30, l, s_.n_embd, s_.n_hidden, true);
    vector(31, l, s_.n_embd);
  }

  void plan_tensors() {
    const std::uint32_t none = 0xffffffffu;
    add(0, none, s_.vocab_size, s_.n_embd, true);
    if (s_.positions < 2) add(1, none, s_.block_size, s_.n_embd, false);
    if (s_.positions == 2) add(2, none, 1, s_.rotary_dims / 2, false);
    vector(3, none, s_.n_embd);
    vector(4, none, s_.n_embd);
    for (std::uint32_t l = 0; l < s_.n_layer; ++l) plan_layer(l);
    vector(64, none, s_.n_embd);
    vector(65, none, s_.n_embd);
    if (s_.output == 1) add(66, none, s_.vocab_size, s_.n_embd, true);
    vector(67, none, s_.vocab_size);
    std::uint64_t at = up(256 + entries_.size() * 48, 64);
    at += s_.section.size();
    at = up(at, 64);
    at = up(at + 12, 64);  // the provenance
    for (Entry& e : entries_) {
      e.offset = up(at, 64);
      at = e.offset + e.bytes;
    }
  }

  template <class T>
  void put(T value) {
    std::uint8_t raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof value);
    bytes_.insert(bytes_.end(), raw, raw + sizeof value);
  }
  template <class T>
  void set(std::size_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void pad(std::size_t unit) {
    while (bytes_.size() % unit != 0) bytes_.push_back(0);
  }

  void put_entry(const Entry& e) {
    for (const std::uint32_t v : {e.role, e.layer, e.type, e.rows, e.columns, 0u}) put(v);
    put(e.offset);
    put(e.bytes);
    put(std::uint64_t{0});
  }

  std::uint32_t next() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    return random_;
  }
  float weight() { return (static_cast<float>(next() >> 8) / 8388608.0f - 1.0f) * s_.amplitude; }

  // A half with 8 significant bits and a magnitude in [2^-15, 2^0): the sign and exponent of a random weight.
  std::uint16_t half() {
    return static_cast<std::uint16_t>((next() & 0x8000u) | (1 + next() % 14) << 10 | (next() & 0x3f8u));
  }

  void put_weights() {
    for (const Entry& e : entries_) {
      while (bytes_.size() < e.offset) bytes_.push_back(0);
      plain_.push_back({e.role, e.layer, e.rows, e.columns, std::vector<float>(std::size_t{e.rows} * e.columns)});
      if (e.matrix) {
        put_matrix(e);
      } else {
        for (std::uint32_t r = 0; r < e.rows; ++r) {
          for (std::uint64_t c = 0; c < up(e.columns, 8); ++c) put(c < e.columns ? kept(e, r, c, weight()) : 0.0f);
        }
      }
    }
  }

  float kept(const Entry& e, std::uint64_t row, std::uint64_t column, float value) {
    plain_.back().values[static_cast<std::size_t>(row * e.columns + column)] = value;
    return value;
  }
  static float half_value(std::uint16_t h) {  // of a normal one
    const float magnitude = std::ldexp(1.0f + static_cast<float>(h & 0x3ffu) / 1024, (h >> 10 & 31) - 15);
    return (h & 0x8000u) != 0 ? -magnitude : magnitude;
  }

  void put_matrix(const Entry& e) {
    for (std::uint64_t block = 0; block < up(e.rows, 8); block += 8) {
      for (std::uint64_t group = 0; group < up(e.columns, 32); group += 32) {
        if (s_.type == 2) {
          for (std::uint64_t r = block; r < block + 8; ++r) {  // about amplitude / 127
            put(static_cast<std::uint16_t>(r < e.rows ? 0x1800 + next() % 0x400 : 0));
          }
          for (std::uint64_t step = 0; step < 8; ++step) {
            for (std::uint64_t r = block; r < block + 8; ++r) {
              for (std::uint64_t c = group + step * 4; c < group + step * 4 + 4; ++c) {
                put(static_cast<std::int8_t>(r < e.rows && c < e.columns ? static_cast<int>(next() % 256) - 128 : 0));
              }
            }
          }
        } else if (s_.type == 3) {
          put_q4(e, block, group);
        } else {
          for (std::uint64_t c = group; c < group + 32; ++c) {
            for (std::uint64_t r = block; r < block + 8; ++r) {
              const bool inside = r < e.rows && c < e.columns;
              if (s_.type == 0) put(inside ? kept(e, r, c, weight()) : 0.0f);
              if (s_.type == 1) {
                const auto h = static_cast<std::uint16_t>(inside ? half() : 0);
                if (inside) kept(e, r, c, half_value(h));
                put(h);
              }
            }
          }
        }
      }
    }
  }

  // One block and group of q4: scales of either sign, about amplitude / 8; byte (step, row, c) holds column 4 step + c
  // below and column 4 (step + 4) + c above, each plus 8.
  void put_q4(const Entry& e, std::uint64_t block, std::uint64_t group) {
    for (std::uint64_t r = block; r < block + 8; ++r) {
      put(static_cast<std::uint16_t>(r < e.rows ? (0x2800 + next() % 0x400) | (next() % 2 << 15) : 0));
    }
    for (std::uint64_t step = 0; step < 4; ++step) {
      for (std::uint64_t r = block; r < block + 8; ++r) {
        for (std::uint64_t c = group + step * 4; c < group + step * 4 + 4; ++c) {
          const auto nibble = [&](std::uint64_t column) {
            return r < e.rows && column < e.columns ? static_cast<unsigned>(next() % 16) : 8u;
          };
          const unsigned low = nibble(c);
          put(static_cast<std::uint8_t>(low | nibble(c + 16) << 4));
        }
      }
    }
  }

  void put_header(std::size_t tokenizer_at, std::size_t tokenizer_bytes, std::size_t provenance_at,
                  std::size_t provenance_bytes, std::size_t data_at) {
    const std::uint8_t magic[8] = {0x89, 0x4d, 0x4e, 0x57, 0x0d, 0x0a, 0x1a, 0x0a};
    std::memcpy(bytes_.data(), magic, 8);
    set<std::uint16_t>(8, 1);
    set<std::uint32_t>(12, 256);
    set<std::uint64_t>(16, bytes_.size());
    set<std::uint32_t>(32, static_cast<std::uint32_t>(entries_.size()));
    set<std::uint32_t>(36, 48);
    set<std::uint64_t>(40, tokenizer_at);
    set<std::uint64_t>(48, tokenizer_bytes);
    set<std::uint64_t>(56, provenance_at);
    set<std::uint64_t>(64, provenance_bytes);
    set<std::uint64_t>(72, data_at);
    set<std::uint64_t>(80, bytes_.size() - data_at);
    const auto n_tokens = s_.tokenizer.pieces.empty() ? s_.vocab_size : s_.tokenizer.n_tokens;
    const std::uint32_t dims[9] = {s_.n_layer,  s_.n_head,     s_.n_kv_head,  s_.n_embd, s_.head_size,
                                   s_.n_hidden, s_.block_size, s_.vocab_size, n_tokens};
    for (std::size_t i = 0; i < 9; ++i) set(104 + 4 * i, dims[i]);
    set(144, 1e-5f);
    set(140, s_.norm);
    set(148, s_.positions);
    set(152, s_.pairing);
    set(156, s_.rotary_dims);
    set(164, s_.activation);
    set(168, s_.attention_scale);
    set(176, s_.softcap);
    set(180, s_.qk_norm);
    set(184, s_.embed_norm);
    set(188, s_.output);
    set(192, s_.type);
    set(88, checksum(bytes_.data() + data_at, bytes_.size() - data_at));
    set(92, checksum(bytes_.data() + 256, data_at - 256));
    set(96, checksum(bytes_.data(), 256));
  }

  HandShape s_;
  std::uint32_t random_;
  std::vector<Entry> entries_;
  std::vector<Plain> plain_;  // of f32 and f16 weights; those of q8 are left 0
  std::vector<std::uint8_t> bytes_;
};

inline AlignedBytes hand_built(const HandShape& shape) { return HandBuilder(shape).build(); }

}  // namespace minnow::test
