// Text to token ids and back, over the tokenizer section of a model file. Model::open has checked the section, so
// nothing is checked again here. Depends on model.
#include "base/arguments.hpp"
#include "base/check.hpp"
#include "base/text.hpp"
#include "minnow/minnow.hpp"
#include "model/check_tokenizer.hpp"
#include "model/view.hpp"
#include "text/bpe.hpp"
#include "text/pieces.hpp"
#include "text/split.hpp"
#include "text/utf8.hpp"

namespace minnow {
namespace {

unsigned value(char c) noexcept { return static_cast<unsigned char>(c); }

// The texts of special tokens, found in a text.
class Specials {
 public:
  Specials(const TokenizerView& view, bool wanted) noexcept : view_(view), count_(wanted ? view.header->n_special : 0) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      const std::string_view piece = view_.piece(view_.special[i]);
      add_byte(piece[0], first_);
      if (piece.size() > longest_) longest_ = piece.size();
    }
  }

  // The longest one that text[at ..) begins with, or kNoId.
  std::uint32_t at(std::string_view text, std::size_t at) const noexcept {
    if (count_ == 0 || at == text.size() || !has_byte(first_, text[at])) return kNoId;
    std::size_t length = 0;
    return longest_match(all(), text_at(text, at), &length);
  }

  // Where one begins before `at` that ends behind it, or could, with other text behind this one: the first such place;
  // or `at`.
  std::size_t span_begin(std::string_view text, std::size_t at) const noexcept {
    for (std::size_t begin = at - (longest_ < at ? longest_ : at); begin < at; ++begin) {
      if (has_byte(first_, text[begin]) && spans(text, begin, at)) return begin;
    }
    return at;
  }

  // Where the next one begins at or behind `from`, or the end of the text.
  std::size_t next(std::string_view text, std::size_t from) const noexcept {
    if (count_ == 0) return text.size();
    while (from < text.size() && at(text, from) == kNoId) ++from;
    return from;
  }

 private:
  Narrowing all() const noexcept { return {view_, view_.special, count_}; }

  bool spans(std::string_view text, std::size_t begin, std::size_t at) const noexcept {
    Narrowing pieces = all();
    for (std::size_t i = begin; i < text.size(); ++i) {
      if (!pieces.add(text[i])) return false;
      if (i >= at && pieces.whole() != kNoPiece) return true;
    }
    return pieces.goes_on();
  }

  const TokenizerView& view_;
  std::uint32_t count_;
  std::size_t longest_ = 0;
  std::uint32_t first_[8] = {};  // the bytes that they begin with
};

// Bytes at the borders that merges cross: kEnds, the last ones of what is left; kBegins, the first ones of what is
// right; kBeforeSpace, the last ones of what is left of something that begins with a space.
enum BorderSet { kEnds, kBegins, kBeforeSpace };

void find_borders(const TokenizerView& view, std::uint32_t (*sets)[8]) noexcept {
  for (std::uint32_t i = 0; i < view.header->n_merges; ++i) {
    const char left = view.piece(view.merges[i].left).back();
    const char right = view.piece(view.merges[i].right)[0];
    add_byte(left, sets[kEnds]);
    add_byte(right, sets[kBegins]);
    if (right == ' ') add_byte(left, sets[kBeforeSpace]);
  }
}

// Whether no merge crosses the place before text[at] (0 < at), so that both sides may be encoded apart. In texts of
// words it finds most places before a space.
bool is_border(const TokenizerView& view, const std::uint32_t (*sets)[8], std::string_view text,
               std::size_t at) noexcept {
  const char left = text[at - 1];
  const char right = text[at];
  const bool inside_character = (value(right) & 0xc0) == 0x80;
  if (inside_character && view.header->kind == TokenizerKind::scored_bpe) return false;
  return !has_byte(sets[kEnds], left) || !has_byte(sets[kBegins], right) ||
         (right == ' ' && !has_byte(sets[kBeforeSpace], left));
}

// One call of encode().
class Encoder {
 public:
  Encoder(const TokenizerView& view, const std::uint32_t (*borders)[8], Span<Token> out, EncodeResult* result) noexcept
      : view_(view), borders_(borders), out_(out), result_(*result) {
    result_ = EncodeResult{};
  }

  // The text up to byte `end`, with no regard to special tokens. space_first: a space comes before it.
  Status plain(std::string_view text, std::size_t end, bool space_first) noexcept {
    const std::string_view rest = text_at(text, result_.bytes, end - result_.bytes);
    switch (view_.header->kind) {
      case TokenizerKind::characters:
        return characters(rest);
      case TokenizerKind::bytes:
        return bytes(rest);
      default:
        return parts(rest, space_first);
    }
  }

  Status put(std::uint32_t id, std::size_t bytes) noexcept {
    if (result_.tokens == out_.size()) return Status::output_too_small;
    out_[result_.tokens++] = static_cast<Token>(id);
    result_.bytes += bytes;
    return Status::ok;
  }

 private:
  Status characters(std::string_view text) noexcept {
    for (std::size_t at = 0; at < text.size();) {
      std::size_t length = 0;
      const std::uint32_t id = longest_match(view_, text_at(text, at), &length);
      if (id == kNoPiece) return Status::bad_argument;
      MINNOW_TRY(put(id, length));
      at += length;
    }
    return Status::ok;
  }

  Status bytes(std::string_view text) noexcept {
    for (const char byte : text) {
      const std::uint32_t id = view_.byte_id[value(byte)];
      if (id == kNoId) return Status::bad_argument;
      MINNOW_TRY(put(id, 1));
    }
    return Status::ok;
  }

  // Byte-pair merging, part by part.
  Status parts(std::string_view text, bool space_first) noexcept {
    Merging merging;
    Bpe bpe(view_, &merging);
    while (!text.empty()) {
      const std::size_t length = part_length(text);
      Part part = {text_at(text, 0, length), space_first};
      const Span<Token> room = out_.from(result_.tokens);
      std::size_t tokens = 0;
      std::size_t known = 0;
      Status status = bpe.encode(part, room, &tokens, &known);
      if (status == Status::bad_argument) {  // what stands before the character that has no id
        part.text = text_at(part.text, 0, known - (space_first ? 1 : 0));
        MINNOW_TRY(bpe.encode(part, room, &tokens, &known));
        status = Status::bad_argument;
      }
      if (status == Status::output_too_small) return status;
      result_.tokens += tokens;
      result_.bytes += part.text.size();
      if (status != Status::ok) return status;
      text.remove_prefix(length);
      space_first = false;
    }
    return Status::ok;
  }

  std::size_t part_length(std::string_view text) const noexcept {
    if (view_.header->split == TokenizerSplit::gpt2) return gpt2_part(text);
    std::size_t at = 1;
    while (at < text.size() && !is_border(view_, borders_, text, at)) ++at;
    return at;
  }

  const TokenizerView& view_;
  const std::uint32_t (*borders_)[8];
  Span<Token> out_;
  EncodeResult& result_;
};

// The last border of longest matches that more text cannot move.
std::size_t cut_of_matches(const TokenizerView& view, std::string_view text) noexcept {
  std::size_t at = 0;
  while (text.size() - at >= view.header->max_piece_bytes) {
    std::size_t length = 0;
    if (longest_match(view, text_at(text, at), &length) == kNoPiece) {
      length = utf8_length(text_at(text, at));
      if (length == 0) return at;
    }
    at += length;
  }
  return at;
}

// The last place up to `limit` that no merge crosses, whatever follows the text; 0 if there is none.
std::size_t cut_of_parts(const TokenizerView& view, const std::uint32_t (*borders)[8], std::string_view text,
                         std::size_t limit) noexcept {
  if (view.header->split == TokenizerSplit::gpt2) return gpt2_cut(text, limit);
  for (std::size_t at = limit < text.size() ? limit + 1 : text.size(); at-- > 1;) {
    if (is_border(view, borders, text, at)) return at;
  }
  return 0;
}

}  // namespace

Status Tokenizer::open(const Model& model, Tokenizer* out) noexcept {
  if (out == nullptr) return Status::bad_argument;
  const ModelView view(model);
  if (view.header == nullptr) return Status::wrong_state;
  if (view.tokenizer().empty()) return Status::unsupported;
  *out = Tokenizer();
  out->section_ = view.tokenizer();
  const TokenizerView tokenizer = view_tokenizer(out->section_.data());
  if (tokenizer.header->split == TokenizerSplit::none) find_borders(tokenizer, out->borders_);
  return Status::ok;
}

Status Tokenizer::encode(std::string_view text, Span<Token> out, EncodeResult* result) const noexcept {
  return encode(text, EncodeConfig(), out, result);
}

Status Tokenizer::encode(std::string_view text, const EncodeConfig& config, Span<Token> out,
                         EncodeResult* result) const noexcept {
  if (result == nullptr) return Status::bad_argument;
  MINNOW_TRY(first_error(check_input(text.data(), text.size()), check_room(out.data(), out.size())));
  if (section_.empty()) return Status::wrong_state;
  const TokenizerView view = view_tokenizer(section_.data());
  const Specials specials(view, config.special);
  Encoder encoder(view, borders_, out, result);
  if (config.begin && view.header->begin != 0) MINNOW_TRY(encoder.put(view.header->begin - 1, 0));
  bool space_first = config.begin && view.header->space_prefix != 0;
  while (result->bytes < text.size()) {
    Status status = Status::ok;
    if (const std::uint32_t special = specials.at(text, result->bytes); special != kNoId) {
      status = encoder.put(special, view.piece(special).size());
    } else {
      status = encoder.plain(text, specials.next(text, result->bytes), space_first);
    }
    if (status == Status::output_too_small && result->bytes == 0) result->tokens = 0;  // so it may begin again
    if (status != Status::ok) return status;
    space_first = false;
  }
  return Status::ok;
}

std::size_t Tokenizer::cut(std::string_view text, const EncodeConfig& config) const noexcept {
  if (section_.empty() || text.empty() || check_input(text.data(), text.size()) != Status::ok) return 0;
  const TokenizerView view = view_tokenizer(section_.data());
  const TokenizerKind kind = view.header->kind;
  if (kind == TokenizerKind::characters) return cut_of_matches(view, text);
  const Specials specials(view, config.special);
  std::size_t at = text.size();
  while (true) {
    if (kind != TokenizerKind::bytes && at > 0) at = cut_of_parts(view, borders_, text, at);
    const std::size_t begin = specials.span_begin(text, at);
    if (begin == at) return at;
    at = begin;
  }
}

std::string_view Tokenizer::piece(Token token) const noexcept {
  if (token < 0 || static_cast<std::uint32_t>(token) >= n_tokens()) return {};
  return view_tokenizer(section_.data()).piece(static_cast<std::uint32_t>(token));
}

std::string_view Tokenizer::piece(Token token, Token previous) const noexcept {
  std::string_view bytes = piece(token);
  const Token begin = begin_token();
  if (begin < 0) return bytes;
  if (token == begin) return {};
  const bool space_first = view_tokenizer(section_.data()).header->space_prefix != 0;
  if (previous == begin && space_first && !bytes.empty() && bytes[0] == ' ') bytes.remove_prefix(1);
  return bytes;
}

Token Tokenizer::begin_token() const noexcept {
  return section_.empty() ? -1 : static_cast<Token>(view_tokenizer(section_.data()).header->begin) - 1;
}

std::uint32_t Tokenizer::n_tokens() const noexcept {
  return section_.empty() ? 0 : view_tokenizer(section_.data()).header->n_tokens;
}

}  // namespace minnow
