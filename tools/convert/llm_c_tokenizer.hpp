// How llm.c's gpt2_tokenizer.bin is told from other files. Depends on nothing.
#pragma once

#include <string_view>

namespace minnow::convert {

inline constexpr std::string_view kLlmCTokenizerMagic{"\xc8\xd7\x34\x01", 4};  // 20240328

}  // namespace minnow::convert
