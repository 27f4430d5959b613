// Where a text is cut into the parts that byte-level BPE encodes one by one. Depends on utf8.hpp and unicode_classes.
#pragma once

#include <cstddef>
#include <string_view>

namespace minnow {

// The length of the first part of `text`, which is not empty, by GPT-2's rule: the first of these that matches
//   's 't 're 've 'm 'll 'd, in lower case
//   letters, numbers, or other characters; one space before them belongs to them
//   white space that no other character follows: all of a run but its last character, or all of it at the end
//   white space
// A byte that is no UTF-8 is an other character of one byte; so half a surrogate pair is three of them.
std::size_t gpt2_part(std::string_view text) noexcept;

// The last place up to `limit`, and inside `text`, where a part ends whatever follows `text`; 0 if there is none. What
// stands before and behind it may be encoded apart.
std::size_t gpt2_cut(std::string_view text, std::size_t limit) noexcept;

}  // namespace minnow
