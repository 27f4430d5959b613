#!/bin/sh
# run.sh BUILD [AARCH64_BUILD]: the shipped model inside programs, by the program and libraries of BUILD: as C source
# through each compiler that is there, without a warning; as an object file; behind the program. What is there is run, and
# says what `minnow run` says. With AARCH64_BUILD the same for that machine, under qemu.
# CC, CXX: the compilers beside gcc and clang's. Closes with "N passed, N failed".
set -u
build=$1
aarch64=${2:-}
model=models/shakespeare-char.minnow
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# check NAME COMMAND..: counts it, and shows what it said when it fails.
check() {
  name=$1
  shift
  if "$@" > "$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $name"
  else
    failed=$((failed + 1))
    echo "FAILED  $name"
    tail -n 5 "$work/log"
  fi
}

strict='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror'
# Compiles the C source as the language asked for.
compiles() { "$1" -x "$2" -std="$3" $strict -O2 -c "$work/model.c" -o "$work/model-$1-$3.o"; }
# Links baked.c with the object given, quietly, and compares what it writes: program LINKER OBJECT LIBRARY [RUNNER..]
program() {
  cc=$1 object=$2 library=$3
  shift 3
  $cc -std=c99 $strict -O2 -Isrc/include "$here/baked.c" "$object" "$library" -Wl,--fatal-warnings -o "$work/baked" &&
    "$@" "$work/baked" bytes | cmp - "$model" && "$@" "$work/baked" text | cmp - "$work/text"
}
stack_is_plain() { readelf -lW "$work/baked" | grep -q 'GNU_STACK.* RW '; }
says_the_same() { "$@" -p ROMEO: -n 40 --seed 1 --no-echo | cmp - "$work/text"; }

"$build/minnow" run $model -p ROMEO: -n 40 --seed 1 --no-echo > "$work/text"
check 'bake --c' "$build/minnow" bake $model --c "$work/model.c" --name model_bytes
for compiler in gcc clang; do
  command -v $compiler > /dev/null || continue
  for standard in c99 c11; do check "$compiler, $standard" compiles $compiler c $standard; done
done
for compiler in g++ clang++; do
  command -v $compiler > /dev/null || continue
  for standard in c++17 c++20; do check "$compiler, $standard" compiles $compiler c++ $standard; done
done
for object in "$work"/model-gcc-c99.o "$work"/model-clang++-c++17.o; do
  [ ! -f "$object" ] || check "linked: $(basename "$object")" program cc "$object" "$build/libminnow.a" env
done

check 'bake --object' "$build/minnow" bake $model --object "$work/model.o" --name model_bytes
check 'linked: the object file' program cc "$work/model.o" "$build/libminnow.a" env
check 'its stack is not executable' stack_is_plain
if command -v ld.lld > /dev/null; then
  check 'linked by lld' program "clang -fuse-ld=lld" "$work/model.o" "$build/libminnow.a" env
fi

check bundle "$build/minnow" bundle $model -o "$work/app"
check 'the bundle says the same' says_the_same "$work/app"

if [ -n "$aarch64" ]; then
  emulator='qemu-aarch64-static -L /usr/aarch64-linux-gnu'
  check 'bake --object, aarch64' "$build/minnow" bake $model --object "$work/model.o" --name model_bytes \
    --target aarch64-elf
  check 'linked: the object file, aarch64' program aarch64-linux-gnu-gcc "$work/model.o" "$aarch64/libminnow.a" \
    $emulator
  check 'bundle --runtime, aarch64' "$build/minnow" bundle $model -o "$work/app-aarch64" --runtime "$aarch64/minnow"
  check 'the bundle says the same, aarch64' says_the_same $emulator "$work/app-aarch64"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
