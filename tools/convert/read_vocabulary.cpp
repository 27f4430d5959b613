// A vocabulary file of any format, and the file beside it that completes it. Depends on vocabulary_readers, byte_level,
// tiktoken_ranks, lines, sha256 and refusal.
#include "tools/convert/byte_level.hpp"
#include "tools/convert/lines.hpp"
#include "tools/convert/llama2_tokenizer.hpp"
#include "tools/convert/llm_c_tokenizer.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/sha256.hpp"
#include "tools/convert/tiktoken_ranks.hpp"
#include "tools/convert/vocabulary_readers.hpp"

namespace minnow::convert {

namespace {

bool has(std::string_view bytes, std::size_t at, std::string_view part) {
  return bytes.substr(at, part.size()) == part;
}

bool looks_like_pickle(std::string_view bytes) {
  const bool binary = bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 1 && bytes[1] <= 5;
  const bool old = has(bytes, 0, "(d") || (bytes.size() > 1 && bytes[0] == '}' && bytes[1] != ' ');
  return binary || old;  // in a file of merges a space would follow
}

// A protocol buffer of messages that each begin with a text and a float.
bool looks_like_sentencepiece(std::string_view bytes) {
  if (bytes.size() < 16 || bytes[0] != '\x0a' || bytes[2] != '\x0a') return false;
  const std::size_t length = static_cast<unsigned char>(bytes[3]);
  return length < 0x80 && bytes.size() > 4 + length && bytes[4 + length] == '\x15';
}

// The first byte behind `at` that is no space.
std::size_t skip_spaces(std::string_view bytes, std::size_t at) {
  while (at < bytes.size() && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\r' || bytes[at] == '\n')) ++at;
  return at;
}

// An object whose first member is a number holds ids.
VocabularyFormat recognise_json(std::string_view bytes, std::size_t at) {
  at = skip_spaces(bytes, at + 1);
  if (at >= bytes.size() || bytes[at] != '"') return VocabularyFormat::tokenizer_json;
  for (++at; at < bytes.size() && bytes[at] != '"'; ++at) at += bytes[at] == '\\' ? 1 : 0;
  at = skip_spaces(bytes, at + 1);
  if (at >= bytes.size() || bytes[at] != ':') return VocabularyFormat::tokenizer_json;
  at = skip_spaces(bytes, at + 1);
  const bool number = at < bytes.size() && (bytes[at] == '-' || (bytes[at] >= '0' && bytes[at] <= '9'));
  return number ? VocabularyFormat::token_ids : VocabularyFormat::tokenizer_json;
}

VocabularyFormat recognise_lines(std::string_view bytes) {
  Lines lines(bytes);
  std::string_view line;
  std::string decoded;
  std::uint32_t rank = 0;
  if (!lines.next(&line)) return VocabularyFormat::unknown;
  if (decode_rank_line(line, &decoded, &rank)) return VocabularyFormat::ranks;
  if (has(line, 0, "#version")) return VocabularyFormat::merges;
  // The first merge is of two bytes.
  const std::size_t space = line.find(' ');
  std::string right;
  const ByteSymbols symbols;
  const bool pair = space != std::string_view::npos && symbols.decode(line.substr(0, space), &decoded) &&
                    symbols.decode(line.substr(space + 1), &right) && decoded.size() == 1 && right.size() == 1;
  return pair ? VocabularyFormat::merges : VocabularyFormat::unknown;
}

// The other half of a pair of files: "x-merges.txt" goes with "x-vocab.json", "vocab.bpe" with "encoder.json", and
// each half with any name of the other. Empty: there is none.
std::string find_other_half(const std::string& path, const std::vector<std::string>& own,
                            const std::vector<std::string>& others) {
  const std::string name = file_name_of(path);
  const std::string folder = path.substr(0, path.size() - name.size());
  std::vector<std::string> candidates;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (name.size() < own[i].size() || name.substr(name.size() - own[i].size()) != own[i]) continue;
    candidates.push_back(name.substr(0, name.size() - own[i].size()) + others[i]);
  }
  candidates.insert(candidates.end(), others.begin(), others.end());
  for (const std::string& candidate : candidates) {
    if (candidate != name && file_exists(folder + candidate)) return folder + candidate;
  }
  return {};
}

class Reader {
 public:
  Reader(std::uint64_t rows, const std::string& output) : rows_(rows), output_(output) {}

  Vocabulary read(const std::string& path) {
    std::string bytes = load(path);
    blamed_ = path;
    try {
      Vocabulary out = parse(path, std::move(bytes));
      out.sources = std::move(sources_);
      return out;
    } catch (const Refusal& refusal) {
      throw Refusal(refusal.what(), refusal.path().empty() ? blamed_ : refusal.path());
    }
  }

 private:
  std::string load(const std::string& path) {
    const InputFile file(path);
    if (file.is_same_file(output_)) {
      throw Refusal(
          concat("is the ", file_name_of(path), " itself; expected another name for the model; give one with -o"),
          output_);
    }
    std::string bytes = file.read_all(kMaxVocabularyBytes);
    Sha256 hash;
    hash.update(bytes.data(), bytes.size());
    sources_.push_back({file_name_of(path), hash.finish()});
    return bytes;
  }

  Vocabulary parse(const std::string& path, std::string bytes) {
    switch (recognise_vocabulary(bytes)) {
      case VocabularyFormat::meta:
        return read_meta(std::move(bytes));
      case VocabularyFormat::merges: {
        const std::string ids = find_other_half(path, kMergesNames, kIdsNames);
        return ids.empty() ? read_merges(bytes, rows_) : read_pair(path, std::move(bytes), ids, load(ids));
      }
      case VocabularyFormat::token_ids: {
        const std::string merges = find_other_half(path, kIdsNames, kMergesNames);
        if (merges.empty()) {
          refuse(
              "holds the ids of tokens but not their merges; expected merges.txt or vocab.bpe beside it; get that too");
        }
        std::string merges_bytes = load(merges);
        return read_pair(merges, std::move(merges_bytes), path, std::move(bytes));
      }
      case VocabularyFormat::tokenizer_json:
        return read_tokenizer_json(std::move(bytes));
      case VocabularyFormat::ranks:
        return read_ranks(bytes, rows_);
      case VocabularyFormat::llm_c:
        return read_llm_c_tokenizer(bytes);
      case VocabularyFormat::llama2_c:
        return read_llama2_tokenizer(bytes);
      case VocabularyFormat::sentencepiece:
        refuse("is a model of sentencepiece; expected llama2.c's tokenizer.bin; make it with llama2.c's tokenizer.py");
      case VocabularyFormat::tokenizer_pickle:
        refuse(
            "is a pickled tokenizer of tiktoken, as nanochat writes it, which splits text in another way than GPT-2's; "
            "expected a vocabulary that minnow knows; pass --no-text to use ids only");
      case VocabularyFormat::unknown:
        break;
    }
    refuse(
        "is no vocabulary; expected meta.pkl, vocab.bpe, merges.txt with vocab.json, tokenizer.json, a rank file of "
        "tiktoken, "
        "llm.c's gpt2_tokenizer.bin or llama2.c's tokenizer.bin; name another file, or pass --no-text to use ids only");
  }

  Vocabulary read_pair(const std::string& merges_path, std::string merges, const std::string& ids_path,
                       std::string ids) {
    MergesWithIds files;
    files.merges = std::move(merges);
    files.ids = std::move(ids);
    const std::string name = file_name_of(ids_path);
    const std::string added = ids_path.substr(0, ids_path.size() - name.size()) + "added_tokens.json";
    if (file_exists(added)) files.added = load(added);
    blamed_ = merges_path + " with " + name;
    return read_merges_with_ids(files);
  }

  const std::vector<std::string> kMergesNames = {"merges.txt", "vocab.bpe"};
  const std::vector<std::string> kIdsNames = {"vocab.json", "encoder.json"};
  std::uint64_t rows_;
  std::string output_;
  std::string blamed_;
  std::vector<Vocabulary::Source> sources_;
};

}  // namespace

VocabularyFormat recognise_vocabulary(std::string_view bytes) {
  if (looks_like_pickle(bytes)) {
    const bool tiktoken = bytes.substr(0, 512).find("tiktoken") != std::string_view::npos;
    return tiktoken ? VocabularyFormat::tokenizer_pickle : VocabularyFormat::meta;
  }
  if (has(bytes, 0, kLlmCTokenizerMagic)) return VocabularyFormat::llm_c;
  if (looks_like_sentencepiece(bytes)) return VocabularyFormat::sentencepiece;
  const std::size_t start = skip_spaces(bytes, has(bytes, 0, "\xef\xbb\xbf") ? 3 : 0);
  if (has(bytes, start, "{")) return recognise_json(bytes, start);
  if (looks_like_llama2_tokenizer(bytes)) return VocabularyFormat::llama2_c;
  return recognise_lines(bytes);
}

Vocabulary byte_vocabulary() {
  Vocabulary out;
  out.kind = TokenizerKind::bytes;
  for (unsigned byte = 0; byte < 256; ++byte) {
    out.pieces.emplace_back(1, static_cast<char>(byte));
    out.byte_id.push_back(byte);
  }
  return out;
}

Vocabulary read_vocabulary(const std::string& path, std::uint64_t rows, const std::string& output) {
  return Reader(rows, output).read(path);
}

}  // namespace minnow::convert
