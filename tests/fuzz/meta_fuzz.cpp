// Any bytes as a meta.pkl; what is accepted must make a tokenizer section that Model::open takes.
#include <cstring>
#include <vector>

#include "model/check_tokenizer.hpp"
#include "tests/fuzz/input.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/vocabulary.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace minnow;
  const fuzz::MemoryFile file(data, size);
  try {
    const convert::Vocabulary vocabulary = convert::read_meta(*file.open());
    const std::string section = convert::make_tokenizer_section(vocabulary);
    std::vector<std::uint32_t> aligned((section.size() + 3) / 4);
    std::memcpy(aligned.data(), section.data(), section.size());
    const Span<const std::byte> bytes(reinterpret_cast<const std::byte*>(aligned.data()), section.size());
    Fault fault;
    const auto n_tokens = static_cast<std::uint32_t>(vocabulary.pieces.size());
    if (check_tokenizer(bytes, n_tokens, &fault) != Status::ok) __builtin_trap();
  } catch (const convert::Refusal&) {
  }
  return 0;
}
