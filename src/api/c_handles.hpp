// What the C interface is made of: handles, which are the C++ objects in the caller's memory, and config structs that
// know their size. Depends on base and the public headers.
#pragma once

#include <cstring>

#include "base/check.hpp"
#include "base/place.hpp"
#include "minnow/minnow.h"
#include "minnow/minnow.hpp"

struct minnow_model {
  minnow::Tag<0x6d6e4d6f> tag;
  minnow::Model model;
};
struct minnow_tokenizer {
  minnow::Tag<0x6d6e546f> tag;
  minnow::Tokenizer tokenizer;
};
struct minnow_sampler {
  minnow::Tag<0x6d6e5361> tag;
  minnow::Sampler sampler;
};

namespace minnow {

inline minnow_status c_status(Status status) noexcept { return static_cast<minnow_status>(status); }

// Errors: bad_argument, misaligned.
template <class Config>
Status check_struct(const Config* given, std::size_t smallest) noexcept {
  MINNOW_TRY(check_pointer(given));
  const bool possible = given->struct_size >= smallest && given->struct_size <= kLargestStruct;
  return possible ? Status::ok : Status::bad_argument;
}

// Writes the defaults as far as the caller's struct reaches. *value knows its own size already.
template <class Config>
void init_config(Config* out, std::size_t struct_size, Config value) noexcept {
  if (check_pointer(out) != Status::ok || struct_size < sizeof value.struct_size) return;
  if (struct_size > kLargestStruct) return;
  std::memset(out, 0, struct_size);
  value.struct_size = struct_size;
  std::memcpy(out, &value, struct_size < sizeof value ? struct_size : sizeof value);
}

// A caller's struct as this version knows it: *out holds the defaults. What a newer header has beyond must be 0.
template <class Config>
Status read_config(const Config* given_or_null, Config* out) noexcept {
  if (given_or_null == nullptr) return Status::ok;
  MINNOW_TRY(check_struct(given_or_null, sizeof(Config)));  // no smaller one was ever published
  const std::size_t size = given_or_null->struct_size;
  const unsigned char* const bytes = reinterpret_cast<const unsigned char*>(given_or_null);
  for (std::size_t i = sizeof(Config); i < size; ++i) {
    if (bytes[i] != 0) return Status::unsupported;
  }
  std::memcpy(out, given_or_null, sizeof(Config));
  return Status::ok;
}

}  // namespace minnow
