// The characters of a text that a vocabulary lacks, and the words about them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "minnow/minnow.hpp"

namespace minnow {

// Needs at most some 150 KB, whatever the text.
class UnknownCharacters {
 public:
  // In the order of the text. `character`: of utf8_length() bytes; `place`: counted in characters, from 1.
  void add(std::string_view character, std::uint64_t place);
  std::uint64_t count() const { return count_; }

  // Names each with its places and shows the alphabet. Returns kMisused.
  int report(const std::string& command, const Tokenizer& tokenizer) const;

 private:
  struct Named {
    std::string character;
    std::uint64_t count = 0;
    std::vector<std::uint64_t> places;  // the first of them
  };

  std::uint64_t count_ = 0;
  std::vector<Named> named_;                      // those that came first
  std::map<std::uint32_t, std::size_t> indices_;  // of named_, by code
  std::vector<bool> other_codes_;                 // which others there were
  std::uint64_t others_ = 0;                      // how many codes these are
};

}  // namespace minnow
