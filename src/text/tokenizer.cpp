// Text to token ids and back, over the tokenizer section of a model file. Model::open has checked the section, so
// nothing is checked again here. Depends on model.
#include "minnow/minnow.hpp"
#include "model/check_tokenizer.hpp"
#include "model/view.hpp"

namespace minnow {
namespace {

constexpr Token kNoToken = -1;

// The first of sorted[begin .. end) whose piece has at `depth` a byte not below `byte`. The pieces in the range agree
// before `depth` and are ordered; one that ends at `depth` comes first.
std::uint32_t lower_bound(const TokenizerView& view, std::uint32_t begin, std::uint32_t end, std::size_t depth,
                          unsigned byte) noexcept {
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    const std::string_view piece = view.piece(view.sorted[middle]);
    if (piece.size() <= depth || static_cast<unsigned char>(piece[depth]) < byte) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

// The longest piece that `text` begins with. Each byte narrows the range of pieces that begin as the text does.
Token longest_match(const TokenizerView& view, std::string_view text, std::size_t* length) noexcept {
  Token best = kNoToken;
  std::uint32_t begin = 0;
  std::uint32_t end = view.header->n_pieces;
  for (std::size_t depth = 0; depth < text.size() && begin < end; ++depth) {
    const unsigned byte = static_cast<unsigned char>(text[depth]);
    begin = lower_bound(view, begin, end, depth, byte);
    end = lower_bound(view, begin, end, depth, byte + 1);
    if (begin < end && view.piece(view.sorted[begin]).size() == depth + 1) {
      best = static_cast<Token>(view.sorted[begin]);
      *length = depth + 1;
    }
  }
  return best;
}

}  // namespace

Status Tokenizer::open(const Model& model, Tokenizer* out) noexcept {
  if (out == nullptr) return Status::bad_argument;
  const ModelView view(model);
  if (view.header == nullptr) return Status::wrong_state;
  if (view.tokenizer().empty()) return Status::unsupported;
  out->section_ = view.tokenizer();
  return Status::ok;
}

Status Tokenizer::encode(std::string_view text, Span<Token> out, EncodeResult* result) const noexcept {
  if (result == nullptr || (out.data() == nullptr && out.size() != 0)) return Status::bad_argument;
  if (section_.empty()) return Status::wrong_state;
  const TokenizerView view = view_tokenizer(section_.data());
  *result = EncodeResult{};
  while (result->bytes < text.size()) {
    std::size_t length = 0;
    const Token token = longest_match(view, {text.data() + result->bytes, text.size() - result->bytes}, &length);
    if (token == kNoToken) return Status::bad_argument;
    if (result->tokens == out.size()) return Status::output_too_small;
    out[result->tokens++] = token;
    result->bytes += length;
  }
  return Status::ok;
}

std::string_view Tokenizer::piece(Token token) const noexcept {
  if (token < 0 || static_cast<std::uint32_t>(token) >= n_tokens()) return {};
  return view_tokenizer(section_.data()).piece(static_cast<std::uint32_t>(token));
}

std::uint32_t Tokenizer::n_tokens() const noexcept {
  return section_.empty() ? 0 : view_tokenizer(section_.data()).header->n_tokens;
}

}  // namespace minnow
