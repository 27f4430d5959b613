// The .minnow file, byte by byte: little-endian structs that are read in place. models/FORMAT.md is the specification;
// these structs are the same page for the compiler. Depends on base and public types.
//
//   header | tensor table | tokenizer section | provenance | weights
// Every section and every tensor starts on a multiple of 64 bytes; the gaps before the weights are zero bytes.
#pragma once

#include <cstdint>

namespace minnow {

// Not text (0x89), broken by any conversion of line ends (CR LF, LF), not printable past 0x1A.
inline constexpr unsigned char kMagic[8] = {0x89, 'M', 'N', 'W', 0x0d, 0x0a, 0x1a, 0x0a};
inline constexpr std::uint16_t kVersionMajor = 1;  // a reader refuses a newer major
inline constexpr std::uint16_t kVersionMinor = 0;  // and ignores what a newer minor added
inline constexpr std::uint64_t kSectionAlign = 64;

enum class Norm : std::uint32_t { layer = 0, rms = 1 };
enum class Positions : std::uint32_t { learned = 0, sinusoidal = 1, rotary = 2, none = 3 };
enum class RotaryPairing : std::uint32_t { adjacent = 0, halves = 1 };
enum class Activation : std::uint32_t { gelu_erf = 0, gelu_tanh = 1, relu = 2, relu_squared = 3, silu_gated = 4 };
enum class Output : std::uint32_t { tied = 0, separate = 1 };
enum class QkNorm : std::uint32_t { none = 0, rms_before_rotary = 1, rms_after_rotary = 2 };
enum class EmbedNorm : std::uint32_t { none = 0, same_as_norm = 1 };  // a norm right after the embedding

// What a model is. Describes families that the runtime does not run yet; Model::open names what it refuses.
struct Config {
  std::uint32_t n_layer = 0;
  std::uint32_t n_head = 0;
  std::uint32_t n_kv_head = 0;
  std::uint32_t n_embd = 0;
  std::uint32_t head_size = 0;
  std::uint32_t n_hidden = 0;  // MLP width
  std::uint32_t block_size = 0;
  std::uint32_t vocab_size = 0;  // rows of wte, length of the logits
  std::uint32_t n_tokens = 0;    // ids with text; <= vocab_size
  Norm norm = Norm::layer;
  float norm_eps = 0;
  Positions positions = Positions::learned;
  RotaryPairing rotary_pairing = RotaryPairing::adjacent;
  std::uint32_t rotary_dims = 0;  // of each head; 0 unless positions is rotary
  float rotary_base = 0;          // for information; the frequencies are a tensor
  Activation activation = Activation::gelu_erf;
  float attention_scale = 0;           // 0: 1 / sqrt(head_size)
  std::uint32_t attention_window = 0;  // positions a query sees, itself included; 0: all
  float logit_softcap = 0;             // c: logits = c * tanh(logits / c); 0: none
  QkNorm qk_norm = QkNorm::none;
  EmbedNorm embed_norm = EmbedNorm::none;
  Output output = Output::tied;
  std::uint32_t weight_type = 0;    // WeightType of the matrices; single tensors may differ, their entries say so
  std::uint32_t reserved[15] = {};  // 0
};
static_assert(sizeof(Config) == 152);

struct FileHeader {
  unsigned char magic[8];
  std::uint16_t version_major;
  std::uint16_t version_minor;
  std::uint32_t header_bytes;  // sizeof(FileHeader) of the writer, a multiple of 64; the tensor table starts here
  std::uint64_t file_bytes;
  std::uint64_t required_features;  // bits a reader must know to read the file right; none are defined
  std::uint32_t tensor_count;
  std::uint32_t tensor_entry_bytes;  // sizeof(TensorEntry)
  std::uint64_t tokenizer_offset;    // the sections in order, each right after the one before, rounded up to 64
  std::uint64_t tokenizer_bytes;     // 0: no tokenizer
  std::uint64_t provenance_offset;
  std::uint64_t provenance_bytes;  // UTF-8 lines "key=value\n"; 0: none
  std::uint64_t data_offset;
  std::uint64_t data_bytes;    // up to the end of the file
  std::uint32_t data_crc32;    // of [data_offset, file_bytes)
  std::uint32_t tables_crc32;  // of [header_bytes, data_offset)
  std::uint32_t header_crc32;  // of the header, this field taken as 0
  std::uint32_t reserved;      // 0
  Config config;
};
static_assert(sizeof(FileHeader) == 256);

// nanoGPT's names. A model's tensors stand in ascending order of (layer, role): before the layers kNoLayerFirst, then
// layer by layer, then the rest. Which optional ones exist says the table itself.
enum class Role : std::uint32_t {
  wte = 0,                  // [vocab_size][n_embd]
  wpe = 1,                  // f32 [block_size][n_embd]; learned and sinusoidal positions
  rotary_frequencies = 2,   // f32 [1][rotary_dims / 2]
  embed_norm_weight = 3,    // f32 [1][n_embd]
  embed_norm_bias = 4,      // f32 [1][n_embd]
  ln_1_weight = 16,         // f32 [1][n_embd]
  ln_1_bias = 17,           // f32 [1][n_embd]
  c_attn_weight = 18,       // [(n_head + 2 n_kv_head) head_size][n_embd]: the rows of q, then k, then v
  c_attn_bias = 19,         // f32 [1][(n_head + 2 n_kv_head) head_size]
  q_norm_weight = 20,       // f32 [1][head_size]
  k_norm_weight = 21,       // f32 [1][head_size]
  attn_c_proj_weight = 22,  // [n_embd][n_head head_size]
  attn_c_proj_bias = 23,    // f32 [1][n_embd]
  ln_2_weight = 24,         // f32 [1][n_embd]
  ln_2_bias = 25,           // f32 [1][n_embd]
  c_fc_weight = 26,         // [n_hidden][n_embd]
  c_fc_bias = 27,           // f32 [1][n_hidden]
  c_gate_weight = 28,       // [n_hidden][n_embd]; gated activations
  c_gate_bias = 29,         // f32 [1][n_hidden]
  mlp_c_proj_weight = 30,   // [n_embd][n_hidden]
  mlp_c_proj_bias = 31,     // f32 [1][n_embd]
  ln_f_weight = 64,         // f32 [1][n_embd]
  ln_f_bias = 65,           // f32 [1][n_embd]
  lm_head_weight = 66,      // [vocab_size][n_embd]; separate output only
  lm_head_bias = 67,        // f32 [1][vocab_size]
};
inline constexpr std::uint32_t kNoLayer = 0xffffffffu;  // TensorEntry::layer of roles below 16 and from 64

// Storage: matrices (wte, lm_head and the roles named *_weight with two real dimensions) as kernels/layout.hpp says;
// everything else f32, each row padded with zeros to a multiple of 8 floats.
struct TensorEntry {
  Role role;
  std::uint32_t layer;  // or kNoLayer
  std::uint32_t type;   // WeightType
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t reserved;   // 0
  std::uint64_t offset;     // from the start of the file
  std::uint64_t bytes;      // what rows, columns and type need; the next tensor starts at the next multiple of 64
  std::uint64_t reserved2;  // 0
};
static_assert(sizeof(TensorEntry) == 48);

// Tokenizer section: this header, then
//   u32   offset[n_tokens + 1]  into text: strictly ascending, first 0, last text_bytes
//   u32   sorted[n_pieces]      the ids that a text is looked up in, in strictly ascending order of their bytes
//   u32   padding[n_tokens - n_pieces]  0xffffffff
//   u32   byte_id[256]          the id of each single byte, or 0xffffffff; not in kind `characters`
//   Merge merge[n_merges]       in strictly ascending order of (left, right); not in kinds `characters` and `bytes`
//   u32   special[n_special]    ids of special tokens, ascending by their bytes; not in kind `characters`
//   u8    text[text_bytes]
//
// How text becomes ids:
//   characters       the longest piece that matches, again and again
//   bytes            byte_id of each byte
//   byte_level_bpe   the text is split as `split` says; each part starts as the byte_id of its bytes; then the pair
//                    with the lowest rank is merged, the leftmost of equals, until no pair has a merge. All byte_ids
//                    exist, and are in `sorted`
//   scored_bpe       the same without a split, but a part starts as one id a UTF-8 character where `sorted` has it,
//                    else as the byte_ids of its bytes; these need not exist, are not in `sorted`, and never merge
enum class TokenizerKind : std::uint32_t { characters = 1, bytes = 2, byte_level_bpe = 3, scored_bpe = 4 };
enum class TokenizerSplit : std::uint32_t { none = 0, gpt2 = 1 };  // gpt2: the rule of text/split.hpp
inline constexpr std::uint32_t kNoId = 0xffffffffu;
struct Merge {
  std::uint32_t left;
  std::uint32_t right;
  std::uint32_t rank;    // lower ones are merged first; not kNoId
  std::uint32_t result;  // in `sorted`; its piece is the left one's and the right one's, at most 128 bytes together
};
static_assert(sizeof(Merge) == 16);
struct TokenizerHeader {
  TokenizerKind kind;
  std::uint32_t n_tokens;  // = Config::n_tokens
  std::uint32_t text_bytes;
  std::uint32_t max_piece_bytes;  // the longest piece
  std::uint32_t n_pieces;         // <= n_tokens; equal in kind `characters`
  TokenizerSplit split;           // none but in byte_level_bpe
  std::uint32_t n_merges;
  std::uint32_t n_special;
  std::uint32_t begin;  // 1 + the id that every text begins with, and that ends one when it is generated; 0: none
  std::uint32_t space_prefix;  // 1, in scored_bpe only: a space is put before a text that begins a sequence; else 0
  std::uint32_t reserved[6];   // 0
};
static_assert(sizeof(TokenizerHeader) == 64);

}  // namespace minnow
