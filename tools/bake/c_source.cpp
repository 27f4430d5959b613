// A model as a C source file. The bytes are one string literal in pieces, since that compiles fastest: the shipped
// model with gcc -O2 0.29 s and 60 MB, as an array of 64-bit numbers 1.4 s and 91 MB, of single bytes 7.1 s and 294 MB;
// with clang 0.14, 0.61 and 6.4 s, and 103, 147 and 370 MB (/usr/bin/time -f '%U s %M KB' gcc -std=c99 -O2 -c model.c).
#include <array>

#include "tools/bake/baked.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::bake {
namespace {

using convert::concat;

constexpr std::size_t kBytesALine = 48;
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

// In a literal each byte stands as itself where it can, else as an octal escape. A question mark is escaped since two
// of them may begin a trigraph.
struct Escapes {
  std::array<std::string, 256> plain;   // the shortest form
  std::array<std::string, 256> padded;  // three digits, in front of a digit
};

std::string octal(unsigned byte, bool padded) {
  std::string digits;
  for (unsigned shift = 6; shift > 0; shift -= 3) {
    if (padded || byte >> shift != 0) digits += static_cast<char>('0' + (byte >> shift & 7));
  }
  return "\\" + digits + static_cast<char>('0' + (byte & 7));
}

Escapes make_escapes() {
  Escapes out;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool printable = byte >= 0x20 && byte < 0x7f && c != '?' && c != '"' && c != '\\';
    out.plain[byte] = printable ? std::string(1, c) : octal(byte, false);
    out.padded[byte] = printable ? std::string(1, c) : octal(byte, true);
  }
  return out;
}

std::string preamble(const BakedModel& model) {
  const std::string& name = model.name;
  const std::string size = std::to_string(model.bytes.size());
  return concat(
      "/* Made by minnow ", version(), " (minnow bake) from ", model.source, ":\n * ", model.description,
      "\n *\n"
      " * Compile it as C99 or C++11, with any flags, and link it. Where the model is used, declare (in C++ as extern\n"
      " * \"C\")\n"
      " *\n"
      " *     extern const unsigned char ",
      name,
      "[];\n"
      " *     extern const size_t ",
      name,
      "_size;\n"
      " *\n"
      " * and open it where it is; nothing is copied:\n"
      " *\n"
      " *     minnow_model_open(",
      name, ", ", name,
      "_size, memory, sizeof memory, &model, &fault);         in C\n"
      " *     Model::open({reinterpret_cast<const std::byte*>(",
      name, "), ", name,
      "_size}, &model);    in C++\n"
      " */\n"
      "#include <stddef.h>\n\n"
      "#if defined(__cplusplus) && __cplusplus >= 201103L\n"
      "#define MINNOW_BAKED_ALIGN alignas(64)\n"
      "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
      "#define MINNOW_BAKED_ALIGN _Alignas(64)\n"
      "#elif defined(__GNUC__)\n"
      "#define MINNOW_BAKED_ALIGN __attribute__((aligned(64)))\n"
      "#else\n"
      "#error \"C11 or C++11 is needed to align the model; or link what minnow bake --object writes\"\n"
      "#endif\n\n"
      "#if defined(__GNUC__)\n"
      "#pragma GCC diagnostic push\n"
      "#pragma GCC diagnostic ignored \"-Woverlength-strings\" /* C99 promises 4095 bytes only */\n"
      "#endif\n\n"
      "#ifdef __cplusplus\n"
      "extern \"C\" {\n"
      "#endif\n\n"
      "extern const unsigned char ",
      name,
      "[];\n"
      "extern const size_t ",
      name,
      "_size;\n\n"
      "const size_t ",
      name, "_size = ", size,
      ";\n\n"
      "/* The literal's own zero is one byte more. */\n"
      "MINNOW_BAKED_ALIGN const unsigned char ",
      name, "[", size, " + 1] =\n");
}

constexpr std::string_view kEnd =
    ";\n\n"
    "#ifdef __cplusplus\n"
    "}\n"
    "#endif\n\n"
    "#if defined(__GNUC__)\n"
    "#pragma GCC diagnostic pop\n"
    "#endif\n"
    "#undef MINNOW_BAKED_ALIGN\n";

}  // namespace

void write_c(const BakedModel& model, convert::ByteSink* out) {
  const Escapes escapes = make_escapes();
  std::string text = preamble(model);
  for (std::size_t at = 0; at < model.bytes.size(); at += kBytesALine) {
    const std::size_t end = at + kBytesALine < model.bytes.size() ? at + kBytesALine : model.bytes.size();
    text += '"';
    for (std::size_t i = at; i < end; ++i) {
      const char next = i + 1 < end ? static_cast<char>(model.bytes[i + 1]) : '\0';
      const bool before_digit = next >= '0' && next <= '9';
      text += (before_digit ? escapes.padded : escapes.plain)[static_cast<std::size_t>(model.bytes[i])];
    }
    text += "\"\n";
    if (text.size() > kBufferBytes) {
      out->append(text.data(), text.size());
      text.clear();
    }
  }
  text += kEnd;
  out->append(text.data(), text.size());
}

}  // namespace minnow::bake
