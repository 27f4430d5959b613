// How llama2.c's tokenizer.bin is told from other files. Depends on nothing.
#pragma once

#include <string_view>

namespace minnow::convert {

// Whether the first pieces are there.
bool looks_like_llama2_tokenizer(std::string_view bytes);

}  // namespace minnow::convert
