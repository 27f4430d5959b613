// `minnow tokens`: text to ids and pieces, and ids back to text.
#include <cstdio>
#include <new>

#include "tools/commands.hpp"
#include "tools/json.hpp"
#include "tools/load.hpp"
#include "tools/prompt.hpp"

namespace minnow {
namespace {

// All are kept until they are printed.
constexpr std::uint64_t kMostTokens = std::uint64_t{1} << 24;

constexpr const char* kCommand = "tokens";

// A piece that is not UTF-8 by itself is shown in JSON with U+FFFD; "lossy" then says so, and the ids tell all.
void print_json(const Tokenizer& tokenizer, const std::vector<Token>& ids) {
  bool lossy = false;
  JsonObject json;
  json.raw("ids", json_array(ids.size(), [&](std::size_t i) { return std::to_string(ids[i]); }));
  json.raw("pieces",
           json_array(ids.size(), [&](std::size_t i) { return json_string(tokenizer.piece(ids[i]), &lossy); }));
  json.add("lossy", lossy);
  std::printf("%s\n", json.str().c_str());
}

void print_pieces(const Tokenizer& tokenizer, const std::vector<Token>& ids) {
  for (const Token id : ids) std::printf("%6d  '%s'\n", id, printable(tokenizer.piece(id)).c_str());
}

void print_decoded(const Tokenizer& tokenizer, const std::vector<Token>& ids) {
  Token previous = -1;
  for (const Token id : ids) {
    const std::string_view piece = tokenizer.piece(id, previous);
    std::fwrite(piece.data(), 1, piece.size(), stdout);
    previous = id;
  }
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
  try {
    TextInput input(kCommand);
    input.use(decode ? ids_text : text);
    if (has_file && (status = input.open(file, TextInput::Passes::one)) != kDone) return status;
    TokenReader reader = decode ? TokenReader(kCommand, &input, tokenizer.n_tokens())
                                : TokenReader(kCommand, &input, tokenizer, skip_unknown != 0, kPromptEncoding);
    std::vector<Token> ids;
    if ((status = reader.scan(SIZE_MAX, &ids, kMostTokens)) != kDone) return status;
    if (json) {
      print_json(tokenizer, ids);
    } else if (decode) {
      print_decoded(tokenizer, ids);
    } else {
      print_pieces(tokenizer, ids);
    }
    return kDone;
  } catch (const std::bad_alloc&) {
    return complain(kCommand,
                    printable(has_file ? file : path) + ": out of memory; give less text, or close other programs");
  }
}

}  // namespace minnow
