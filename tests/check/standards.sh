#!/bin/sh
# The library is legal C++17 and C++20, its public headers also C++23, those for C also C99, C11 and C17, for g++ and
# clang++; and a compiler of MSVC's kind gets one #error that says what to take.
# standards.sh: needs nothing built.
strict='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only'
vectors=
case $(${CXX:-c++} -dumpmachine) in x86_64-*) vectors='-mavx2 -mfma -mf16c -mavx512f -mavx512vl -mavx512vnni' ;; esac
failed=0

headers() { (cd src/include && printf '#include "%s"\n' minnow/*."$1"; echo 'extern int declared;'); }  # C wants a declaration

standards() {
  status=0
  for standard in c++17 c++20 c++2b; do  # c++2b: C++23 as g++ 12 and clang++ 14 call it
    headers hpp | $1 -std=$standard $strict -Isrc/include -x c++ - || status=1
    headers h | $1 -std=$standard $strict -Isrc/include -x c++ - || status=1
  done
  for standard in c99 c11 c17; do
    headers h | $1 -std=$standard $strict -Isrc/include -x c - || status=1
  done
  # shellcheck disable=SC2086
  $1 -std=c++20 $strict $vectors -Isrc -Isrc/include src/*/*.cpp || status=1  # C++17: both build files
  return $status
}
standards g++ &
standards clang++ || failed=1
wait $! || failed=1

for header in src/include/minnow/*.hpp; do
  ${CXX:-c++} -std=c++17 -D_MSC_VER=1930 -fsyntax-only -Isrc/include -x c++ "$header" 2>&1 | sed -n '/error/{p;q;}' |
    grep -q '#error "minnow needs g++ or clang++' || { echo "$header: the first error of MSVC is not what to take"; failed=1; }
done
exit $failed
