#!/bin/sh
# same_bits.sh BUILD CROSS: conversion, logits and sampled text of the x86-64 build against the aarch64 build, emulated
# with and without the dot product. Both builds hold `all` and `programs`. Closes with "N passed, N failed".
set -u
export QEMU_LD_PREFIX=${QEMU_LD_PREFIX-/usr/aarch64-linux-gnu}  # where the libraries of a dynamic build are
native=$1
cross=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
fixture=tests/fixtures/random-2x48
shipped=models/shakespeare-char.minnow

same() {  # same TITLE FILE FILE
  if cmp "$2" "$3" && [ -s "$2" ]; then
    passed=$((passed + 1))
    echo "$1: the same"
  else
    failed=$((failed + 1))
    echo "FAILED: $1"
  fi
}

# outputs WHERE BUILD [EMULATOR..]: everything to compare, into WHERE.
outputs() {
  where=$work/$1
  build=$2
  shift 2
  mkdir -p "$where/models"
  for type in f32 f16 q8; do
    "$@" "$build/minnow" convert $fixture/ckpt.pt --type $type -o "$where/models/$type.minnow" 2> /dev/null
  done
  "$@" "$build/minnow" convert $fixture/ckpt.pt --type q4 --calibrate-tokens 2048 -o "$where/models/q4.minnow" 2> /dev/null
  "$@" "$build/tests/logit_hash" "$where/models/f32.minnow" "$where/models/f16.minnow" "$where/models/q8.minnow" \
    > "$where/product" 2> "$where/ran"
  "$@" "$build/tests/logit_hash" $shipped --quick > "$where/shipped" 2>> "$where/ran"
  "$@" "$build/minnow" run $shipped --seed 7 -n 300 -p 'KING:' > "$where/text" 2> /dev/null
  sed -n 's/^q8.minnow kv f16: \(.*\) ran$/  \1/p' "$where/ran"
}

echo 'x86-64 ran:'
outputs native "$native"
for cpu in cortex-a72 max; do
  echo "aarch64 as $cpu ran:"
  outputs $cpu "$cross" qemu-aarch64-static -cpu $cpu
  for type in f32 f16 q8 q4; do
    same "$cpu, $type model as converted" "$work/native/models/$type.minnow" "$work/$cpu/models/$type.minnow"
  done
  same "$cpu, logits and samples of the fixture, every path" "$work/native/product" "$work/$cpu/product"
  same "$cpu, logits of one window of the shipped model" "$work/native/shipped" "$work/$cpu/shipped"
  same "$cpu, text of the shipped model across the edge of its context" "$work/native/text" "$work/$cpu/text"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
