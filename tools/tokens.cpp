// `minnow tokens`: text to ids and pieces, and ids back to text.
#include <cstdio>

#include "tools/commands.hpp"
#include "tools/json.hpp"
#include "tools/load.hpp"
#include "tools/prompt.hpp"
#include "tools/signals.hpp"

namespace minnow {
namespace {

constexpr const char* kCommand = "tokens";

// Calls each(token, the one before or -1) for all tokens, again from the beginning.
template <class Each>
int for_each_token(TokenReader* reader, const Each& each) {
  std::vector<Token> tokens;
  Token previous = -1;
  reader->rewind();
  do {
    if (interrupted()) return kInterrupted;
    if (const int status = reader->read(&tokens); status != kDone) return status;
    for (const Token token : tokens) {
      each(token, previous);
      previous = token;
    }
  } while (!tokens.empty() && std::ferror(stdout) == 0);
  return kDone;
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// A piece that is not UTF-8 by itself is shown with U+FFFD; "lossy" then says so, and the ids tell all.
int print_json(const Tokenizer& tokenizer, TokenReader* reader) {
  bool lossy = false;
  const auto comma = [](Token previous) { return std::string(previous < 0 ? "" : ", "); };
  print("{\"ids\": [");
  int status = for_each_token(reader, [&](Token id, Token previous) { print(comma(previous) + std::to_string(id)); });
  if (status != kDone) return status;
  print("], \"pieces\": [");
  status = for_each_token(
      reader, [&](Token id, Token previous) { print(comma(previous) + json_string(tokenizer.piece(id), &lossy)); });
  print(std::string("], \"lossy\": ") + (lossy ? "true" : "false") + "}\n");
  return status;
}

int print_pieces(const Tokenizer& tokenizer, TokenReader* reader) {
  return for_each_token(
      reader, [&](Token id, Token) { std::printf("%6d  '%s'\n", id, printable(tokenizer.piece(id)).c_str()); });
}

int print_decoded(const Tokenizer& tokenizer, TokenReader* reader) {
  return for_each_token(reader, [&](Token id, Token previous) { print(std::string(tokenizer.piece(id, previous))); });
}

}  // namespace

int tokens_command(int argc, char** argv) {
  std::string path, text, file, ids_text;
  bool has_text = false, has_file = false, decode = false, json = false;
  std::uint32_t skip_unknown = 0;
  Options options(kCommand, "tokens MODEL (-p TEXT | -f FILE | --decode IDS) [--json]",
                  "Text to token ids and pieces, as run takes a prompt, or ids back to text.");
  options.positional("MODEL", &path, nullptr);
  options.text("p", "TEXT", &text, &has_text, "the text");
  options.text("f", "FILE", &file, &has_file, "read the text from a file or pipe; - is stdin");
  options.text("decode", "IDS", &ids_text, &decode, "print the text of these ids, \"1 2 3\"");
  options.choice("unknown", "WHAT", {{"error", 0}, {"skip", 1}}, &skip_unknown,
                 "characters that the model does not know: error, or skip, and what stands before and behind is "
                 "encoded apart (error)");
  options.flag("json", &json, "one JSON object: ids, pieces, and whether a piece alone is no UTF-8 (lossy)");
  int status = kDone;
  if (!options.parse(argc, argv, &status)) return status;
  if (int{has_text} + int{has_file} + int{decode} != 1) {
    return complain(kCommand, "expected one of -p TEXT, -f FILE and --decode IDS", kMisused);
  }

  LoadedModel model;
  if ((status = open_model(kCommand, path, &model)) != kDone) return status;
  Tokenizer tokenizer;
  if (Tokenizer::open(model.model, &tokenizer) != Status::ok) {
    return complain(kCommand, printable(path) + ": the model has no vocabulary");
  }
  TextInput input(kCommand);
  input.use(decode ? ids_text : text);
  TokenReader reader = decode ? TokenReader(kCommand, &input, tokenizer.n_tokens())
                              : TokenReader(kCommand, &input, tokenizer, skip_unknown != 0, kPromptEncoding);
  {
    const SignalGuard signals;
    if (has_file && (status = input.open(file, TextInput::Passes::many)) != kDone) return status;
    std::vector<Token> none;
    if ((status = reader.scan(0, &none)) != kDone) return status;
    if (interrupted()) return kInterrupted;  // while the last piece was encoded
  }
  const SignalGuard signals(SignalGuard::For::text);
  if (json) return print_json(tokenizer, &reader);
  return decode ? print_decoded(tokenizer, &reader) : print_pieces(tokenizer, &reader);
}

}  // namespace minnow
