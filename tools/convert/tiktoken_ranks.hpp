// One line of a rank file. Depends on nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace minnow::convert {

// False if it is no token in base64, a space and a whole number.
bool decode_rank_line(std::string_view line, std::string* piece, std::uint32_t* rank);

}  // namespace minnow::convert
