#!/bin/bash
# run.sh BUILD MACHINE..: builds the libraries and what shows a session at work for each MACHINE (the functions machine_*
# below), runs it there or under qemu's user emulation, and compares hashes and text with those of BUILD, which holds
# `all` and tests/logit_hash. Which table of kernels each CPU gets is checked, too. Closes with "N passed, N failed".
set -u
unset QEMU_LD_PREFIX
native=$1
shift
here=$(dirname "$0")
fixture=tests/fixtures/random-2x48/ckpt.pt
shipped=models/shakespeare-char.minnow
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

ok() {
  passed=$((passed + 1))
  echo "$1"
}
fail() {
  failed=$((failed + 1))
  echo "FAILED: $1"
  [ ! -f "$work/log" ] || tail -n 20 "$work/log"
}

# cross BUILD CXX [MAKE ARGUMENTS..]: libraries and logit_hash; and the C program, linked with the core by the C compiler,
# which has no C++ library to offer.
cross() {
  local build=$1 cxx=$2
  shift 2
  make -s WERROR=1 "CXX=${LAUNCHER-} $cxx" "BUILD=$build" TOOL_FLAGS=-O0 LDFLAGS=-static "$@" "$build/libminnow.a" "$build/tests/logit_hash" \
    > "$work/log" 2>&1 &&
    walk "$build" "${cxx/g++/gcc}" 2> "$work/log" || { fail "$build: does not build"; return 1; }
}
# In a folder of this run's own, since others may do the same with BUILD at this time.
walk() {
  $2 -std=c99 -O1 -Wall -Wextra -Wpedantic -Wconversion -Werror -Isrc/include -static -o "$work/walk-$(basename "$1")" "$here/walk.c" \
    "$1/libminnow.a" ${LIBRARIES-}
}

# hashes NAME PROGRAM..: of every model of the fixture, by the best table.
hashes() {
  local name=$1
  shift
  "$@" "$work/f32.minnow" "$work/f16.minnow" "$work/q8.minnow" "$work/q4.minnow" > "$work/$name.hashes" 2> "$work/log"
}

# runs TITLE BUILD ISA [EMULATOR..]: the same hashes, the same text, by the table that is expected.
runs() {
  local title=$1 build=$2 isa=$3 start=$SECONDS found
  shift 3
  hashes here "$@" "$build/tests/logit_hash" --quick
  if cmp -s "$work/native.hashes" "$work/here.hashes"; then ok "$title: the same hashes"; else fail "$title: hashes"; fi
  "$@" "$work/walk-$(basename "$build")" $shipped > "$work/here.text" 2> "$work/log"
  if cmp -s "$work/native.text" "$work/here.text"; then ok "$title: the same text"; else fail "$title: text"; fi
  found=$(sed -n 's/^isa //p' "$work/log")
  if [ "$found" = "$isa" ]; then ok "$title: takes $isa ($((SECONDS - start)) s)"; else
    fail "$title: expected $isa, found $found"; fi
}

machine_x86_64_without_avx2() { runs 'x86-64, Nehalem' "$native" reference qemu-x86_64-static -cpu Nehalem; }

# Runs here; asm/ is that of x86-64, which g++-multilib would link to.
machine_i686() {
  cross build-i686 'g++ -m32 -idirafter /usr/include/x86_64-linux-gnu' && runs i686 build-i686 reference
}

machine_aarch64() {
  local cpu
  cross build-aarch64 aarch64-linux-gnu-g++ || return
  for cpu in a53:neon a72:neon a76:dotprod; do
    runs "aarch64, Cortex-${cpu%:*}" build-aarch64 "${cpu#*:}" qemu-aarch64-static -L /usr/aarch64-linux-gnu -cpu "cortex-${cpu%:*}"
  done
}

machine_armv7() {
  local cpu
  cross build-armv7 arm-linux-gnueabihf-g++ || return
  for cpu in a7:armv7 a15:armv7 a8:reference a9:reference; do
    runs "ARMv7, Cortex-${cpu%:*}" build-armv7 "${cpu#*:}" qemu-arm-static -L /usr/arm-linux-gnueabihf -cpu "cortex-${cpu%:*}"
  done
}

machine_riscv64() {
  cross build-riscv64 riscv64-linux-gnu-g++ && runs riscv64 build-riscv64 reference qemu-riscv64-static
}

# refuses TITLE EXPECTED COMMAND..: exit status 1, nothing on stdout, and one line on stderr that ends with EXPECTED.
refuses() {
  local title=$1 expected=$2 status=0
  shift 2
  "$@" > "$work/out" 2> "$work/log" || status=$?
  if [ "$status" -eq 1 ] && [ ! -s "$work/out" ] && [ "$(wc -l < "$work/log")" -eq 1 ] && grep -q "$expected" "$work/log"; then
    ok "$title: $(cat "$work/log")"
  else
    fail "$title: exit status $status"
  fi
}

# Big-endian. Of the program only what these commands need is built; the linker lets the others be missing.
machine_s390x() {
  local cxx="${LAUNCHER-} s390x-linux-gnu-g++" build=build-s390x
  LIBRARIES=-lm cross $build s390x-linux-gnu-g++ || return  # for float_mode.hpp, which does not know this CPU
  make -s WERROR=1 CXX="$cxx" BUILD=$build/part CXXFLAGS=-O0 TOOL_SOURCES="$(echo tools/*.cpp tools/bake/*.cpp tools/convert/{arguments,convert}.cpp)" \
    LDFLAGS='-static -Wl,--unresolved-symbols=ignore-all' $build/part/minnow > "$work/log" 2>&1 ||
    { fail 's390x: the program does not build'; return; }
  refuses 's390x' ': this machine is big-endian' qemu-s390x-static "$work/walk-$build" $shipped
  refuses 's390x, run' ': this machine is big-endian' qemu-s390x-static $build/part/minnow run $shipped
  refuses 's390x, convert' ': this machine is big-endian' qemu-s390x-static $build/part/minnow convert $fixture \
    -o "$work/refused.minnow"
  if [ -e "$work/refused.minnow" ]; then fail 's390x, convert: left a file'; fi
}

# The core with another C library, by its compiler for C: there is none for C++, and none is needed.
machine_musl() {
  musl-gcc -std=c99 -O1 -Isrc/include -static -o "$work/walk-musl" "$here/walk.c" "$native/libminnow.a" > "$work/log" 2>&1 ||
    { fail 'musl: does not build'; return; }
  "$work/walk-musl" $shipped > "$work/here.text" 2> "$work/log"
  if cmp -s "$work/native.text" "$work/here.text"; then ok 'musl: the same text'; else fail 'musl: text'; fi
}

for type in f32 f16 q8 q4; do
  "$native/minnow" convert $fixture --type $type -o "$work/$type.minnow" 2> "$work/log" ||
    fail "convert --type $type"
done
hashes native "$native/tests/logit_hash" --quick || fail 'hashes of the native build'
walk "$native" cc && "$work/walk-$(basename "$native")" $shipped > "$work/native.text" 2> "$work/log" || fail 'walk of the native build'
for machine in "$@"; do "machine_$machine"; done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
