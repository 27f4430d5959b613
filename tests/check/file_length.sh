#!/bin/sh
# No file of code is over 400 lines; one that grows past that is asking to be two.
find src tools tests Makefile CMakeLists.txt -type f \( -name '*.[ch]pp' -o -name '*.[ch]' -o -name '*.sh' -o -name '*.py' \
  -o -name Makefile -o -name CMakeLists.txt \) -exec awk '
    FNR == 1 && file != "" && lines > 400 { print file ": " lines " lines"; bad = 1 }
    { file = FILENAME; lines = FNR }
    END { if (lines > 400) { print file ": " lines " lines"; bad = 1 } exit bad }' {} +
