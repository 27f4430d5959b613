#!/bin/sh
# Each header compiles alone; the public ones with g++ and clang++ and without src/ on the path, *.h as C99.
strict='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only'
include() { printf '#include "%s"\nextern int declared;\n' "$1"; }  # C wants a declaration
failed=0

compilers=${CXX:-c++}
for other in g++ clang++; do
  command -v $other >/dev/null 2>&1 && compilers="$compilers
$other"
done
while read -r compiler; do
  for header in src/include/minnow/*.h src/include/minnow/*.hpp; do
    [ -f "$header" ] || continue
    include "${header#src/include/}" | $compiler -std=c++17 $strict -Isrc/include -x c++ - || failed=1
    case $header in
      *.h) include "${header#src/include/}" | $compiler -std=c99 $strict -Isrc/include -x c - || failed=1 ;;
    esac
  done
done <<END
$(echo "$compilers" | sort -u)
END

# alone 0 or alone 1: every other header, so that both halves run at once.
alone() {
  count=0
  status=0
  for header in src/base/*.hpp src/kernels/*.hpp src/model/*.hpp src/session/*.hpp src/text/*.hpp src/api/*.hpp \
    src/hosted/*.hpp tools/*.hpp tools/*/*.hpp; do
    count=$((count + 1))
    [ -f "$header" ] && [ $((count % 2)) -eq "$1" ] || continue
    case $header in
      *_x86.hpp | *_vnni.hpp | *_arm.hpp | *_armv7.hpp) continue ;;  # parts of instruction-set files, for their flags alone
    esac
    include "$header" | ${CXX:-c++} -std=c++17 $strict -Wno-unused-function -I. -Isrc -Isrc/include -x c++ - || status=1
  done
  return $status
}
alone 0 &
alone 1 || failed=1
wait $! || failed=1
exit $failed
