// What runs on the emulated PC, without an operating system: kernels and whole sessions of every table that its CPU
// has, to the bit against the reference. Results go to the serial port. Knows the core, the cases of the tests, no
// library.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/tables.hpp"
#include "minnow/minnow.hpp"
#include "tests/kernels/cases.hpp"

// What the core asks of its surroundings.
extern "C" {
void* memcpy(void* to, const void* from, std::size_t n) {
  void* const begin = to;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
  return begin;
}
void* memset(void* to, int value, std::size_t n) {
  void* const begin = to;
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(value) : "memory");
  return begin;
}
void* memmove(void* to, const void* from, std::size_t n) {
  auto* const d = static_cast<unsigned char*>(to);
  const auto* const s = static_cast<const unsigned char*>(from);
  if (d <= s) return memcpy(to, from, n);
  for (std::size_t i = n; i-- > 0;) d[i] = s[i];
  return to;
}
int memcmp(const void* a, const void* b, std::size_t n) {
  const auto* const x = static_cast<const unsigned char*>(a);
  const auto* const y = static_cast<const unsigned char*>(b);
  for (std::size_t i = 0; i < n; ++i) {
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  }
  return 0;
}
std::size_t strlen(const char* s) {
  std::size_t n = 0;
  while (s[n] != 0) ++n;
  return n;
}
}

#define MINNOW_MODEL(name, file)                                                                              \
  __asm__(".section .rodata\n.balign 64\n" #name "_begin: .incbin \"" file "\"\n" #name "_end: .previous\n"); \
  extern "C" const std::byte name##_begin[], name##_end[];
MINNOW_MODEL(model_f32, MINNOW_MODELS "/f32.minnow")
MINNOW_MODEL(model_f16, MINNOW_MODELS "/f16.minnow")
MINNOW_MODEL(model_q8, MINNOW_MODELS "/q8.minnow")
MINNOW_MODEL(model_q4, MINNOW_MODELS "/q4.minnow")

namespace minnow::test {
namespace {

void out8(std::uint16_t port, char value) { __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port)); }
char in8(std::uint16_t port) {
  char value;
  __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
  return value;
}

// The first serial port, a 16550 at 115200 baud.
void open_serial() { out8(0x3fb, static_cast<char>(0x83)), out8(0x3f8, 1), out8(0x3f9, 0), out8(0x3fb, 0x03); }
void print(char c) {
  while ((in8(0x3fd) & 0x20) == 0) continue;
  out8(0x3f8, c);
}
void print(const char* text) {
  for (; *text != 0; ++text) print(*text);
}
void print(std::uint32_t n) {
  if (n >= 10) print(n / 10);
  print(static_cast<char>('0' + n % 10));
}

// Memory behind the program, given out once a case.
struct Memory {
  static constexpr std::uintptr_t kBegin = 0x1000000, kEnd = 0x1f00000;

  template <class T>
  T* take(std::size_t n) {
    T* const p = reinterpret_cast<T*>(at);
    at += (n * sizeof(T) + 63) / 64 * 64;
    if (at > kEnd) print("program.cpp: out of memory\n");
    return p;
  }
  std::uintptr_t at = kBegin;
};

std::uint32_t passed = 0;
std::uint32_t failed = 0;
void result(bool ok, const char* table, const char* what, const char* which) {
  ++(ok ? passed : failed);
  print(ok ? "ok      " : "FAILED  ");
  print(table), print(": "), print(what), print(" "), print(which), print("\n");
}

bool matmul_case(const Kernels& table, WeightType type, const MatmulCase& shape, std::uint32_t tokens) {
  Memory memory;
  Random random(shape.groups * 1000 + shape.block_end * 100 + tokens);
  const std::size_t blocks = shape.block_end, groups = shape.groups, columns = groups * kGroupColumns;
  const std::size_t rows = blocks * kBlockRows, bytes = blocks * groups * group_bytes(type);
  auto* const weights = memory.take<std::byte>(bytes);
  auto* const bias = memory.take<float>(rows);
  auto* const x = memory.take<float>(tokens * columns);
  auto* const q = memory.take<std::int8_t>(tokens * columns);
  auto* const scale = memory.take<float>(tokens * groups);
  auto* const sum = memory.take<std::int32_t>(tokens * groups);
  auto* const want = memory.take<float>(tokens * rows + 8);
  auto* const got = memory.take<float>(tokens * rows + 8);
  for (std::size_t i = 0; i < rows; ++i) bias[i] = random.uniform(-1, 1);
  for (std::size_t i = 0; i < tokens * columns; ++i) x[i] = random.below(5) == 0 ? 0.0f : random.uniform(-3, 3);
  for (std::size_t g = 0; g < tokens * groups; ++g) {
    const bool extreme = random.below(4) == 0;
    scale[g] = random.uniform(0.0001f, 0.1f);
    sum[g] = 0;
    for (std::size_t k = g * kGroupColumns; k < (g + 1) * kGroupColumns; ++k) {
      const int value = static_cast<int>(random.below(255)) - 127;
      q[k] = static_cast<std::int8_t>(extreme ? (value < 0 ? -127 : 127) : value);
      sum[g] += q[k];
    }
  }
  if (is_quantised(type)) {
    fill_quantised(type, weights, bytes, random);
  } else {
    for (std::size_t i = 0; i < bytes; i += type == WeightType::f16 ? 2 : 4) {
      const float w = random.uniform(-1, 1);
      const Half h = float_to_half(w);
      memcpy(weights + i, type == WeightType::f16 ? static_cast<const void*>(&h) : &w, type == WeightType::f16 ? 2 : 4);
    }
  }
  memset(want, 0x5a, (tokens * rows + 8) * sizeof(float));
  memset(got, 0x5a, (tokens * rows + 8) * sizeof(float));
  MatmulArgs args;
  args.weights = weights;
  args.bias_or_null = tokens % 2 != 0 ? bias : nullptr;
  args.groups = shape.groups;
  args.block_begin = shape.block_begin;
  args.block_end = shape.block_end;
  args.tokens = tokens;
  args.x = x, args.q = q, args.scale = scale, args.sum = sum;
  args.out_pitch = rows;
  args.out = want;
  kReferenceKernels.matmul[static_cast<int>(type)](args);
  args.out = got;
  table.matmul[static_cast<int>(type)](args);
  return memcmp(want, got, (tokens * rows + 8) * sizeof(float)) == 0;
}

// The reference multiplies floats in software, which emulated takes long: few token counts there.
void check_matmuls(const Kernels& table, WeightType type) {
  bool ok = true;
  for (const MatmulCase& shape : kMatmulCases) {
    for (std::uint32_t tokens = 1; tokens <= kMostTokens; ++tokens) {
      if (is_quantised(type) || tokens < 3 || tokens == 7) ok = matmul_case(table, type, shape, tokens) && ok;
    }
  }
  result(ok, table.name, "products of", to_string(type));
}

// Logits after every token, fed `split` at a time.
bool logits_of(const Model& model, SessionConfig config, std::size_t split, Memory& memory, float* logits) {
  const ModelInfo info = model.info();
  const std::size_t vocabulary = info.vocab_size;
  std::size_t bytes = 0;
  Session session;
  if (Session::memory_needed(model, config, &bytes) != Status::ok) return false;
  if (Session::create(model, config, {memory.take<std::byte>(bytes), bytes}, &session) != Status::ok) return false;
  auto* const tokens = memory.take<Token>(info.block_size);
  for (std::uint32_t i = 0; i < info.block_size; ++i)
    tokens[i] = static_cast<Token>((i * i * 7 + i * 3 + 1) % vocabulary);
  for (std::size_t t = 0; t < info.block_size; t += split) {
    const std::size_t n = info.block_size - t < split ? info.block_size - t : split;
    if (session.feed({tokens + t, n}, {logits + t * vocabulary, n * vocabulary}) != Status::ok) return false;
  }
  return true;
}

// Every table against the reference, whose run is made once.
void check_sessions(Span<const Kernels* const> tables, const std::byte* begin, const std::byte* end) {
  Model model;
  if (Model::open({begin, static_cast<std::size_t>(end - begin)}, &model) != Status::ok) {
    result(false, "reference", "opening", "a model");
    return;
  }
  const std::size_t n = std::size_t{model.info().block_size} * model.info().vocab_size;
  Memory memory;
  auto* const want = memory.take<float>(n);
  auto* const got = memory.take<float>(n);
  SessionConfig config;
  config.isa = Isa::reference;
  config.kv = KvType::f32;  // vcvtps2ph of Bochs 2.7 rounds ties of small halves up; CPUs do not
  const bool made = logits_of(model, config, model.info().block_size, memory, want);
  for (const Kernels* table : tables) {
    bool ok = made;
    config.isa = table->isa;
    for (const std::size_t split : {std::size_t{1}, std::size_t{5}, std::size_t{model.info().block_size}}) {
      Memory rest = memory;
      ok = logits_of(model, config, split, rest, got) && memcmp(want, got, n * sizeof(float)) == 0 && ok;
    }
    result(ok, table->name, "sessions of", to_string(model.info().type));
  }
}

void run() {
  open_serial();
  const Kernels* all[kMaxKernels];
  const std::size_t n = available_kernels(all);
  const Span<const Kernels* const> tables(all + 1, n - 1);
  for (const WeightType type : {WeightType::q8, WeightType::q4, WeightType::f16, WeightType::f32}) {
    for (const Kernels* table : tables) check_matmuls(*table, type);
  }
  check_sessions(tables, model_q8_begin, model_q8_end);
  check_sessions(tables, model_q4_begin, model_q4_end);
  check_sessions(tables, model_f16_begin, model_f16_end);
  check_sessions(tables, model_f32_begin, model_f32_end);
  result(all[n - 1] == &kVnniEvexKernels, all[n - 1]->name, "is the table chosen", "");
  print(passed), print(" passed, "), print(failed), print(" failed\n");
}

}  // namespace
}  // namespace minnow::test

extern "C" [[gnu::section(".start"), gnu::used]] void start() {
  minnow::test::run();
  minnow::test::print("\n");  // the line before has left the port when this one enters
  for (const char* text = "Shutdown"; *text != 0; ++text) minnow::test::out8(0x8900, *text);  // Bochs ends
  for (;;) __asm__ volatile("hlt");
}
