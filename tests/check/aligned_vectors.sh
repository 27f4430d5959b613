#!/bin/sh
# On Windows GCC aligns the stack to 16 bytes alone (GCC bug 54412): no move of 32 bytes in memory may need more.
# aligned_vectors.sh BUILD: for other targets, and for clang, there is nothing to look for.
CXX=${CXX:-c++}
case $($CXX -dumpmachine) in
  x86_64-*mingw*) ;;
  *) exit 0 ;;
esac
if echo __clang__ | $CXX -E -x c++ - | grep -q '^1'; then exit 0; fi
objects=$(find "$1" -name '*.o' -o -name '*.obj')
[ -n "$objects" ] || { echo "no objects in $1"; exit 1; }
breaches=$(for object in $objects; do
  $($CXX -print-prog-name=objdump) -d --no-show-raw-insn "$object" |
    sed -n "/vmov\(aps\|apd\|dqa\|dqa32\|dqa64\|ntps\|ntpd\|ntdq\|ntdqa\)[[:space:]].*%[yz]mm/{/(/s|^ *|$object: |p;}"
done)
[ -z "$breaches" ] || { echo "$breaches"; exit 1; }
