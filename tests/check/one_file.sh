#!/bin/sh
# one_file.sh BUILD [aarch64=BUILD] [armv7=BUILD]: the single-file form gives the library's bits: whole sessions of every
# weight type on every instruction set, compiled by g++ and clang++ at several levels; cross builds are emulated.
# Builds hold `all` and `programs`; BUILD also `amalgamation`. Closes with "N passed, N failed".
set -u
native=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
models=
for type in f32 f16 q8 q4; do
  "$native/minnow" convert tests/fixtures/random-2x48/ckpt.pt --type $type --calibrate-tokens 2048 -o "$work/$type.minnow" \
    2> /dev/null || "$native/minnow" convert tests/fixtures/random-2x48/ckpt.pt --type $type -o "$work/$type.minnow" 2> /dev/null
  models="$models $work/$type.minnow"
done
# shellcheck disable=SC2086
"$native/tests/logit_hash" $models > "$work/expected" 2> "$work/expected.ran"

# same NAME BUILD EMULATOR COMPILER FLAGS..: `logit_hash` of BUILD with minnow.cpp in the library's place.
same() {
  name=$1
  build=$2
  emulator=$3
  shift 3
  # shellcheck disable=SC2086
  if "$@" -std=c++17 -pthread -o "$work/$name" "$native/amalgamation/minnow.cpp" "$build/obj/tests/programs/logit_hash.cpp.o" &&
    $emulator "$work/$name" $models > "$work/$name.out" 2> "$work/$name.ran" && cmp "$work/expected" "$work/$name.out" &&
    { [ "$build" != "$native" ] || cmp "$work/expected.ran" "$work/$name.ran"; }; then
    passed=$((passed + 1))
    echo "one file, $name: $* $(sed -n 's/^q8.minnow kv f16: \(.*\) ran$/\1/p' "$work/$name.ran" | xargs)"
  else
    failed=$((failed + 1))
    echo "FAILED: one file, $name: $*"
  fi
}
for compiler in g++ clang++; do
  same "$compiler-O0" "$native" '' $compiler -O0
  same "$compiler-O2" "$native" '' $compiler -O2
  same "$compiler-native" "$native" '' $compiler -O3 -march=native -std=c++20
done
for cross in "$@"; do
  build=${cross#*=}
  case $cross in
    aarch64=*)
      qemu='qemu-aarch64-static -L /usr/aarch64-linux-gnu'
      same aarch64 "$build" "$qemu -cpu max" aarch64-linux-gnu-g++ -O2
      same aarch64-clang "$build" "$qemu -cpu max" clang++ --target=aarch64-linux-gnu -O2
      same cortex-a72 "$build" "$qemu -cpu cortex-a72" aarch64-linux-gnu-g++ -O3 ;;
    armv7=*)
      qemu='qemu-arm-static -L /usr/arm-linux-gnueabihf -cpu cortex-a7'
      same armv7 "$build" "$qemu" arm-linux-gnueabihf-g++ -O2
      same armv7-clang "$build" "$qemu" clang++ --target=arm-linux-gnueabihf -mfpu=neon-vfpv4 -O2 ;;
    *) echo "FAILED: one_file.sh: expected aarch64=BUILD or armv7=BUILD, found $cross"; failed=$((failed + 1)) ;;
  esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
