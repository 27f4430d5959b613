// Deflate (RFC 1951), decoded piece by piece: 64 KiB of memory, whatever the data. Depends on refusal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace minnow::convert {

// Fills up to `capacity` bytes and returns how many; 0: there are no more.
using InflateSource = std::function<std::size_t(unsigned char* out, std::size_t capacity)>;
// Gets what was decoded, in order.
using InflateSink = std::function<void(const unsigned char* data, std::size_t bytes)>;

// No deflate stream says more than this many bytes with one.
inline constexpr std::uint64_t kMaxInflation = 1032;

// Decodes one stream, which must give exactly `bytes` bytes, and returns how many bytes of the source it has; more may
// have been taken. Throws Refusal: "the compressed data ..".
std::uint64_t inflate(const InflateSource& source, std::uint64_t bytes, const InflateSink& sink);

}  // namespace minnow::convert
