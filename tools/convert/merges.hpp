// Which merge makes each token of a byte-pair vocabulary. Depends on vocabulary.
//
// Where several pairs make the same token, encoding uses one of them only. For while a token is being made its two ends
// stay ends, hence what goes on between them is what encoding its text alone would do. That is one sequence of merges
// whatever stands around, and it has one last step. So a table needs one merge a token at most.
#pragma once

#include "tools/convert/vocabulary.hpp"

namespace minnow::convert {

inline constexpr std::size_t kMaxVocabularyTokens = std::size_t{1} << 19;

// For a vocabulary that ranks its tokens, and merges any two neighbours that together are one: finds the merges.
// `ranks` is [n_tokens], kNoId where no merge makes the token. byte_id is set; kind says what encoding starts from.
// Throws Refusal.
void add_merges(const std::vector<std::uint32_t>& ranks, Vocabulary* vocabulary);

// For a vocabulary that lists its merges: removes those that encoding never uses because another one makes the token.
// Throws Refusal, also if a pair is listed twice.
void drop_unused_merges(Vocabulary* vocabulary);

}  // namespace minnow::convert
