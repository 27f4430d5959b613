// Text and ids that a user gives: from an argument, a file or a pipe, to tokens, with clear words about what the
// vocabulary does not have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "minnow/minnow.hpp"

namespace minnow {

// Reads all of a file or pipe; "-" is stdin. At most kMaxInput bytes. Prints an error and returns an exit status.
inline constexpr std::size_t kMaxInput = std::size_t{1} << 28;
int read_input(const std::string& command, const std::string& path, std::string* out);

// The tokens of `text`. Characters that the vocabulary lacks: with `skip` they are left out and counted on stderr, else
// an error names each with its places and shows the alphabet, and the result is kMisused.
int encode_text(const std::string& command, const Tokenizer& tokenizer, std::string_view text, bool skip,
                std::vector<Token>* out);

// Decimal ids with blanks or commas between them, each below n_ids; else prints and returns kMisused.
int parse_ids(const std::string& command, std::string_view text, std::uint32_t n_ids, std::vector<Token>* out);

}  // namespace minnow
