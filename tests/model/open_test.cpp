// Model::open against models/FORMAT.md: what is legal opens, and whatever is damaged is refused, at the right place.
#include "tests/session/rig.hpp"

using namespace minnow;
using namespace minnow::test;

namespace {

Status open(const AlignedBytes& file, Fault* fault) {
  Model model;
  return Model::open(file.view(), &model, fault);
}

HandShape with_text() {
  HandShape shape;
  shape.pieces = {"a", "b", "\n", "\xc3\xa9", "\xe2\x82\xac", "xyz", "?", "q"};
  shape.vocab_size = 11;
  return shape;
}

void put32(AlignedBytes& file, std::size_t at, std::uint32_t value) { std::memcpy(file.data() + at, &value, 4); }
void put64(AlignedBytes& file, std::size_t at, std::uint64_t value) { std::memcpy(file.data() + at, &value, 8); }
std::uint32_t get32(const AlignedBytes& file, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, file.data() + at, 4);
  return value;
}
std::uint64_t get64(const AlignedBytes& file, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, file.data() + at, 8);
  return value;
}

// Opens the file with one u32 changed and the checksums made right again.
Status open_with(std::size_t at, std::uint32_t value, Fault* fault) {
  AlignedBytes file = hand_built(with_text());
  put32(file, at, value);
  HandBuilder::seal(file);
  return open(file, fault);
}

// Each 32-bit field of header and tables set to extreme values, with right checksums. Returns how many still open.
std::size_t try_extreme_fields(const HandShape& shape) {
  const AlignedBytes file = hand_built(shape);
  const auto data_at = static_cast<std::size_t>(get64(file, 72));
  std::size_t accepted = 0;
  for (std::size_t at = 8; at < data_at; at += 4) {
    if (at >= 88 && at < 100) continue;  // the checksums
    for (const std::uint32_t value :
         {0u, 1u, 2u, 7u, 255u, 0x10000000u, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu}) {
      AlignedBytes changed = file;
      put32(changed, at, value);
      if (std::memcmp(changed.data(), file.data(), file.size()) == 0) continue;
      HandBuilder::seal(changed);
      Model model;
      Fault fault;
      if (Model::open(changed.view(), &model, &fault) != Status::ok) {
        REQUIRE(fault.what[0] != '\0');
        continue;
      }
      // What still opens must still be safe to run.
      ++accepted;
      std::size_t bytes = 0;
      if (Session::memory_needed(model, {}, &bytes) != Status::ok || bytes > (1u << 24)) continue;
      Rig rig(model, {});
      const Token token = 1;
      const Status fed = rig.session.feed({&token, 1});
      REQUIRE((fed == Status::ok || fed == Status::numeric));
    }
  }
  return accepted;
}

}  // namespace

TEST_CASE("open: files built from the specification") {
  for (const std::uint32_t type : {0u, 1u, 2u, 3u}) {
    HandShape shape = with_text();
    shape.type = type;
    const AlignedBytes file = hand_built(shape);
    const Model model = open_model(file);
    const ModelInfo info = model.info();
    CHECK(info.n_layer == 2);
    CHECK(info.n_head == 2);
    CHECK(info.n_kv_head == 2);
    CHECK(info.n_embd == 8);
    CHECK(info.head_size == 4);
    CHECK(info.n_hidden == 32);
    CHECK(info.block_size == 16);
    CHECK(info.vocab_size == 11);
    CHECK(info.n_tokens == 8);
    CHECK(info.has_text);
    CHECK(info.type == static_cast<WeightType>(type));
    CHECK(info.file_bytes == file.size());
    CHECK(info.provenance == "source=hand\n");
    // wte, wpe, ln_f; a layer: norms, c_attn, c_proj, c_fc, c_proj.
    CHECK(info.n_parameters == 11 * 8 + 16 * 8 + 16 + 2 * (32 + 24 * 9 + 8 * 9 + 32 * 9 + 8 * 33));
    CHECK(model.verify() == Status::ok);
  }
}

TEST_CASE("open: the worked example of FORMAT.md is as long as it says") {
  HandShape shape;
  shape.n_layer = 1, shape.n_head = 1, shape.n_embd = 2, shape.head_size = 2, shape.n_hidden = 2;
  shape.block_size = 1, shape.vocab_size = 2, shape.bias = false;
  shape.pieces = {"a", "b"};
  const AlignedBytes file = hand_built(shape);
  open_model(file);
  CHECK(get64(file, 40) == 704);
  CHECK(get64(file, 48) == 86);
  CHECK(get64(file, 256 + 24) - get64(file, 72) == 0);  // wte first
  CHECK(file.size() - get64(file, 72) == 6176 - 832);
}

TEST_CASE("open: cut at every byte, and every byte of header and tables damaged") {
  const AlignedBytes file = hand_built(with_text());
  const auto data_at = static_cast<std::size_t>(get64(file, 72));
  for (std::size_t n = 0; n < file.size(); ++n) {
    if (n > data_at + 64 && n % 97 != 0) continue;
    AlignedBytes cut(n);
    if (n != 0) std::memcpy(cut.data(), file.data(), n);
    Fault fault;
    const Status status = open(cut, &fault);
    REQUIRE(status == (n < 8 ? Status::not_a_model : Status::corrupt));
    REQUIRE(fault.what[0] != '\0');
  }
  AlignedBytes damaged = file;
  for (std::size_t at = 0; at < data_at; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      damaged.data()[at] ^= std::byte(1 << bit);
      Fault fault;
      REQUIRE(open(damaged, &fault) != Status::ok);
      damaged.data()[at] ^= std::byte(1 << bit);
    }
  }
  damaged.data()[data_at + 5] ^= std::byte{1};
  const Model model = open_model(damaged);  // weights are not read
  CHECK(model.verify() == Status::corrupt);
}

TEST_CASE("open: any 32-bit field set to extreme values, with right checksums, never crashes") {
  HandShape family = with_text();
  family.norm = 1, family.positions = 2, family.rotary_dims = 4, family.n_kv_head = 1, family.activation = 4;
  family.qk_norm = 1, family.embed_norm = 1, family.output = 1, family.softcap = 15, family.with = {67};
  // norm_eps, attention_scale, the text of the tokenizer, ..
  CHECK(try_extreme_fields(with_text()) > 0);
  CHECK(try_extreme_fields(family) > 0);
}

TEST_CASE("open: single faults are named") {
  Fault fault;
  const std::size_t config = 104;
  for (std::size_t field = 0; field < 9; ++field) {
    CHECK(open_with(config + 4 * field, 0, &fault) == Status::corrupt);
    CHECK(fault.offset == config + 4 * field);
    CHECK(open_with(config + 4 * field, 0x80000000u, &fault) == Status::corrupt);
  }
  CHECK(open_with(8, 0x00000002, &fault) == Status::unsupported);  // major 2
  CHECK(open_with(8, 0, &fault) == Status::unsupported);
  CHECK(open_with(24, 1, &fault) == Status::unsupported);  // a required feature
  CHECK(open_with(100, 1, &fault) == Status::corrupt);     // reserved
  CHECK(open_with(196, 1, &fault) == Status::corrupt);     // reserved in the config
  CHECK(open_with(136, 12, &fault) == Status::corrupt);    // n_tokens > vocab_size
  CHECK(open_with(136, 7, &fault) == Status::corrupt);     // not the tokenizer's
}

TEST_CASE("open: what the runtime does not run is unsupported, by name") {
  Fault fault;
  const auto unsupported = [&](std::size_t at, std::uint32_t value, const char* name) {
    CAPTURE(name);
    CHECK(open_with(at, value, &fault) == Status::unsupported);
    CHECK(std::string(fault.what).find(name) != std::string::npos);
  };
  unsupported(172, 5, "attention window");
}

TEST_CASE("open: a config asks for tensors, or forbids them") {
  Fault fault;
  const auto corrupt = [&](std::size_t at, std::uint32_t value) {
    CAPTURE(at);
    CAPTURE(value);
    CHECK(open_with(at, value, &fault) == Status::corrupt);
  };
  corrupt(112, 1);  // fewer KV heads: c_attn has too many rows
  corrupt(140, 1);  // RMS norm: has no biases
  corrupt(148, 2);  // rotary: dims, frequencies
  corrupt(148, 3);  // no positions: a table is there
  corrupt(164, 4);  // gated: no gate
  corrupt(188, 1);  // separate output: no lm_head
  corrupt(140, 2);
  corrupt(148, 4);
  corrupt(152, 2);
  corrupt(164, 5);
  corrupt(180, 3);
  corrupt(184, 2);
  corrupt(188, 2);
  corrupt(156, 2);           // rotary dims of a model without rotation
  corrupt(176, 0xbf800000);  // -1
  HandShape shape = with_text();
  shape.positions = 2;
  shape.rotary_dims = 4;
  const AlignedBytes rotary = hand_built(shape);
  CHECK(open(rotary, &fault) == Status::ok);
  for (const std::uint32_t dims : {0u, 1u, 3u, 6u}) {  // none, odd, larger than a head
    AlignedBytes changed = rotary;
    put32(changed, 156, dims);
    HandBuilder::seal(changed);
    CHECK(open(changed, &fault) == Status::corrupt);
  }
}

TEST_CASE("open: each optional tensor may be left out, and a forbidden one may not be there") {
  HandShape shape = with_text();
  shape.embed_norm = 1, shape.qk_norm = 1, shape.activation = 4, shape.output = 1;
  Fault fault;
  CHECK(open(hand_built(shape), &fault) == Status::ok);
  for (const std::uint32_t role : {3u, 4u, 16u, 17u, 19u, 20u, 21u, 23u, 24u, 25u, 27u, 29u, 31u, 64u, 65u}) {
    CAPTURE(role);
    HandShape without = shape;
    without.without = {role};
    CHECK(open(hand_built(without), &fault) == Status::ok);
  }
  shape.with = {67};
  CHECK(open(hand_built(shape), &fault) == Status::ok);
  for (const std::uint32_t role : {3u, 4u, 20u, 21u, 29u}) {  // of norms and a gate that the config does not have
    CAPTURE(role);
    HandShape plain = with_text();
    plain.with = {role};
    CHECK(open(hand_built(plain), &fault) == Status::corrupt);
  }
}

TEST_CASE("open: tensors") {
  Fault fault;
  const AlignedBytes file = hand_built(with_text());
  const std::size_t entries = get32(file, 32);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = 256 + 48 * i;
    CAPTURE(i);
    for (const std::size_t field : {std::size_t{0}, std::size_t{4}, std::size_t{8}, std::size_t{12}, std::size_t{16},
                                    std::size_t{20}, std::size_t{24}, std::size_t{32}, std::size_t{40}}) {
      CAPTURE(field);
      CHECK(open_with(at + field, get32(file, at + field) + 1, &fault) == Status::corrupt);
    }
    // An offset that wraps, a size that wraps.
    AlignedBytes changed = file;
    put64(changed, at + 24, 0xffffffffffffffc0u);
    HandBuilder::seal(changed);
    CHECK(open(changed, &fault) == Status::corrupt);
    changed = file;
    put64(changed, at + 32, 0xffffffffffffffffu);
    HandBuilder::seal(changed);
    CHECK(open(changed, &fault) == Status::corrupt);
    // The same tensor twice.
    if (i + 1 < entries) {
      changed = file;
      std::memcpy(changed.data() + at + 48, changed.data() + at, 48);
      HandBuilder::seal(changed);
      CHECK(open(changed, &fault) == Status::corrupt);
    }
  }
  CHECK(open_with(32, 0xffffffffu, &fault) == Status::corrupt);
  CHECK(open_with(32, static_cast<std::uint32_t>(entries - 1), &fault) == Status::corrupt);
}

TEST_CASE("open: files of other kinds, and of the other byte order") {
  Fault fault;
  for (const char* text : {"GGUF1234....", "PK\x03\x04........", "", "hello"}) {
    AlignedBytes file(std::strlen(text));
    if (file.size() != 0) std::memcpy(file.data(), text, file.size());
    CHECK(open(file, &fault) == Status::not_a_model);
    CHECK(fault.found == file.size());
  }
  const unsigned char reversed[] = {0x0a, 0x1a, 0x0a, 0x0d, 0x57, 0x4e, 0x4d, 0x89};
  AlignedBytes file(8);
  std::memcpy(file.data(), reversed, 8);
  CHECK(open(file, &fault) == Status::unsupported);
}

TEST_CASE("open: arguments") {
  const AlignedBytes file = hand_built(with_text());
  Model model;
  CHECK(Model::open(file.view(), nullptr) == Status::bad_argument);
  CHECK(Model::open({nullptr, 5}, &model) == Status::bad_argument);
  CHECK(Model::open({}, &model) == Status::not_a_model);
  AlignedBytes moved(file.size() + 64);
  for (std::size_t shift = 1; shift < 64; ++shift) {
    std::memcpy(moved.data() + shift, file.data(), file.size());
    const Status status = Model::open({moved.data() + shift, file.size()}, &model);
    CHECK(status == (shift % 16 == 0 ? Status::ok : Status::misaligned));
  }
  CHECK(Model{}.info().n_layer == 0);
  CHECK(Model{}.verify() == Status::wrong_state);
}

TEST_CASE("open: a newer minor version is read, its unknown fields ignored") {
  AlignedBytes file = hand_built(with_text());
  put32(file, 8, 1u | 7u << 16);
  put32(file, 100, 5);
  put32(file, 200, 5);
  HandBuilder::seal(file);
  Fault fault;
  CHECK(open(file, &fault) == Status::ok);
}
