#!/usr/bin/env python3
"""Writes src/text/unicode_classes.cpp: which code points are letters and which are numbers.

    python3 tools/make_unicode_tables.py > src/text/unicode_classes.cpp

The categories come from Python's unicodedata; the Unicode version that it holds is named in the file's head
(Python 3.11 of Debian 12: Unicode 14.0.0). With a UnicodeData.txt of the Unicode Character Database and its version
as arguments, they come from there instead:

    python3 tools/make_unicode_tables.py UnicodeData.txt 16.0.0 > src/text/unicode_classes.cpp
"""
import sys
import unicodedata

LAST = 0x10FFFF
LENGTH_BITS = 10  # an entry covers at most 1 << LENGTH_BITS code points; longer ranges take several

HEAD = """\
// Letters and numbers of Unicode {version}: general categories L* and N*. Written by tools/make_unicode_tables.py from
// {source}; change that, not this. Depends on nothing.
#include "text/unicode_classes.hpp"

#include <cstddef>

namespace minnow {{
namespace {{

// First code point << 11 | whether they are numbers << 10 | (count - 1), ascending.
constexpr std::uint32_t kRanges[{count}] = {{
"""

TAIL = """\
};

}  // namespace

CharClass class_of(std::uint32_t code) noexcept {
  if (is_white_space(code)) return CharClass::space;
  // The last range that begins at or before `code`.
  std::size_t begin = 0;
  std::size_t end = sizeof kRanges / sizeof *kRanges;
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (kRanges[middle] >> 11 <= code) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == 0) return CharClass::other;
  const std::uint32_t range = kRanges[begin - 1];
  if (code - (range >> 11) > (range & 1023)) return CharClass::other;
  return (range & 1024) != 0 ? CharClass::number : CharClass::letter;
}

}  // namespace minnow
"""


def categories_of_file(path):
    """[code point] -> first letter of the category, from a UnicodeData.txt."""
    majors = ["C"] * (LAST + 1)
    first = None
    for line in open(path, encoding="ascii"):
        fields = line.split(";")
        code, name, category = int(fields[0], 16), fields[1], fields[2]
        if name.endswith(", First>"):
            first = code
            continue
        start = first if name.endswith(", Last>") else code
        first = None
        for c in range(start, code + 1):
            majors[c] = category[0]
    return majors


def ranges(majors):
    """(first, count, is_number) of every run of letters or numbers, cut to the size of an entry."""
    start = 0
    for code in range(1, LAST + 2):
        if code <= LAST and majors[code] == majors[start]:
            continue
        if majors[start] in "LN":
            for first in range(start, code, 1 << LENGTH_BITS):
                yield first, min(code - first, 1 << LENGTH_BITS), majors[start] == "N"
        start = code


def main():
    if len(sys.argv) == 3:
        majors, version, source = categories_of_file(sys.argv[1]), sys.argv[2], "UnicodeData.txt"
    else:
        majors = [unicodedata.category(chr(code))[0] for code in range(LAST + 1)]
        version, source = unicodedata.unidata_version, "Python's unicodedata"
    entries = ["0x%08x" % (first << 11 | number << 10 | (count - 1)) for first, count, number in ranges(majors)]
    out = HEAD.format(version=version, source=source, count=len(entries))
    for i in range(0, len(entries), 9):
        out += "    " + ", ".join(entries[i:i + 9]) + ",\n"
    sys.stdout.write(out + TAIL)


main()
