// Depends on calibration and sha256.
#include "tools/convert/calibration.hpp"

#include <algorithm>

#include "base/bits.hpp"
#include "tools/convert/sha256.hpp"
#include "tools/messages.hpp"

namespace minnow::convert {

namespace {

constexpr std::size_t kLongestWindow = 1024;
constexpr std::size_t kHeldOut = 8;                             // every 8th window
constexpr std::uint64_t kMostStream = std::uint64_t{40} << 20;  // bytes of the residual stream between two layers
constexpr std::string_view kEndOfText = "<|endoftext|>";

bool ends_with(std::string_view name, std::string_view end) {
  return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
}

// How many windows are calibrated on.
std::size_t window_count(std::uint64_t tokens, const Config& config) {
  const std::uint64_t length = calibration_window(config);
  const std::uint64_t room = kMostStream / (std::uint64_t{round_up(config.n_embd, 32u)} * sizeof(float));
  return static_cast<std::size_t>(std::max<std::uint64_t>(1, (std::min(tokens, room) + length - 1) / length));
}
std::size_t held_out_count(std::size_t windows) { return (windows + kHeldOut - 1) / kHeldOut; }

// Every 8th of all windows, and the last of what is left, is held out.
void deal(const quantise::Windows& all, Calibration* out) {
  const std::size_t count = all.count();
  out->windows.length = out->held_out.length = all.length;
  for (std::size_t i = 0; i < count; ++i) {
    const bool held_out = count > 1 && (i % (kHeldOut + 1) == kHeldOut || (i + 1 == count && i % (kHeldOut + 1) != 0));
    std::vector<Token>& to = held_out ? out->held_out.tokens : out->windows.tokens;
    to.insert(to.end(), all.window(i), all.window(i) + all.length);
  }
  if (count > 1 && out->held_out.tokens.empty()) {
    out->held_out.tokens.assign(all.window(count - 1), all.window(count - 1) + all.length);
    out->windows.tokens.resize(out->windows.tokens.size() - all.length);
  }
}

bool is_ids(const InputFile& file) {
  if (ends_with(file.path(), ".bin") || ends_with(file.path(), ".u16")) return true;
  std::string start(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 1 << 16)), '\0');
  if (!start.empty()) file.read_at(0, &start[0], start.size());
  return start.find('\0') != std::string::npos;
}

// Where tokens are taken from: any run of them.
class TokenFile {
 public:
  TokenFile(const std::string& path, const Model& model) : file_(path), model_(model), ids_(is_ids(file_)) {
    if (ids_ && file_.size() % 2 != 0) {
      refuse_file(
          concat("has ", file_.size(), " bytes; expected an even number: ids of 16 bits, as in nanoGPT's train.bin"));
    }
    if (!ids_) encode();
  }

  bool ids() const { return ids_; }
  std::uint64_t size() const { return ids_ ? file_.size() / 2 : tokens_.size(); }
  std::string hash(const quantise::Progress& progress) const {
    return hash_file(file_, [&](std::uint64_t done, std::uint64_t total) {
      if (progress) progress(static_cast<double>(done) / static_cast<double>(total));
    });
  }
  void require_unchanged() const { file_.require_unchanged(); }

  void read(std::uint64_t from, std::size_t count, std::vector<Token>* out) const {
    if (!ids_) {
      const auto begin = tokens_.begin() + static_cast<std::ptrdiff_t>(from);
      out->insert(out->end(), begin, begin + static_cast<std::ptrdiff_t>(count));
      return;
    }
    std::vector<unsigned char> bytes(count * 2);
    file_.read_at(from * 2, bytes.data(), bytes.size());
    const std::uint32_t vocab_size = model_.info().vocab_size;
    for (std::size_t i = 0; i < count; ++i) {
      const auto id = static_cast<std::uint32_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
      if (id >= vocab_size) {
        refuse_file(concat("has the id ", id, " at byte ", (from + i) * 2, "; expected ids below ", vocab_size,
                           ", the model's vocab_size; give the text that this model was trained on"));
      }
      out->push_back(static_cast<Token>(id));
    }
  }

  [[noreturn]] void refuse_file(const std::string& what) const { throw Refusal(what, file_.path()); }

 private:
  void encode() {
    Tokenizer tokenizer;
    if (Tokenizer::open(model_, &tokenizer) != Status::ok) {
      refuse_file("is a text and the model has no vocabulary; expected ids of 16 bits, as in nanoGPT's train.bin");
    }
    const std::uint64_t most = std::min(file_.size(), kMostText);
    std::string text(static_cast<std::size_t>(most), '\0');
    if (most != 0) file_.read_at(0, &text[0], text.size());
    // Cut in front of a character.
    std::size_t end = text.size();
    if (most < file_.size()) {
      while (end > 0 && (static_cast<unsigned char>(text[end - 1]) & 0xc0u) == 0x80u) --end;
      if (end > 0) --end;
    }
    EncodeConfig config;
    config.begin = true;
    tokens_.resize(end + 2);
    EncodeResult result;
    const Status status =
        tokenizer.encode(std::string_view(text).substr(0, end), config, {tokens_.data(), tokens_.size()}, &result);
    if (status == Status::bad_argument) {
      refuse_file(concat("has at byte ", result.bytes,
                         " a character that the model does not know; expected a text like the one it was trained on"));
    }
    if (status != Status::ok) refuse_file(concat("cannot be encoded: ", to_string(status)));
    tokens_.resize(result.tokens);
  }

  InputFile file_;
  const Model& model_;
  bool ids_;
  std::vector<Token> tokens_;  // of a text
};

// What a text begins with, for this model.
Token start_token(const Model& model) {
  constexpr Token kGpt2End = 50256;
  Tokenizer tokenizer;
  if (Tokenizer::open(model, &tokenizer) != Status::ok) {
    return model.info().n_tokens == static_cast<std::uint32_t>(kGpt2End) + 1 ? kGpt2End : 0;
  }
  if (tokenizer.begin_token() >= 0) return tokenizer.begin_token();
  EncodeConfig config;
  config.special = true;
  for (const std::string_view text : {kEndOfText, std::string_view("\n")}) {
    Token tokens[32];
    EncodeResult result;
    const bool known = tokenizer.encode(text, config, {tokens, std::size(tokens)}, &result) == Status::ok;
    if (known && result.tokens == 1) return tokens[0];
  }
  return 0;
}

std::string hash_ids(const std::vector<Token>& tokens) {
  Sha256 hash;
  for (const Token token : tokens) {
    const auto id = static_cast<std::uint32_t>(token);
    const unsigned char bytes[] = {static_cast<unsigned char>(id), static_cast<unsigned char>(id >> 8),
                                   static_cast<unsigned char>(id >> 16), static_cast<unsigned char>(id >> 24)};
    hash.update(bytes, sizeof bytes);
  }
  return hash.finish();
}

}  // namespace

std::size_t calibration_window(const Config& config) {
  return std::min<std::size_t>(config.block_size, kLongestWindow);
}

Calibration read_calibration(const CalibrationOptions& options, const Model& model,
                             const quantise::Progress& progress) {
  const Config& config = ModelView(model).config();
  const std::size_t length = calibration_window(config);
  const TokenFile file(options.file, model);
  const std::size_t wanted = window_count(options.tokens != 0 ? options.tokens : kFileTokens, config);
  const std::size_t whole =
      static_cast<std::size_t>(std::min<std::uint64_t>(file.size() / length, wanted + held_out_count(wanted)));
  if (whole < 2) {
    file.refuse_file(concat("has ", file.size(), file.ids() ? " ids" : " tokens", "; expected at least ", 2 * length,
                            ": two windows of ", length, "; give a longer text, or leave out --calibrate"));
  }
  quantise::Windows all;
  all.length = length;
  for (std::size_t i = 0; i < whole; ++i) {
    check_interrupted();
    file.read((file.size() - length) / (whole - 1) * i, length, &all.tokens);
  }
  Calibration out;
  deal(all, &out);
  const char* const kind = file.ids() ? "ids" : "text";
  const std::string name = printable(file_name_of(options.file));
  out.source = concat(name, " (", kind, ")");
  out.provenance = {concat("calibration=", name), concat("calibration_kind=", kind),
                    concat("calibration_tokens=", out.windows.tokens.size()),
                    concat("calibration_sha256=", file.hash(progress))};
  file.require_unchanged();
  return out;
}

Calibration sample_calibration(const CalibrationOptions& options, const Model& model, const quantise::Workers& workers,
                               const quantise::Progress& progress) {
  const Config& config = ModelView(model).config();
  const std::size_t wanted = window_count(options.tokens != 0 ? options.tokens : kSampledTokens, config);
  Calibration out;
  const quantise::Windows all = quantise::sample_windows(
      model, wanted + held_out_count(wanted), calibration_window(config), start_token(model), workers, progress);
  deal(all, &out);
  out.source = "self";
  out.provenance = {"calibration=self", concat("calibration_tokens=", out.windows.tokens.size()),
                    concat("calibration_sha256=", hash_ids(all.tokens))};
  return out;
}

}  // namespace minnow::convert
