// Any bytes as a model file: opened, verified, its vocabulary used, a few tokens run. The checksums are made right
// first, since a fuzzer would not find them.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/crc32.hpp"
#include "minnow/minnow.hpp"
#include "model/format.hpp"

namespace {

using namespace minnow;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::size_t kMostSessionBytes = std::size_t{8} << 20;
constexpr std::uint64_t kMostWork = std::uint64_t{1} << 22;  // weights times tokens

void repair_checksums(std::byte* file, std::size_t size) {
  FileHeader header;
  if (size < sizeof header) return;
  std::memcpy(&header, file, sizeof header);
  if (header.header_bytes <= header.data_offset && header.data_offset <= size) {
    const std::size_t tables = header.header_bytes;
    header.tables_crc32 = crc32(0, file + tables, static_cast<std::size_t>(header.data_offset) - tables);
    header.data_crc32 = crc32(0, file + header.data_offset, size - static_cast<std::size_t>(header.data_offset));
  }
  header.header_crc32 = 0;
  std::memcpy(file, &header, sizeof header);
  if (header.header_bytes > size) return;
  header.header_crc32 = crc32(0, file, header.header_bytes);
  std::memcpy(file, &header, sizeof header);
}

void use_tokenizer(const Model& model, std::string_view text) {
  Tokenizer tokenizer;
  if (Tokenizer::open(model, &tokenizer) != Status::ok) return;
  std::vector<Token> ids(text.size() + 2);
  EncodeResult result;
  if (tokenizer.encode(text, {ids.data(), ids.size()}, &result) != Status::ok) return;
  std::string back;
  for (std::size_t i = 0; i < result.tokens; ++i) back += tokenizer.piece(ids[i]);
  if (back != text) __builtin_trap();  // encoding never changes the text
  const std::size_t cut = tokenizer.cut(text);
  if (cut > text.size()) __builtin_trap();
  if (cut > 0) {  // both sides apart are the whole
    std::vector<Token> apart(text.size() + 2);
    EncodeResult first, second;
    if (tokenizer.encode(text.substr(0, cut), {apart.data(), apart.size()}, &first) != Status::ok) __builtin_trap();
    const Span<Token> rest(apart.data() + first.tokens, apart.size() - first.tokens);
    if (tokenizer.encode(text.substr(cut), rest, &second) != Status::ok) __builtin_trap();
    apart.resize(first.tokens + second.tokens);
    ids.resize(result.tokens);
    if (apart != ids) __builtin_trap();
    ids.resize(text.size() + 2);
  }
  EncodeConfig config;
  config.special = true;
  config.begin = true;
  if (tokenizer.encode(text, config, {ids.data(), ids.size()}, &result) != Status::ok) __builtin_trap();
  if (tokenizer.cut(text, config) > text.size()) __builtin_trap();
  config.special = false;
  if (tokenizer.encode(text, config, {ids.data(), ids.size()}, &result) != Status::ok) __builtin_trap();
  back.clear();
  for (std::size_t i = 0; i < result.tokens; ++i) back += tokenizer.piece(ids[i], i == 0 ? -1 : ids[i - 1]);
  if (back != text) __builtin_trap();
}

void run(const Model& model, const std::uint8_t* bytes, std::size_t count) {
  const ModelInfo info = model.info();
  if (info.n_parameters > kMostWork) return;
  SessionConfig config;
  config.context = std::min(info.block_size, 16u);
  config.batch = 4;
  std::size_t needed = 0;
  if (Session::memory_needed(model, config, &needed) != Status::ok || needed > kMostSessionBytes) return;
  const std::unique_ptr<std::byte[]> block(new std::byte[needed + kAlign]);
  std::byte* aligned = block.get();
  while (reinterpret_cast<std::uintptr_t>(aligned) % kAlign != 0) ++aligned;
  Session session;
  if (Session::create(model, config, {aligned, needed}, &session) != Status::ok) return;
  const std::uint64_t most = kMostWork / (info.n_parameters + 1) + 1;
  for (std::size_t i = 0; i < count && i < most && i < 24; ++i) {
    const Token token = static_cast<Token>(bytes[i] % info.vocab_size);
    const Status status = session.feed({&token, 1});
    if (status != Status::ok && status != Status::numeric) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kMostBytes) return 0;
  // Exactly as many bytes as there are, on the heap, so that a sanitizer sees a read behind them.
  std::unique_ptr<std::byte[]> file(new std::byte[size + 16]);
  std::byte* start = file.get();
  while (reinterpret_cast<std::uintptr_t>(start) % 16 != 0) ++start;
  std::memcpy(start, data, size);
  repair_checksums(start, size);
  Model model;
  Fault fault;
  if (Model::open({start, size}, &model, &fault) != Status::ok) return 0;
  if (model.verify(&fault) != Status::ok) return 0;
  const std::size_t tail = std::min<std::size_t>(size, 48);
  const std::string text(reinterpret_cast<const char*>(start) + size - tail, tail);
  use_tokenizer(model, text);
  std::string long_text;  // longer than what is merged at once
  while (long_text.size() < 1200) long_text += text + text.substr(0, long_text.size() % 7);
  use_tokenizer(model, long_text);
  run(model, data + size - tail, tail);
  return 0;
}
