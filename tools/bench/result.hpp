// What `minnow bench` measures, as plain numbers for its table, JSON, picture and comparison. Depends on nothing of
// minnow.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace minnow {

// The median of some runs, with the least and the most of them. Seconds, or what a comment says.
struct Figure {
  double median = 0;
  double low = 0;
  double high = 0;
  std::uint32_t runs = 0;
};

// One step from token to logits, at the position `context`.
struct DecodeResult {
  std::uint32_t threads = 0;
  std::uint32_t context = 0;
  Figure seconds;    // of one step
  double bytes = 0;  // weights, keys and values that it reads
};

// `length` tokens into an empty context, and the logits of the last one.
struct PrefillResult {
  std::uint32_t threads = 0;
  std::uint32_t length = 0;
  Figure seconds;
  double macs = 0;  // multiply-adds of products and attention
};

// One kind of operation, of all layers in turn, for `tokens` tokens.
struct OperationResult {
  std::string name;   // "c_attn", "quantise", ..
  std::string phase;  // "decode": one token; "prefill": a batch
  std::uint32_t threads = 0;
  std::uint32_t tokens = 0;
  Figure seconds;
  double bytes = 0;       // products: weights; attention: keys and values; rows: read and written
  double macs = 0;        // multiply-adds; of rows of numbers: additions, products and both in one, as one each
  double read_limit = 0;  // bytes a second: the same bytes, summed
  double mac_limit = 0;   // multiply-adds a second of the table's own instructions, in registers

  double bytes_a_second() const { return bytes / seconds.median; }
  double macs_a_second() const { return macs / seconds.median; }
};

// The machine with one number of threads.
struct LimitResult {
  std::uint32_t threads = 0;
  Figure read;            // bytes a second, over all bytes that a decode step streams
  Figure multiply;        // multiply-adds a second, of the type that most weights have
  Figure multiply_float;  // the same of f32
  Figure multiply_int8;   // of int8
};

struct BenchResult {
  std::string model;
  std::string type;
  std::uint64_t parameters = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t step_bytes = 0;  // of weights that a decode step streams
  std::uint64_t step_macs = 0;   // multiply-adds of a decode step's products

  std::string isa;
  std::string kernels;  // the table's name: "vnni (EVEX)"
  std::string kv;
  std::string load;
  std::uint32_t context = 0;
  std::uint32_t batch = 0;

  double load_seconds = 0;         // from the file's name to an open model
  double first_touch_seconds = 0;  // the first decode step, which touches every weight first
  double first_token_seconds = 0;  // from the start of the process to the end of that step

  std::vector<LimitResult> limits;  // one a thread count
  std::vector<DecodeResult> decode;
  std::vector<PrefillResult> prefill;
  std::vector<OperationResult> operations;
  std::vector<std::string> left_out;  // what would have taken too long, in words
};

}  // namespace minnow
