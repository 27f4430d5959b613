#!/bin/sh
# same_bits.sh BUILD CROSS..: conversion, logits and sampled text of the x86-64 build against each CROSS, emulated:
# aarch64=BUILD with and without the dot product, armv7=BUILD with and without fused multiply-add, where the reference
# is alone. All builds hold `all` and `programs`. Closes with "N passed, N failed".
set -u
native=$1
shift
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
    "$where/models/q4.minnow" > "$where/product" 2> "$where/ran"
  sed -n 's/^q8.minnow kv f16: \(.*\) ran$/  \1/p' "$where/ran"
}

shipped_outputs() {
  where=$work/$1
  build=$2
  shift 2
  "$@" "$build/tests/logit_hash" $shipped --quick > "$where/shipped" 2> /dev/null
  "$@" "$build/minnow" run $shipped --seed 7 -n 300 -p 'KING:' > "$where/text" 2> /dev/null
}

echo 'x86-64 ran:'
outputs native "$native"
shipped_outputs native "$native"
# compare CPU BUILD EMULATOR..
compare() {
  cpu=$1
  start=$(date +%s)
  echo "$cpu ran:"
  outputs "$@" -cpu "$cpu"
  for type in f32 f16 q8 q4; do
    same "$cpu, $type model as converted" "$work/native/models/$type.minnow" "$work/$cpu/models/$type.minnow"
  done
  same "$cpu, logits and samples of the fixture, every path" "$work/native/product" "$work/$cpu/product"
  if [ "$cpu" != cortex-a9 ]; then  # its emulated double precision would need minutes
    shipped_outputs "$@" -cpu "$cpu"
    same "$cpu, logits of one window of the shipped model" "$work/native/shipped" "$work/$cpu/shipped"
    same "$cpu, text of the shipped model across the edge of its context" "$work/native/text" "$work/$cpu/text"
  fi
  echo "$cpu: $(($(date +%s) - start)) s"
}
for cross in "$@"; do
  case $cross in
    aarch64=*) for cpu in cortex-a72 max; do
      compare $cpu "${cross#*=}" qemu-aarch64-static -L /usr/aarch64-linux-gnu
    done ;;
    armv7=*) for cpu in cortex-a7 cortex-a9; do
      compare $cpu "${cross#*=}" qemu-arm-static -L /usr/arm-linux-gnueabihf
    done ;;
    *) echo "FAILED: same_bits.sh: expected aarch64=BUILD or armv7=BUILD, found $cross"; failed=$((failed + 1)) ;;
  esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
