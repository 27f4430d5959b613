// Deflate: a bit reader, Huffman codes by table, and a window of the last 32 KiB. Depends on inflate.hpp.
#include "tools/convert/inflate.hpp"

#include <cstring>
#include <memory>

#include "tools/convert/refusal.hpp"

namespace minnow::convert {

namespace {

constexpr unsigned kMaxCodeBits = 15;
constexpr unsigned kTableBits = 9;  // codes up to this length are found by one look
constexpr unsigned kMaxSymbols = 288;
constexpr std::size_t kWindow = 32768;

[[noreturn]] void damaged(std::string_view what) {
  refuse("the compressed data is damaged: ", what, "; expected a deflate stream; copy or save the file again");
}

// Bits from the low end of each byte, as deflate packs them.
class BitReader {
 public:
  explicit BitReader(const InflateSource& source) : source_(source) {}

  // The next `count` bits without taking them, padded with 0 behind the end. count <= 16.
  std::uint32_t peek(unsigned count) {
    while (held_ < count) {
      bits_ |= std::uint64_t{next_byte()} << held_;
      held_ += 8;
    }
    return static_cast<std::uint32_t>(bits_ & ((std::uint64_t{1} << count) - 1));
  }
  // Bits that were seen by peek().
  void drop(unsigned count) {
    if (held_ - count < padding_) damaged("it ends too early");
    bits_ >>= count;
    held_ -= count;
  }
  std::uint32_t take(unsigned count) {
    const std::uint32_t value = peek(count);
    drop(count);
    return value;
  }
  void drop_to_byte() { drop(held_ % 8); }
  // Begun bytes count.
  std::uint64_t bytes_used() const { return filled_before_ + at_ - (held_ - padding_) / 8; }

 private:
  unsigned next_byte() {
    if (at_ == filled_) {
      filled_before_ += at_;
      at_ = 0;
      filled_ = ended_ ? 0 : source_(buffer_, sizeof buffer_);
      ended_ = filled_ == 0;
    }
    if (ended_) {
      padding_ += 8;
      return 0;
    }
    return buffer_[at_++];
  }

  const InflateSource& source_;
  unsigned char buffer_[4096];
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t filled_before_ = 0;  // bytes of earlier fillings
  bool ended_ = false;
  std::uint64_t bits_ = 0;
  unsigned held_ = 0;     // bits in bits_
  unsigned padding_ = 0;  // of them, bits that are not in the data
};

// A canonical Huffman code.
class Code {
 public:
  // lengths[i]: bits of the code of symbol i, 0: none. An incomplete code is legal with one symbol only.
  void set(const std::uint8_t* lengths, unsigned symbols) {
    std::uint16_t count[kMaxCodeBits + 1] = {};
    for (unsigned i = 0; i < symbols; ++i) ++count[lengths[i]];
    count[0] = 0;
    unsigned used = 0;
    std::uint32_t code = 0;
    std::uint16_t offset[kMaxCodeBits + 1];
    for (unsigned bits = 1; bits <= kMaxCodeBits; ++bits) {
      code = (code + count[bits - 1]) << 1;
      first_code_[bits] = code;
      first_symbol_[bits] = offset[bits] = static_cast<std::uint16_t>(used);
      count_[bits] = count[bits];
      used += count[bits];
      if (code + count[bits] > (1u << bits)) damaged("a code has more symbols than it can tell apart");
    }
    if (used > 1 && code + count[kMaxCodeBits] != (1u << kMaxCodeBits)) damaged("a code is incomplete");
    std::memset(table_, 0, sizeof table_);
    for (unsigned i = 0; i < symbols; ++i) {
      if (lengths[i] != 0) sorted_[offset[lengths[i]]++] = static_cast<std::uint16_t>(i);
    }
    for (unsigned bits = 1; bits <= kTableBits; ++bits) {
      for (unsigned i = 0; i < count_[bits]; ++i) fill(first_code_[bits] + i, bits, sorted_[first_symbol_[bits] + i]);
    }
  }

  unsigned decode(BitReader* in) const {
    const std::uint32_t ahead = in->peek(kMaxCodeBits);
    const std::uint16_t entry = table_[ahead & ((1u << kTableBits) - 1)];
    if (entry != 0) {
      in->drop(entry & 15u);
      return entry >> 4;
    }
    std::uint32_t code = 0;
    for (unsigned bits = 1; bits <= kMaxCodeBits; ++bits) {
      code = code << 1 | (ahead >> (bits - 1) & 1);
      if (code >= first_code_[bits] && code - first_code_[bits] < count_[bits]) {
        in->drop(bits);
        return sorted_[first_symbol_[bits] + (code - first_code_[bits])];
      }
    }
    damaged("it uses a code that stands for nothing");
  }

 private:
  // Every table index that begins with the code; the first bit of a code is the lowest of the index.
  void fill(std::uint32_t code, unsigned bits, unsigned symbol) {
    std::uint32_t reversed = 0;
    for (unsigned i = 0; i < bits; ++i) reversed |= (code >> i & 1) << (bits - 1 - i);
    for (std::uint32_t i = reversed; i < (1u << kTableBits); i += 1u << bits) {
      table_[i] = static_cast<std::uint16_t>(symbol << 4 | bits);
    }
  }

  std::uint16_t table_[1u << kTableBits];  // symbol << 4 | bits; 0: a longer code, or none
  std::uint16_t sorted_[kMaxSymbols];      // by length, then by symbol
  std::uint32_t first_code_[kMaxCodeBits + 1];
  std::uint16_t first_symbol_[kMaxCodeBits + 1];
  std::uint16_t count_[kMaxCodeBits + 1];
};

class Inflater {
 public:
  Inflater(const InflateSource& source, std::uint64_t bytes, const InflateSink& sink)
      : in_(source), bytes_(bytes), sink_(sink) {}

  std::uint64_t run() {
    bool last = false;
    while (!last) {
      last = in_.take(1) != 0;
      const std::uint32_t type = in_.take(2);
      if (type == 3) damaged("a block is of no known type");
      if (type == 0) {
        copy_stored();
      } else {
        // A code takes longer to set up than a short block to decode: many tiny blocks are made to cost time.
        if (++coded_blocks_ > 1024 + bytes_ / 64) damaged("it has more blocks than so few bytes need");
        type == 1 ? set_fixed_codes() : read_codes();
        decode_block();
      }
    }
    flush();
    if (written_ != bytes_) {
      damaged(concat("it gives ", written_, " bytes where ", bytes_, " were announced"));
    }
    return in_.bytes_used();
  }

 private:
  void put(unsigned char byte) {
    window_[at_++] = byte;
    if (at_ == sizeof window_) {
      flush();
      // What matches may still refer to moves to the front.
      std::memcpy(window_, window_ + kWindow, kWindow);
      at_ = flushed_ = kWindow;
    }
  }

  void flush() {
    const std::size_t bytes = at_ - flushed_;
    if (bytes > bytes_ - written_) refuse_excess();
    if (bytes > 0) sink_(window_ + flushed_, bytes);
    written_ += bytes;
    flushed_ = at_;
  }

  void copy_stored() {
    in_.drop_to_byte();
    const std::uint32_t bytes = in_.take(16);
    if ((in_.take(16) ^ bytes) != 0xffff) damaged("the length of a stored block is wrong");
    for (std::uint32_t i = 0; i < bytes; ++i) put(static_cast<unsigned char>(in_.take(8)));
  }

  void set_fixed_codes() {
    std::uint8_t lengths[kMaxSymbols];
    for (unsigned i = 0; i < kMaxSymbols; ++i) {
      lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    }
    literals_.set(lengths, kMaxSymbols);
    std::memset(lengths, 5, 32);
    distances_.set(lengths, 32);
  }

  void read_codes() {
    static constexpr std::uint8_t kOrder[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const unsigned literals = 257 + in_.take(5);
    const unsigned distances = 1 + in_.take(5);
    const unsigned own = 4 + in_.take(4);
    if (literals > 286 || distances > 30) damaged("a block has more codes than there are");
    std::uint8_t lengths[286 + 30] = {};
    for (unsigned i = 0; i < own; ++i) lengths[kOrder[i]] = static_cast<std::uint8_t>(in_.take(3));
    literals_.set(lengths, 19);  // first of all the code in which the two codes are written
    std::memset(lengths, 0, 19);
    for (unsigned i = 0; i < literals + distances;) {
      const unsigned symbol = literals_.decode(&in_);
      if (symbol < 16) {
        lengths[i++] = static_cast<std::uint8_t>(symbol);
        continue;
      }
      if (symbol == 16 && i == 0) damaged("a length repeats nothing");
      const std::uint8_t repeated = symbol == 16 ? lengths[i - 1] : std::uint8_t{0};
      unsigned times = symbol == 16 ? 3 + in_.take(2) : symbol == 17 ? 3 + in_.take(3) : 11 + in_.take(7);
      if (times > literals + distances - i) damaged("a length repeats too often");
      while (times-- > 0) lengths[i++] = repeated;
    }
    if (lengths[256] == 0) damaged("a block has no end");
    literals_.set(lengths, literals);
    distances_.set(lengths + literals, distances);
  }

  void decode_block() {
    for (;;) {
      const unsigned symbol = literals_.decode(&in_);
      if (symbol == 256) return;
      if (symbol < 256) {
        put(static_cast<unsigned char>(symbol));
      } else {
        copy_match(symbol - 257);
      }
    }
  }

  void copy_match(unsigned symbol) {
    static constexpr std::uint16_t kLength[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                  31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static constexpr std::uint8_t kLengthBits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                     2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    if (symbol >= 29) damaged("a match has no length");
    unsigned length = kLength[symbol] + in_.take(kLengthBits[symbol]);
    const unsigned far = distances_.decode(&in_);
    if (far >= 30) damaged("a match has no distance");
    // 1, 2, 3, 4, then pairs of ranges that double: the distances of RFC 1951, section 3.2.5.
    const unsigned extra = far < 4 ? 0 : far / 2 - 1;
    const std::size_t distance = far < 4 ? far + 1 : ((2u + far % 2) << extra) + 1 + in_.take(extra);
    if (distance > at_ || distance > kWindow) damaged("a match reaches back before the beginning");
    if (bytes_ - written_ < at_ - flushed_ + length) refuse_excess();
    while (length-- > 0) put(window_[at_ - distance]);
  }

  [[noreturn]] void refuse_excess() {
    damaged(concat("it gives more than the ", bytes_, " bytes that were announced"));
  }

  BitReader in_;
  std::uint64_t bytes_;
  const InflateSink& sink_;
  Code literals_;
  Code distances_;
  unsigned char window_[2 * kWindow];
  std::size_t at_ = 0;       // next byte of window_
  std::size_t flushed_ = 0;  // window_ up to here has gone to the sink
  std::uint64_t written_ = 0;
  std::uint64_t coded_blocks_ = 0;
};

}  // namespace

std::uint64_t inflate(const InflateSource& source, std::uint64_t bytes, const InflateSink& sink) {
  const auto inflater = std::make_unique<Inflater>(source, bytes, sink);  // too large for a small stack
  return inflater->run();
}

}  // namespace minnow::convert
