#!/bin/sh
# run.sh BUILD: two shared objects with a copy of minnow each in one process, and minnow beside another library in one
# program, linked with the libraries of BUILD. All must write what `minnow run` writes. CC, CXX: the compilers.
# Closes with "N passed, N failed".
set -u
build=$1
cc=${CC:-cc} cxx=${CXX:-c++}
model=models/shakespeare-char.minnow
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
strict='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror'

# check NAME COMMAND..: counts it; its output must be the text.
check() {
  name=$1
  shift
  if "$@" > "$work/out" 2> "$work/log" && cmp "$work/text" "$work/out" >> "$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $name"
  else
    failed=$((failed + 1))
    echo "FAILED  $name"
    tail -n 5 "$work/log"
  fi
}

libraries="$build/libminnow_hosted.a $build/libminnow.a"
"$build/minnow" run $model -p ROMEO: -n 60 --seed 1 --no-echo > "$work/text" &&
  $cxx -std=c++17 $strict -O1 -fPIC -fvisibility=hidden -Isrc/include -c "$here/copy.cpp" -o "$work/copy.o" &&
  $cc -std=c99 -D_POSIX_C_SOURCE=200809L $strict -O1 -c "$here/host.c" -o "$work/host.o" &&
  $cc -std=c99 $strict -O1 -c "$here/neighbour.c" -o "$work/neighbour.o" &&
  $cxx -std=c++17 $strict -O1 -Isrc/include -I"$here" -c "$here/beside.cpp" -o "$work/beside.o" &&
  $cc "$work/host.o" -ldl -pthread -o "$work/host" || exit 1

# hidden: the linker hides all libraries. shown: it hides nothing, and the whole of minnow is inside; a static library shows
# nothing of itself.
for name in one two; do
  $cxx -shared -Wl,--exclude-libs,ALL "$work/copy.o" $libraries -pthread -o "$work/hidden_$name.so" &&
    $cxx -shared "$work/copy.o" -Wl,--whole-archive $libraries -Wl,--no-whole-archive -pthread \
      -o "$work/shown_$name.so" || exit 1
done
for kind in hidden shown; do
  for scope in local global; do
    check "two copies, $kind, $scope" "$work/host" $model "$work/${kind}_one.so" "$work/${kind}_two.so" $scope
  done
done
check 'two copies, one of each' "$work/host" $model "$work/shown_one.so" "$work/hidden_two.so" global
for kind in hidden shown; do
  if nm -D --defined-only "$work/${kind}_one.so" | grep 'minnow' > "$work/log"; then
    failed=$((failed + 1))
    echo "FAILED  $kind: names of minnow can be seen from outside"
    head -n 5 "$work/log"
  fi
done

for order in first last; do
  objects="$work/beside.o $work/copy.o $libraries $work/neighbour.o"
  [ $order = last ] || objects="$work/neighbour.o $work/beside.o $work/copy.o $libraries"
  $cxx $objects -pthread -Wl,--fatal-warnings -o "$work/beside" || exit 1
  check "beside another library, which is linked $order" "$work/beside" $model
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
