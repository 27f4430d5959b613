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
# Protections that the linker leaves on only where every object says that it is compiled for them.
there() { command -v "$1" > /dev/null; }
keeps_cet() {
  echo 'int f(void) { return 0; }' > "$work/cet.c" && gcc -fcf-protection -c "$work/cet.c" -o "$work/cet.o" &&
    "$build/minnow" bake $model --object "$work/x86_64.o" --target x86_64-elf &&
    ld -m elf_x86_64 -z cet-report=error -r "$work/cet.o" "$work/x86_64.o" -o "$work/both.o" &&
    readelf -n "$work/both.o" | grep -q 'x86 feature: IBT, SHSTK'
}
keeps_bti() {
  echo 'int main(void) { return 0; }' > "$work/bti.c" &&
    aarch64-linux-gnu-gcc -mbranch-protection=standard -c "$work/bti.c" -o "$work/bti.o" &&
    "$build/minnow" bake $model --object "$work/aarch64.o" --target aarch64-elf &&
    aarch64-linux-gnu-ld -z force-bti --fatal-warnings -e main "$work/bti.o" "$work/aarch64.o" -o "$work/both" &&
    readelf -n "$work/both" | grep -q 'AArch64 feature: BTI, PAC'
}
[ "$(uname -m)" != x86_64 ] || check 'CET stays on' keeps_cet
! there aarch64-linux-gnu-gcc || check 'BTI stays on' keeps_bti
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

# The object files of other targets: by each linker that is there, and run where an emulator is.
cat > "$work/bytes.c" << 'END'
#include <stddef.h>
#include <stdio.h>
extern const unsigned char model_bytes[];
extern const size_t model_bytes_size;
int main(void) {
  return (size_t)model_bytes % 64 != 0 || fwrite(model_bytes, 1, model_bytes_size, stdout) != model_bytes_size;
}
END
cat > "$work/used.c" << 'END'
extern const unsigned char model_bytes[];
int first(void) { return model_bytes[0]; }
END
bake_for() { "$build/minnow" bake $model --object "$work/$1.o" --name model_bytes --target "$1"; }
runs_for() {
  bake_for "$1" && "$2-gcc" -static "$work/bytes.c" "$work/$1.o" -Wl,--fatal-warnings -o "$work/bytes" &&
    "$3" "$work/bytes" | cmp - "$model"
}
# links_for TARGET TRIPLE LINKER..
links_for() {
  target=$1 triple=$2
  shift 2
  bake_for "$target" && clang -target "$triple" -O1 -c "$work/used.c" -o "$work/used.o" &&
    "$@" "$work/used.o" "$work/$target.o" && test "$(wc -c < "$work/linked")" -gt "$(wc -c < $model)"
}
! there arm-linux-gnueabihf-gcc || check 'arm-elf' runs_for arm-elf arm-linux-gnueabihf qemu-arm-static
! there riscv64-linux-gnu-gcc || check 'riscv64-elf' runs_for riscv64-elf riscv64-linux-gnu qemu-riscv64-static
if there ld.lld && there clang; then
  for target in x86_64 i686 aarch64 riscv64; do
    check "$target-elf, lld" links_for "$target-elf" "$target-unknown-linux-gnu" \
      ld.lld --fatal-warnings -shared -z notext -o "$work/linked"
  done
  check 'riscv32-elf, lld' links_for riscv32-elf riscv32-unknown-elf ld.lld --fatal-warnings -e first -o "$work/linked"
  for machine in x86_64 i686 aarch64; do
    check "$machine-coff, lld" links_for $machine-coff $machine-pc-windows-msvc \
      lld-link -dll -noentry -export:first "-out:$work/linked"
  done
fi
if there ld64.lld-14 && there clang; then
  for machine in x86_64 arm64; do
    check "$machine-macho, lld" links_for $machine-macho $machine-apple-macos11 \
      ld64.lld-14 -arch $machine -platform_version macos 11.0 11.0 -dylib -o "$work/linked"
  done
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
