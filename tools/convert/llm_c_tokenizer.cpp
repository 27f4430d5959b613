// llm.c's gpt2_tokenizer.bin: a header of 256 u32 (magic, version, count, from version 2 on the id of the end of text),
// then for each id a byte, its length, and its bytes. They are GPT-2's, so the ids rank the tokens. Depends on
// byte_level, merges and refusal.
#include "tools/convert/llm_c_tokenizer.hpp"

#include <cstring>

#include "tools/convert/byte_level.hpp"
#include "tools/convert/merges.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/vocabulary_readers.hpp"

namespace minnow::convert {

Vocabulary read_llm_c_tokenizer(std::string_view bytes) {
  constexpr std::size_t kHeaderBytes = 256 * sizeof(std::uint32_t);
  std::uint32_t header[4];
  if (bytes.size() < kHeaderBytes) {
    refuse("ends inside the header; expected llm.c's gpt2_tokenizer.bin; is the file whole?");
  }
  std::memcpy(header, bytes.data(), sizeof header);
  const std::uint32_t version = header[1];
  const std::uint32_t count = header[2];
  if (version != 1 && version != 2) {
    refuse("is version ", version, " of llm.c's tokenizer file; expected 1 or 2; give vocab.bpe instead");
  }
  if (count < 257 || count > kMaxVocabularyTokens) {
    refuse("has ", count, " tokens; expected 257 to ", kMaxVocabularyTokens);
  }
  const std::uint32_t special = version == 1 ? count - 1 : header[3];
  if (special >= count) refuse("the end of text has the id ", special, " among ", count, " tokens");

  Vocabulary out;
  std::vector<std::uint32_t> ranks;
  std::string_view rest = bytes.substr(kHeaderBytes);
  for (std::uint32_t id = 0; id < count; ++id) {
    const std::size_t length = rest.empty() ? 0 : static_cast<unsigned char>(rest[0]);
    if (length == 0 || rest.size() < 1 + length) {
      refuse("the token of id ", id, " at byte ", bytes.size() - rest.size(), " is cut off or empty; expected ", count,
             " tokens; is the file whole?");
    }
    out.pieces.emplace_back(rest.substr(1, length));
    ranks.push_back(id == special ? kNoId : id);
    rest.remove_prefix(1 + length);
  }
  if (!rest.empty()) refuse("there are ", rest.size(), " bytes behind the last token; expected none");
  out.special = {special};
  finish_ranked(ranks, &out);
  return out;
}

}  // namespace minnow::convert
